"""Operators on integers of two signs, and shifts by counts of any type: the values that Python
computes without bounds, cut to the result's width."""

from __future__ import annotations

import linecache
import operator
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i8, i16, i32, i64, u8, u32, u64
from amdjit.types import Scalar

ITEMS = 256
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "a + b": operator.add,
    "a - b": operator.sub,
    "a * b": operator.mul,
    "a & b": operator.and_,
    "a | b": operator.or_,
    "a ^ b": operator.xor,
    "a // b": lambda a, b: a // b if b else 0,
    "a % b": lambda a, b: a % b if b else 0,
    "a < b": operator.lt,
    "a <= b": operator.le,
    "a > b": operator.gt,
    "a >= b": operator.ge,
    "a == b": operator.eq,
    "a != b": operator.ne,
    "min(a, b)": min,
    "max(a, b)": max,
}
WITH_U64 = [(u64, kind) for kind in (i8, i16, i32, i64)]
PAIRS = [*WITH_U64, *(pair[::-1] for pair in WITH_U64), (u32, i32), (i32, u32), (i8, u8)]
SHIFTS = [(u64, i32), (u32, i64), (u8, i32), (i8, u8), (i64, u64), (i16, u64), (u64, i8)]


def values(kind: Scalar, random: Random) -> list[int]:
    """Choose numbers of a type: its edges, small ones and any."""
    edges = [kind.minimum, kind.maximum, kind.minimum + 1, kind.maximum - 1, 0, 1, 2, 7]
    small = [random.randint(max(kind.minimum, -70), 70) for _ in range(100)]
    rest = [random.randint(kind.minimum, kind.maximum) for _ in range(ITEMS)]
    found = [*edges, *small, *rest][:ITEMS]
    random.shuffle(found)
    return found


def kernel_of(expressions: list[str]) -> Any:
    """Make a kernel that stores each expression of an `a` and a `b` in an array of its own."""
    names = ", ".join(f"out{k}" for k in range(len(expressions)))
    lines = [f"def mixed(x, y, {names}):", "    i = amdjit.grid(1)", "    a, b = x[i], y[i]"]
    lines += [f"    out{k}[i] = {text}" for k, text in enumerate(expressions)]
    source = "\n".join(lines) + "\n"
    file = f"<mixed {' '.join(expressions)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found: dict[str, Any] = {"amdjit": amdjit, "__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), found)
    return amdjit.kernel(found["mixed"])


def computed(expressions: list[str], left: Scalar, right: Scalar, x: list[int], y: list[int]):
    """Run the expressions on the emulator; return the results as Python's integers mod 2**64."""
    out = [np.zeros(ITEMS, np.int64) for _ in expressions]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", amdjit.PerformanceWarning)
        warnings.simplefilter("ignore", amdjit.CompileWarning)
        kernel_of(expressions)[1, ITEMS](np.array(x, left.dtype), np.array(y, right.dtype), *out)
    return [[int(value) for value in array] for array in out]


def cut(value: int, kind: Scalar) -> int:
    """Cut an integer to a type, and read it as an i64, as a store into an i64 array does."""
    bits = value & ((1 << kind.bits) - 1)
    signed = bits - (1 << kind.bits) if kind.is_signed and bits > kind.maximum else bits
    return (signed + (1 << 63)) % (1 << 64) - (1 << 63)


@pytest.mark.sample(6)
@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
def test_operators_on_two_signs_compute_what_python_does(left: Scalar, right: Scalar) -> None:
    random = Random(f"{left} {right}")
    x, y = values(left, random), values(right, random)
    # Twice the wider one: 16 bits for i8 and u8.
    kind = u64 if u64 in (left, right) else i16 if i8 in (left, right) else i64
    found = computed(list(OPERATORS), left, right, x, y)
    for (text, compute), results in zip(OPERATORS.items(), found, strict=True):
        expected = [cut(int(compute(a, b)), kind) for a, b in zip(x, y, strict=True)]
        assert results == expected, text


@pytest.mark.parametrize(("left", "right"), SHIFTS, ids=str)
def test_a_shift_has_the_type_of_its_left_operand(left: Scalar, right: Scalar) -> None:
    random = Random(f"{left} {right}")
    x, y = values(left, random), values(right, random)
    ups, downs = computed(["a << b", "a >> b"], left, right, x, y)
    counts = [b if 0 <= b < left.bits else left.bits for b in y]
    assert ups == [cut(a << n, left) for a, n in zip(x, counts, strict=True)]
    assert downs == [cut(a >> n, left) for a, n in zip(x, counts, strict=True)]


def test_a_division_of_a_u64_by_a_signed_number_is_done_in_f64() -> None:
    @amdjit.kernel
    def divide(x, y, out):
        i = amdjit.grid(1)
        out[i] = x[i] / y[i]

    x = np.array([2**64 - 1, 7, 0, 2**53 + 1], np.uint64)
    y = np.array([-1, 2, 5, -3], np.int32)
    out = np.zeros(4)
    divide[1, 4](x, y, out)
    assert (out == x / y).all()


def warned(kernel: Any, *types: Any) -> set[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kernel.compile(*types, target="gfx1201")
    return {str(warning.message).partition("[")[2].partition("]")[0] for warning in found}


def test_64_bits_for_numbers_of_two_signs_are_warned_about() -> None:
    @amdjit.kernel
    def add(x, y, out):
        i = amdjit.grid(1)
        out[i] = x[i] + y[i]

    assert warned(add, u32[:], i32[:], i64[:]) == {"mixed"}
    assert warned(add, i8[:], u8[:], i64[:]) == set()
    assert warned(add, u64[:], i32[:], u64[:]) == set()


def test_a_shift_that_cuts_bits_and_is_then_widened_is_warned_about() -> None:
    @amdjit.kernel
    def shift(x, y, out):
        i = amdjit.grid(1)
        out[i] = x[i] << y[i]

    assert warned(shift, u8[:], i32[:], i32[:]) == {"narrow"}
    assert warned(shift, u8[:], i32[:], u8[:]) == set()
    assert warned(shift, u64[:], i32[:], u64[:]) == set()


def test_a_variable_of_the_launchs_number_takes_an_unsigned_type_in_a_loop() -> None:
    @amdjit.kernel
    def mix(x, seed, out):
        state = seed
        for k in range(x.size):
            state ^= x[k] << k
        out[0] = state

    x = np.array([2**63, 5, 9], np.uint64)
    out = np.zeros(1, np.uint64)
    mix[1, 1](x, 7, out)
    assert out[0] == 7 ^ 2**63 ^ 10 ^ 36
    with pytest.raises(amdjit.LaunchError, match="u64"):
        mix[1, 1](x, -7, out)
