"""Calls, tuples, names from outside, assignment: the emulator against Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import amdjit
from amdjit import f16, f32, i32, u8
from tests.api.functions_and_settings import OFFSETS, SCALE, Settings, clamp, increment
from tests.api.lanes import same_as_python

LANES = 40
RANDOM = np.random.default_rng(11)


def integers() -> np.ndarray:
    return RANDOM.integers(-20, 20, LANES).astype(np.int32)


def divide(x, y, /, *, rounded=False):
    quotient = x // y
    if rounded:
        return quotient, 0
    return quotient, x - quotient * y


def apply(function, x, times):
    for _ in range(times):
        x = function(x)
    return x


def first_negative(a, start):
    for k in range(start, 40):
        if a[k] < 0:
            return k
    return -1


def store_both(out, i, pair):
    out[i] = pair[0] * 100 + pair[1]


def spread(*, a, b):
    return b, a


def defaults_and_keywords(i, a, out):
    out[i] = clamp(a[i]) + clamp(a[i], high=2) * 100 + clamp(low=0, x=a[i]) * 10000


def tuples_from_helpers(i, a, out):
    quotient, rest = divide(a[i], 7)
    whole, nothing = divide(a[i], 7, rounded=True)
    store_both(out, i, (quotient, rest + whole - nothing))
    x, y = spread(a=a[i], b=2)
    out[i] += x * y


def functions_as_arguments(i, a, out):
    out[i] = apply(increment, a[i], 3) + apply(abs, a[i], 2)


def search_from_each_lane(i, a, out):
    out[i] = first_negative(a, i)


def globals_and_attributes(i, a, out):
    out[i] = a[i] * SCALE + OFFSETS[1] - OFFSETS[-1] + len(OFFSETS) * Settings.width
    for offset in OFFSETS[:2]:
        out[i] ^= offset


def element_updates(i, a, out):
    out[i] += a[i]
    out[i] *= 3
    out[i] -= 1
    out[i] //= 2
    out[i] %= 11
    out[i] <<= 2
    out[i] |= 1
    out[i] ^= 6
    out[i] &= 31
    out[i] >>= 1


def several_targets(i, a, out):
    x = y = a[i]
    (p, q), r = (x, y + 1), 2
    x += 1
    [s, t] = p, q
    out[i] = x * 1000 + y * 100 + s * t * r


def element_swap(i, a, out):
    if i % 2 == 0:
        a[i], a[i + 1] = a[i + 1], a[i]
        out[i], out[i + 1] = a[i + 1], a[i]


def bits_and_shifts(i, a, out):
    out[i] = (a[i] << 3 | ~a[i] & 0xF) ^ a[i] >> 2
    out[i] = -out[i] + +a[i]


def minimum_and_maximum(i, a, out):
    out[i] = min(a[i], 3) * 100 + max(a[i], -2, i) + abs(a[i])
    out[i] += max((2, 9, 4)) + min(a[i] > 0, a[i] > 5) + len(3 * (1, 2)) + max(1, 2, a[i])


def constant_powers(i, a, out):
    out[i] = a[i] ** 0 + a[i] ** 1 + a[i] ** 2 + a[i] ** 5


def negative_constants_count_from_the_end(i, a, out):
    out[i] = a[-1] + a[-a.ndim - 1]


INTEGER_CASES = [
    defaults_and_keywords,
    tuples_from_helpers,
    functions_as_arguments,
    search_from_each_lane,
    globals_and_attributes,
    element_updates,
    several_targets,
    element_swap,
    bits_and_shifts,
    minimum_and_maximum,
    constant_powers,
    negative_constants_count_from_the_end,
]


@pytest.mark.parametrize("function", INTEGER_CASES, ids=lambda f: f.__name__)
def test_functions_of_integers_give_what_python_gives(function) -> None:
    same_as_python(function, integers(), np.zeros(LANES, np.int32))


def mathematics(i, a, out):
    out[i] = (
        f32(math.sqrt(abs(a[i])))
        + f32(math.floor(a[i]) * math.ceil(a[i]))
        - f32(int(a[i]) + round(a[i]))
    )
    out[i] += f32(math.fabs(a[i])) + f32(math.copysign(f32(2.0), a[i]))


def conversions(i, a, out):
    out[i] = f32(i32(a[i] * 100.0)) + f32(u8(7)) + f32(f16(a[i])) + f32(i32(True))


def host_results_of_constants(i, a, out):
    out[i] = (
        math.sqrt(16.0)
        + math.pi * 0.0
        + abs(-3)
        + round(2.567, 1)
        + max(2, 3.5)
        + int("7")
        + pow(2, 10)
    )


@pytest.mark.parametrize(
    "function", [mathematics, conversions, host_results_of_constants], ids=lambda f: f.__name__
)
def test_functions_of_floats_give_what_python_gives(function) -> None:
    floats = (RANDOM.standard_normal(LANES) * 10).astype(np.float32)
    same_as_python(function, floats, np.zeros(LANES, np.float32))


def counted(counter):
    return amdjit.atomic.add(counter, 0, 1)


def both_counted(counter):
    return counted(counter), counted(counter)


def nothing_returned(counter):
    counter[0] += 10


@pytest.mark.usefixtures("emulator")
class TestEvaluationOrder:
    """Effects happen once, and in Python's order."""

    def count(self, kernel) -> list[int]:
        counter, out = np.zeros(1, np.int32), np.zeros(6, np.int32)
        kernel[1, 1](counter, out)
        return [int(counter[0]), *map(int, out)]

    def test_the_index_of_an_update_is_evaluated_once(self) -> None:
        @amdjit.kernel
        def update(counter, out):
            out[counted(counter)] += 5
            out[counted(counter)] *= 2

        assert self.count(update) == [2, 5, 0, 0, 0, 0, 0]

    def test_left_before_right(self) -> None:
        @amdjit.kernel
        def order(counter, out):
            out[0] = counter[0] + counted(counter) ** 2 * 10
            out[1] = counter[0] - both_counted(counter)[1] * 10
            out[2] = counted(counter) * 10 + counted(counter)
            out[3] = counter[0] if counted(counter) == 5 else 0
            out[4] = counter[0] + (counted(counter) if counter[0] > 5 else 100)

        assert self.count(order) == [7, 0, 1 - 20, 34, 6, 6 + 6, 0]

    def test_value_before_place(self) -> None:
        @amdjit.kernel
        def order(counter, out):
            out[counted(counter)] = counter[0] + 7
            out[counted(counter)] = counted(counter) + 100

        assert self.count(order) == [3, 7, 0, 101, 0, 0, 0]

    def test_each_operand_of_a_chain_once(self) -> None:
        @amdjit.kernel
        def chain(counter, out):
            out[0] = 1 if counter[0] < counted(counter) < 5 else 2
            out[1] = 1 if counter[0] <= counted(counter) <= counted(counter) else 2

        assert self.count(chain) == [3, 2, 1, 0, 0, 0, 0]

    def test_unused_values_keep_their_effects(self) -> None:
        @amdjit.kernel
        def unused(counter, out):
            counted(counter)
            counted(counter), counted(counter)
            first, _ = counted(counter), counted(counter)
            out[0] = first
            out[1] = 1 if counted(counter) < 1 << 40 else 2
            out[2] = (counted(counter), 9)[1]
            out[3] = constant(counted(counter))
            if (counted(counter), 0):  # noqa: F634
                out[4] = 1
            out[5] = 1 if counted(counter) is not None else 2

        assert self.count(unused) == [10, 3, 1, 9, 4, 1, 1]

    def test_a_function_without_a_value_gives_none(self) -> None:
        @amdjit.kernel
        def none(counter, out):
            nothing = nothing_returned(counter)
            out[0] = 1 if nothing is None else 2
            out[1] = 3 if nothing_returned(counter) else 4

        assert self.count(none) == [20, 1, 4, 0, 0, 0, 0]

    def test_and_or_evaluate_their_right_side_only_if_needed(self) -> None:
        @amdjit.kernel
        def lazy(counter, out):
            out[0] = counter[0] and counted(counter)
            out[1] = counter[0] or counted(counter) + 50
            out[2] = 1 if counter[0] > 0 or counted(counter) > 0 else 2
            out[3] = counter[0] > 5 and counted(counter) > 0

        assert self.count(lazy) == [1, 0, 50, 1, 0, 0, 0]


def constant(_):
    return 4
