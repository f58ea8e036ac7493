"""Arithmetic on integers: what wraps, and how the cases that LLVM leaves undefined are avoided."""

import amdjit
from amdjit import i8, i32, i64, u32


@amdjit.kernel
def wrapping(a: i32[:], out: i32[:]):
    """Sums and products wrap: nothing promises LLVM that they do not."""
    out[0] = a[0] * a[1] + a[2]
    # CHECK: %product = mul i32 %x, %y
    # CHECK: = add i32 %product, %z


@amdjit.kernel
def floor_division(a: i32[:], out: i32[:]):
    """`//` rounds down, and is 0 for a divisor of 0; the unsigned division never sees 0."""
    out[0] = a[0] // a[1]
    # CHECK: %x_size = call i32 @llvm.abs.i32(i32 %x, i1 false)
    # CHECK: %y_size = call i32 @llvm.abs.i32(i32 %y, i1 false)
    # CHECK: %divisor = call i32 @llvm.umax.i32(i32 %y_size, i32 1)
    # CHECK: %quotient = udiv i32 %x_size, %divisor
    # CHECK: %is_exact = icmp eq i32 %?, 0
    # CHECK: %negated = sub i32 0, %quotient
    # CHECK: %below = xor i32 %quotient, -1
    # CHECK: %negative = select i1 %is_exact, i32 %negated, i32 %below
    # CHECK: %signs = xor i32 %x, %y
    # CHECK: %differ = icmp slt i32 %signs, 0
    # CHECK: %rounded = select i1 %differ, i32 %negative, i32 %quotient
    # CHECK: %by_zero = icmp eq i32 %y, 0
    # CHECK: select i1 %by_zero, i32 0, i32 %rounded


@amdjit.kernel
def division_by_a_power_of_two(a: i32[:], out: i32[:]):
    """`//` by a power of two is an arithmetic shift, which rounds down as well."""
    out[0] = a[0] // 8
    # CHECK: %x = load
    # CHECK-NEXT: %quotient = ashr i32 %x, 3
    # CHECK-NEXT: store i32 %quotient


@amdjit.kernel
def unsigned_modulo(a: u32[:], out: u32[:]):
    """An unsigned remainder is LLVM's, by a divisor of at least 1: x % 0 is 0."""
    out[0] = a[0] % a[1]
    # CHECK: %divisor = call i32 @llvm.umax.i32(i32 %?, i32 1)
    # CHECK: %rest = urem i32 %?, %divisor
    # CHECK-NEXT: store i32 %rest


@amdjit.kernel
def modulo_by_a_constant(a: i32[:], out: i32[:]):
    """A remainder has the sign of the divisor, as in Python."""
    out[0] = a[0] % 7
    # CHECK: %rest = srem i32 %?, 7
    # CHECK: %is_negative = icmp slt i32 %rest, 0
    # CHECK: %raised = add i32 %rest, 7
    # CHECK: select i1 %is_negative, i32 %raised, i32 %rest


@amdjit.kernel
def shifts(a: i32[:], n: i32[:], out: i32[:]):
    """Shifts by 32 or more move all bits out; LLVM's own would be poison."""
    out[0] = a[0] << n[0]
    out[1] = a[0] >> n[0]
    # CHECK: %low = and i32 %n, 31
    # CHECK: %moved = shl i32 %x, %low
    # CHECK: %is_less = icmp ult i32 %n, 32
    # CHECK: select i1 %is_less, i32 %moved, i32 0
    # CHECK: %most = call i32 @llvm.umin.i32(i32 %?, i32 31)
    # CHECK: ashr i32 %?, %most


@amdjit.kernel
def shift_by_a_constant(a: u32[:], out: u32[:]):
    """A shift by a constant needs no guard."""
    out[0] = a[0] >> u32(5)
    # CHECK: %x = load
    # CHECK-NEXT: lshr i32 %x, 5
    # CHECK-NEXT: store


@amdjit.kernel
def absolute(a: i32[:], out: i32[:]):
    """The absolute value of the smallest integer is itself, not poison: `i1 false`."""
    out[0] = abs(a[0])
    # CHECK: call i32 @llvm.abs.i32(i32 %?, i1 false)


@amdjit.kernel
def other_widths(a: i8[:], b: i64[:]):
    """Integers of 8 and 64 bits are computed in their own width."""
    a[0] = a[0] + a[1]
    b[0] = b[0] * b[1]
    # CHECK: add i8 %?, %?
    # CHECK-NOT: sext
    # CHECK: mul i64 %?, %?


@amdjit.kernel
def powers(a: i32[:], out: i32[:]):
    """A small constant exponent is multiplied out."""
    out[0] = a[0] ** 3
    # CHECK: %square = mul i32 %x, %x
    # CHECK-NEXT: mul i32 %x, %square
