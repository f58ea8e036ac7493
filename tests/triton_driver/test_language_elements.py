"""Triton's operations on elements, of all types, on the emulator: against NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import amdjit.triton

pytest.importorskip("triton", reason="Triton is not installed")

import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.triton_driver.language import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    SMALL_FLOATS,
    UNSIGNED,
    computed_in,
    dtype_of,
    empty,
    expect,
    kernel,
    values,
)  # fmt: skip

PROCESSORS = ("gfx1201", "gfx1100", "gfx942", "gfx950")
pytestmark = pytest.mark.foreign
SIZE = 128


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with amdjit.triton.use(f"emulator:{request.param}"):
        yield request.param


@triton.jit
def binary(x, y, z, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    a = tl.load(x + i)
    b = tl.load(y + i)
    first_a = tl.load(x)
    first_b = tl.load(y)
    EACH


def run_binary(x: Any, y: Any, operators: dict[str, str]) -> dict[str, Any]:
    """Return what each operator gives on elements, and with the first element of either operand."""
    outs, lines = {}, []
    for number, (operator, dtype) in enumerate(operators.items()):
        for place, (a, b) in enumerate((("a", "b"), ("first_a", "b"), ("a", "first_b"))):
            row = 3 * number + place
            lines.append(f"tl.store(z + {row} * SIZE + i, {a} {operator} {b})")
            outs[operator, place] = row, dtype
    (dtype,) = set(operators.values())
    z = empty((len(lines), SIZE), dtype)
    kernel(binary, EACH="\n    ".join(lines))[(1,)](x, y, z, SIZE=SIZE)
    return {key: z[row] for key, (row, _) in outs.items()}


def operands(x: Any, y: Any, dtype: str) -> list[tuple[Any, Any]]:
    a, b = x.astype(dtype_of(dtype)), y.astype(dtype_of(dtype))
    return [(a, b), (a[:1], b), (a, b[:1])]


APPLIED = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": None, "%": np.fmod,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift,
    ">>": np.right_shift, "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def check_binary(
    x: Any, y: Any, operators: str, computed: str, result: str, close: float = 0.0
) -> None:
    found = run_binary(x, y, dict.fromkeys(operators.split(), result))
    for (operator, place), row in found.items():
        a, b = operands(x, y, computed)[place]
        with np.errstate(all="ignore"):
            if operator == "//":
                wanted = ((a - np.fmod(a, b)) // b).astype(a.dtype)
            else:
                wanted = APPLIED[operator](a, b)
        wanted = np.broadcast_to(wanted.astype(dtype_of(result)), SIZE)
        expect(row, wanted, close)


PAIRS = [(x, y) for x in NUMBERS for y in NUMBERS]


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_arithmetic_and_comparisons(device: str, x: str, y: str) -> None:
    a, b = values(SIZE, x, 1), values(SIZE, y, 2)
    computed = computed_in(x, y)
    has_floats = computed in FLOATS
    if has_floats:  # integers that the float type has
        a, b = (
            each if name in FLOATS else values(SIZE, name, 3, 60) for each, name in ((a, x), (b, y))
        )
    close = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6}.get(computed, 0)
    check_binary(a, b, "+ - *", computed, computed, close)
    check_binary(a, b, "== != < <= > >=", computed, "bool")
    if has_floats:
        # NumPy's remainder is exact; a quotient as large as the float's precision has none.
        check_binary(a, b, "/", computed_in(x, y, True), computed_in(x, y, True), 1e-6)
    elif (x in SIGNED) == (y in SIGNED):
        check_binary(
            a, np.where(b == -1, 1, b).astype(y) if y in SIGNED else b, "// %", computed, computed
        )
    if not has_floats:
        check_binary(a, b, "& | ^", computed, computed)


@pytest.mark.parametrize(("x", "y"), [(x, y) for x in INTEGERS for y in UNSIGNED])
def test_shifts(device: str, x: str, y: str) -> None:
    bits = 8 * max(dtype_of(x).itemsize, dtype_of(y).itemsize)
    computed = ("int" if x in SIGNED else "uint") + str(bits)
    count = values(SIZE, y, 4, bits)
    check_binary(values(SIZE, x), count, "<< >>", computed, computed)


@triton.jit
def elementwise(x, y, w, z, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    a = tl.load(x + i)
    b = tl.load(y + i)
    c = tl.load(w + i)
    EACH


def run_elementwise(expressions: list[str], result: str, x: Any, y: Any, w: Any) -> Any:
    z = empty((len(expressions), SIZE), result)
    lines = [f"tl.store(z + {row} * SIZE + i, {each})" for row, each in enumerate(expressions)]
    kernel(elementwise, EACH="\n    ".join(lines))[(1,)](x, y, w, z, SIZE=SIZE)
    return z


UNARY = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "floor": np.floor, "ceil": np.ceil,
    "abs": np.abs, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt_rn": np.sqrt,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_one_number(device: str, dtype: str) -> None:
    x = np.abs(values(SIZE, dtype)) + dtype_of(dtype).type(0.01)
    names = [name for name in UNARY if dtype == "float32" or name != "sqrt_rn"]
    found = run_elementwise(
        [f"tl.{name}(a)" if name != "sqrt_rn" else "tl.sqrt_rn(a)" for name in names],
        dtype,
        x,
        x,
        x,
    )
    for row, name in zip(found, names, strict=True):
        expect(row, UNARY[name](x.astype(np.float64)), 1e-5)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_signs_and_limits(device: str, dtype: str) -> None:
    x, y, w = (values(SIZE, dtype, seed) for seed in range(3))
    expressions = [
        "-a",
        "tl.abs(a)",
        "tl.minimum(a, b)",
        "tl.maximum(a, b)",
        "tl.where(a < b, a, c)",
    ]
    wanted = [-x, np.abs(x), np.minimum(x, y), np.maximum(x, y), np.where(x < y, x, w)]
    if dtype in INTEGERS:
        expressions, wanted = [*expressions, "~a"], [*wanted, ~x]
    if dtype in ("float16", "float32", "bfloat16"):
        expressions.append("tl.clamp(a, tl.minimum(b, c), tl.maximum(b, c))")
        wanted.append(np.clip(x, np.minimum(y, w), np.maximum(y, w)))
    found = run_elementwise(expressions, dtype, x, y, w)
    for row, each in zip(found, wanted, strict=True):
        expect(row, each)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_nan_is_propagated_or_not(device: str, dtype: str) -> None:
    x, y = values(SIZE, dtype), values(SIZE, dtype, 1)
    x[::3], y[::5] = np.nan, np.nan
    every = "propagate_nan=tl.PropagateNan.ALL"
    names, options = ("minimum", "maximum"), ("", f", {every}")
    calls = [f"tl.{name}(a, b{option})" for name in names for option in options]
    found = run_elementwise(calls, dtype, x, y, y)
    for row, each in zip(found, (np.fmin, np.minimum, np.fmax, np.maximum), strict=True):
        np.testing.assert_array_equal(row, each(x, y))


def test_functions_of_several_numbers(device: str) -> None:
    x, y, w = (values(SIZE, "float32", seed) for seed in range(3))
    found = run_elementwise(
        ["tl.fma(a, b, c)", "tl.fdiv(a, b)", "tl.div_rn(a, b)", "tl.erf(a)"],
        "float32", x, y, w,
    )  # fmt: skip
    expect(found[0], (x.astype(np.float64) * y + w).astype(np.float32))
    expect(found[1], x / y, 1e-6)
    expect(found[2], x / y)
    expect(found[3], [math.erf(each) for each in x], 1e-6)
    a, b = values(SIZE, "uint32"), values(SIZE, "uint32", 1)
    high = (a.astype(np.uint64) * b >> 32).astype(np.uint32)
    expect(run_elementwise(["tl.umulhi(a, b)"], "uint32", a, b, b)[0], high)


LIBDEVICE = {
    "tanh": np.tanh, "tan": np.tan, "atan": np.arctan, "asinh": np.arcsinh, "expm1": np.expm1,
    "log1p": np.log1p, "log10": np.log10, "cosh": np.cosh, "sinh": np.sinh, "rint": np.rint,
    "trunc": np.trunc,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_libdevice(device: str, dtype: str) -> None:
    x = np.abs(values(SIZE, dtype)) + dtype_of(dtype).type(0.01)
    y = values(SIZE, dtype, 1)
    assert libdevice is not None  # the kernels name it
    found = run_elementwise([f"libdevice.{name}(a)" for name in LIBDEVICE], dtype, x, x, x)
    for row, each in zip(found, LIBDEVICE.values(), strict=True):
        expect(row, each(x.astype(np.float64)), 1e-5)
    pairs = {
        "pow": np.power,
        "atan2": np.arctan2,
        "hypot": np.hypot,
        "copysign": np.copysign,
        "fmod": np.fmod,
    }
    found = run_elementwise([f"libdevice.{name}(a, b)" for name in pairs], dtype, x, y, y)
    for row, each in zip(found, pairs.values(), strict=True):
        expect(row, each(x.astype(np.float64), y.astype(np.float64)), 1e-4)


CASTS = [(x, z) for x in (*NUMBERS, "bool") for z in (*NUMBERS, "bool")]
SMALL_CASTS = [
    pair
    for small in SMALL_FLOATS
    for other in ("float16", "bfloat16", "float32")
    for pair in ((small, other), (other, small))
]


@pytest.mark.parametrize(("x", "z"), CASTS)
def test_casts(device: str, x: str, z: str) -> None:
    given = values(SIZE, x, 5, 100) if x in INTEGERS else values(SIZE, x, 5)
    if x in FLOATS:
        given = (given.astype(np.float32) * 10).astype(given.dtype)
    if z in UNSIGNED and x != "bool":
        given = np.abs(given)  # a negative float has no unsigned value
    if z in FLOATS and x in FLOATS:
        given = given.astype(dtype_of(z)).astype(dtype_of(x))
    name = "int1" if z == "bool" else z
    found = run_elementwise([f"a.to(tl.{name})", f"tl.cast(a, tl.{name})"], z, given, given, given)
    if x in FLOATS and z in INTEGERS:
        given = np.trunc(given.astype(np.float64))
    for row in found:
        expect(row, given.astype(dtype_of(z)))


@pytest.mark.parametrize(("x", "z"), SMALL_CASTS)
def test_casts_of_small_floats(device: str, x: str, z: str) -> None:
    small = x if x in SMALL_FLOATS else z
    every = np.arange(256, dtype=np.uint8).view(dtype_of(small))
    every = every[np.isfinite(every.astype(np.float32))]
    if x == small:
        given = np.resize(every, SIZE * 2).reshape(2, SIZE)
    else:  # numbers of the small type, and what is rounded to them
        given = values((2, SIZE), "float32").astype(dtype_of(x))
        given[0] = np.resize(every.astype(dtype_of(x)), SIZE)
    for row in given:
        found = run_elementwise(["a.to(z.dtype.element_ty)"], z, row, row, row)[0]
        expect(found, row.astype(dtype_of(z)))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_casts_of_bits(device: str, bits: int) -> None:
    for x, z in (
        (f"int{bits}", f"uint{bits}"),
        (f"uint{bits}", f"int{bits}"),
        (f"int{bits}", f"float{bits}"),
    ):
        if z != "float8":
            given = values(SIZE, x)
            found = run_elementwise([f"a.to(tl.{z}, bitcast=True)"], z, given, given, given)[0]
            np.testing.assert_array_equal(found.view(given.dtype), given)


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
def test_rounding_of_casts(device: str, rounding: str) -> None:
    x = values(SIZE, "float32")
    found = run_elementwise(
        [f'a.to(tl.float16, fp_downcast_rounding="{rounding}")'], "float16", x, x, x
    )[0]
    nearest = x.astype(np.float16)
    inward = np.where(
        np.abs(nearest.astype(np.float32)) > np.abs(x),
        np.nextafter(nearest, np.float16(0)),
        nearest,
    )
    expect(found, nearest if rounding == "rtne" else inward)
