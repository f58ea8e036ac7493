"""Functions, records and other values of several parts."""

from dataclasses import dataclass

import amdjit
from amdjit import complex64, f32, i32


@dataclass(frozen=True)
class Point:
    """A point of the plane."""

    x: f32
    y: f32

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


@amdjit.device_function
def square(x):
    return x * x


@amdjit.device_function(inline=False)
def cube(x):
    return x * x * x


@amdjit.device_function
def put(out, n):
    if n < 3:
        return
    out[n] = 1


def adding(n):
    @amdjit.device_function
    def same_name(x):
        return x + n

    return same_name


ADD_ONE, ADD_TWO = adding(1), adding(2)


@amdjit.kernel
def inlined_function(a: f32[:], out: f32[:]):
    """A device function is internal and always inlined."""
    out[0] = square(a[0])
    # CHECK: %x = load float
    # CHECK-NEXT: %y = call float @square(float %x)
    # CHECK-NEXT: store float %y
    # CHECK: define internal float @square(float %?) alwaysinline


@amdjit.kernel
def called_function(a: f32[:], out: f32[:]):
    """`inline=False` keeps the call."""
    out[0] = cube(a[0])
    # CHECK: call float @cube
    # CHECK: define internal float @cube(float %?) noinline


@amdjit.kernel
def records(a: f32[:], out: f32[:]):
    """A record's fields are values of their own; a function returns them as one structure."""
    p = Point(a[0], a[1]) + Point(a[2], 1.0)
    out[0] = p.x * p.y
    # CHECK-NOT: alloca
    # CHECK: %sum = call {float, float} @__add__(float %?, float %?, float %?, float 0x3FF0000000000000)
    # CHECK-NEXT: %x = extractvalue {float, float} %sum, 0
    # CHECK-NEXT: %y = extractvalue {float, float} %sum, 1
    # CHECK-NEXT: fmul float %x, %y
    # CHECK: %half = insertvalue {float, float} poison, float %?, 0
    # CHECK-NEXT: %whole = insertvalue {float, float} %half, float %?, 1
    # CHECK-NEXT: ret {float, float} %whole


@amdjit.kernel
def complex_product(a: complex64[:], out: complex64[:]):
    """A complex number is a pair of floats, and its product is that of the textbook."""
    out[0] = a[0] * a[1]
    # CHECK-DAG: %real_squares = fmul float %ar, %br
    # CHECK-DAG: %imaginary_squares = fmul float %ai, %bi
    # CHECK: %real = fsub float %real_squares, %imaginary_squares
    # CHECK-DAG: %one = fmul float %ar, %bi
    # CHECK-DAG: %other = fmul float %ai, %br
    # CHECK: %imaginary = fadd float %one, %other
    # CHECK: store float %real
    # CHECK: store float %imaginary


@amdjit.kernel
def swapped_tuple(a: i32[:], out: i32[:]):
    """Assigning a tuple moves no value: names are given to other values."""
    x, y = a[0], a[1]
    x, y = y, x
    out[0] = x - y
    # CHECK: %x = load i32
    # CHECK: %y = load i32
    # CHECK-NEXT: %difference = sub i32 %y, %x
    # CHECK-NEXT: store i32 %difference


@amdjit.kernel
def early_return(out: i32[:], n: i32):
    """A return ends its block; the code after it is another branch's."""
    put(out, n)
    # CHECK: define internal void @put
    # CHECK: then:
    # CHECK-NEXT: ret void
    # CHECK-NEXT: endif:
    # CHECK: store i32 1


@amdjit.kernel
def functions_of_one_name(a: i32[:]):
    """Functions of one name get names of their own."""
    a[0] = ADD_ONE(a[0])
    a[1] = ADD_TWO(a[1])
    # CHECK: call i32 @same_name(
    # CHECK: call i32 @same_name.{{\d+}}(
