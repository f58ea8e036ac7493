"""Every operator on every pair of types: the emulator against NumPy in the type that docs/types.md
names."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import bf16, boolean, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from amdjit.frontend.values.promotion import common_scalar
from amdjit.types import Scalar
from tests.api.lanes import DEVICE, assert_same_bits

INTEGERS = (i8, i16, i32, i64, u8, u16, u32, u64)
FLOATS = (f16, bf16, f32, f64)
NUMBERS = (*INTEGERS, *FLOATS)
ITEMS = 64
RANDOM = np.random.default_rng(5)


def values(scalar: Scalar) -> NDArray[Any]:
    """Return small and extreme values of a type."""
    if scalar is boolean:
        return RANDOM.integers(0, 2, ITEMS).astype(bool)
    small = RANDOM.integers(-9 if not scalar.is_integer or scalar.is_signed else 0, 9, ITEMS)
    if scalar.is_float:
        return (small * RANDOM.choice([0.25, 1.0, 3.0, 100.0], ITEMS)).astype(scalar.dtype)
    extreme = RANDOM.choice(
        np.array([scalar.minimum, scalar.maximum, scalar.maximum // 3], scalar.dtype), ITEMS
    )
    return np.where(RANDOM.random(ITEMS) < 0.3, extreme, small.astype(scalar.dtype))


def divide_down(x, y):
    return x // y


def remainder(x, y):
    return x % y


ARITHMETIC = (operator.add, operator.sub, operator.mul)


@amdjit.kernel
def every_arithmetic(a, b, out):
    i = amdjit.grid(1)
    out[0, i] = a[i] + b[i]
    out[1, i] = a[i] - b[i]
    out[2, i] = a[i] * b[i]


@amdjit.kernel
def every_division(a, b, out):
    i = amdjit.grid(1)
    out[0, i] = a[i] // b[i]
    out[1, i] = a[i] % b[i]


@amdjit.kernel
def every_bit_operation(a, b, out):
    i = amdjit.grid(1)
    out[0, i] = a[i] & b[i]
    out[1, i] = a[i] | b[i]
    out[2, i] = a[i] ^ b[i]


@amdjit.kernel
def every_shift(a, b, out):
    i = amdjit.grid(1)
    out[0, i] = a[i] << b[i]
    out[1, i] = a[i] >> b[i]


@amdjit.kernel
def every_comparison(a, b, out):
    i = amdjit.grid(1)
    out[0, i] = a[i] < b[i]
    out[1, i] = a[i] <= b[i]
    out[2, i] = a[i] == b[i]
    out[3, i] = a[i] != b[i]
    out[4, i] = a[i] > b[i]
    out[5, i] = a[i] >= b[i]


@amdjit.kernel
def every_choice(a, b, out):
    i = amdjit.grid(1)
    out[0, i] = min(a[i], b[i])
    out[1, i] = max(a[i], b[i])
    out[2, i] = a[i] if a[i] > b[i] else b[i]
    out[3, i] = a[i] and b[i]
    out[4, i] = a[i] or b[i]


@amdjit.kernel
def true_division(a, b, out):
    i = amdjit.grid(1)
    out[0, i] = a[i] / b[i]


def choice_in_numpy(x: NDArray[Any], y: NDArray[Any]) -> list[NDArray[Any]]:
    true = x.astype(bool)
    return [
        np.minimum(x, y),
        np.maximum(x, y),
        np.where(x > y, x, y),
        np.where(true, y, x),
        np.where(true, x, y),
    ]


Model = Callable[[NDArray[Any], NDArray[Any]], list[NDArray[Any]]]


def each(*functions: Callable[[Any, Any], Any]) -> Model:
    return lambda x, y: [function(x, y) for function in functions]


COMPARISONS = each(operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)


def check(
    kernel: Any, model: Model, a: NDArray[Any], b: NDArray[Any], common: Scalar, result: Scalar
) -> None:
    with np.errstate(all="ignore"):
        rows = [
            np.asarray(row, result.dtype)
            for row in model(a.astype(common.dtype), b.astype(common.dtype))
        ]
    out = np.zeros((len(rows), ITEMS), result.dtype)
    with amdjit.use(DEVICE):
        kernel[2, ITEMS // 2](a, b, out)
    for number, (found, expected) in enumerate(zip(out, rows, strict=True)):
        assert_same_bits(found, expected, f"{kernel.__name__} {number} of {a.dtype} and {b.dtype}")


def positive(array: NDArray[Any]) -> NDArray[Any]:
    """Return divisors: no zero, and no -1, which overflows with the smallest number."""
    if array.dtype == np.bool_:
        return np.ones_like(array)
    return np.where((array == 0) | (array == -1), np.full_like(array, 3), array)


def check_pair(left: Scalar, right: Scalar) -> None:
    """Check all operators on a pair of types that have one in common."""
    common = common_scalar(left, right)
    assert common is not None
    a, b = values(left), values(right)
    check(every_arithmetic, each(*ARITHMETIC), a, b, common, common)
    check(every_comparison, COMPARISONS, a, b, common, boolean)
    check(every_choice, choice_in_numpy, a, b, common, common)
    if common is not bf16:
        check(every_division, each(divide_down, remainder), a, positive(b), common, common)
    quotient = common if common.is_float else f64 if common.bits == 64 else f32
    check(true_division, each(operator.truediv), a, positive(b), quotient, quotient)
    if common.is_integer:
        check(
            every_bit_operation,
            each(operator.and_, operator.or_, operator.xor),
            a,
            b,
            common,
            common,
        )
        shifts = (RANDOM.integers(0, 100, ITEMS)).astype(right.dtype)
        check(every_shift, each(operator.lshift, operator.rshift), a, shifts, left, left)


@pytest.mark.sample(4)
@pytest.mark.parametrize("scalar", NUMBERS, ids=str)
def test_operators_on_one_type(scalar: Scalar) -> None:
    check_pair(scalar, scalar)


def test_operators_on_booleans_give_what_numpy_gives() -> None:
    a, b = values(boolean), values(boolean)
    check(
        every_bit_operation, each(operator.and_, operator.or_, operator.xor), a, b, boolean, boolean
    )
    check(every_comparison, COMPARISONS, a, b, boolean, boolean)
    check(every_choice, choice_in_numpy, a, b, boolean, boolean)
    check(every_arithmetic, each(*ARITHMETIC), a, b, i32, i32)


MIXED = [(a, b) for a in NUMBERS for b in (*NUMBERS, boolean) if a is not b and common_scalar(a, b)]
SOME_MIXED = [
    (i8, i64),
    (u8, i16),
    (u32, i64),
    (i32, f16),
    (u64, f32),
    (f16, bf16),
    (f32, f64),
    (i16, boolean),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("left", "right"), SOME_MIXED, ids=str)
def test_operators_on_two_types(left: Scalar, right: Scalar) -> None:
    check_pair(left, right)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("left", "right"), MIXED, ids=str)
def test_operators_on_all_pairs_of_types(left: Scalar, right: Scalar) -> None:
    check_pair(left, right)


@amdjit.kernel
def converted(a, out, bits: amdjit.Const):
    i = amdjit.grid(1)
    out[i] = bits(a[i])


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", [*NUMBERS, boolean], ids=str)
def test_conversions_between_all_types_give_what_numpy_gives(target: Scalar) -> None:
    for source in (i8, u16, i32, u32, i64, u64, f16, f32, f64, boolean):
        a = values(source)
        if source.is_float and target.is_integer:
            low, high = float(target.minimum), float(target.maximum)
            # Rounding the limits to the source's type may leave the target's range: NumPy's cast is
            # undefined there.
            with np.errstate(over="ignore"):
                edges = np.array([low, high, 1e30, -1e30, np.inf, -np.inf, np.nan]).astype(
                    source.dtype
                )
            a[:7] = edges
            wide = np.nan_to_num(a.astype(np.float64), posinf=1e300, neginf=-1e300)
            exact = [
                min(max(int(x), target.minimum), target.maximum)
                for x in np.where(np.isnan(a), 0, wide)
            ]
            expected = np.array(exact, object).astype(target.dtype)
        else:
            with np.errstate(all="ignore"):
                expected = a.astype(target.dtype)
        out = np.zeros(ITEMS, target.dtype)
        with amdjit.use(DEVICE):
            converted[2, ITEMS // 2](a, out, target)
        assert_same_bits(out, expected, f"{source} to {target}")
