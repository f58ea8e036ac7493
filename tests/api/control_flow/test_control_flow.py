# ruff: noqa: B007, SIM108
"""Loops, branches and returns: the emulator against Python, with lanes that go different ways."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f32, i32, shared, static_range, syncthreads, threadIdx, unroll
from amdjit.intrinsics import wave
from tests.api.lanes import same_as_python

LANES = 40
RANDOM = np.random.default_rng(7)


def integers() -> np.ndarray:
    return RANDOM.integers(-20, 20, LANES).astype(np.int32)


def floats() -> np.ndarray:
    return RANDOM.standard_normal(LANES).astype(np.float32)


def zeros(dtype: type = np.int32) -> np.ndarray:
    return np.zeros(LANES, dtype)


def if_chain(i, a, out):
    if a[i] > 10:
        out[i] = 1
    elif a[i] > 0:
        if a[i] % 2 == 0:
            out[i] = 2
        else:
            out[i] = 3
    elif a[i] == 0:
        pass
    else:
        out[i] = -a[i]


def for_break_continue_else(i, a, out):
    total = 0
    for k in range(a[i]):
        if k % 3 == 1:
            continue
        if k > 12:
            break
        total += k
    else:
        total += 1000
    out[i] = total


def while_else(i, a, out):
    steps = 0
    value = abs(a[i])
    while value > 0:
        value //= 2
        steps += 1
        if steps == 4:
            break
    else:
        steps = -steps
    out[i] = steps


def endless_while(i, a, out):
    n = a[i]
    while True:
        n += 7
        if n > 30:
            break
        if n == 8:
            n = 100
            continue
        out[i] += 1
    out[i] += n


def nested_loops(i, a, out):
    for row in range(5):
        for column in range(row, 8):
            if column == a[i]:
                break
            if (row + column) % 4 == 0:
                continue
            out[i] += row * column
        else:
            out[i] += 100
            continue
        out[i] -= 1


def while_with_statements_in_its_condition(i, a, out):
    n = 0
    while 0 <= n < 10 and (n if n > 3 else n + 1) ** 2 < 60:
        n += 1
    out[i] = n


def loop_variable_assigned_in_the_body(i, a, out):
    for k in range(6):
        out[i] = out[i] * 2 + k
        k = k * 10
        out[i] += k


def loop_variable_assigned_a_constant_in_the_body(i, a, out):
    k = 3
    for k in range(a[i]):
        if k % 2:
            k = 50
            continue
        k = 70
    out[i] = k
    for k in reversed(range(a[i] % 4)):
        k = 9
    out[i] += k * 100
    for k in range(3):
        k = a[i] * 0.5
    for k in range(3):
        k = 5
    out[i] += k * 1000


def loop_variable_after_the_loop(i, a, out):
    k = -5
    for k in range(a[i]):
        out[i] += 1
    out[i] += 100 * k


def loop_variable_after_a_constant_range(i, a, out):
    for k in range(9):
        if k == a[i]:
            break
    out[i] = k


def steps_down(i, a, out):
    for k in range(a[i], -21, -3):
        out[i] = out[i] * 3 + k
    for k in range(10, 0):
        out[i] = k


def bounds_are_evaluated_once(i, a, out):
    n = 5
    for k in range(n):
        n += k
    out[i] = n


def zero_rounds_keep_the_name(i, a, out):
    x = 7
    for k in range(0):
        x = k
    out[i] = x


def unrolled(i, a, out):
    for k in static_range(1, 8, 3):
        out[i] += k * a[i]
    for k in unroll(range(5), 2):
        out[i] = out[i] * 2 - k
    for k in unroll(range(3)):
        out[i] ^= k


def tuple_loops(i, a, out):
    for position, (factor, name) in enumerate(
        zip((2, 3, 5), ("two", "three", "five"), strict=True)
    ):
        if name == "three":
            continue
        out[i] += factor * a[i] + position
    for k in reversed((1, 2, 3)):
        out[i] = out[i] * 10 + k
        if k == 2:
            break
    else:
        out[i] = 0


def dynamic_loop_with_static_exits(i, a, out):
    for k in range(4):
        for width in (1, 2, 4):
            if width == 4:
                break
            out[i] += width * k
        if k == a[i]:
            break


def swaps(i, a, out):
    x, y = 1, a[i]
    for _ in range(5):
        x, y = y, x + y
    pair = (x, y)
    for _ in range(3):
        pair = (pair[1], pair[0])
    out[i] = pair[0] - pair[1]


def returns_in_branches(i, a, out):
    if a[i] < -10:
        return
    for k in range(20):
        if k == a[i]:
            out[i] = 100 + k
            return
        if k > 15:
            break
    out[i] = -1


def conditions_that_python_decides(i, a, out):
    x = a[i]
    out[i] = (x and 5) + (x or 7) + (not x)
    out[i] += 1 if 0 < x < 10 != x else 2
    out[i] += 10 if x > 0 and 20 // x > 3 else 20
    out[i] += (x > 3) + (x == 3)


INTEGER_CASES = [
    if_chain,
    for_break_continue_else,
    while_else,
    endless_while,
    nested_loops,
    while_with_statements_in_its_condition,
    loop_variable_assigned_in_the_body,
    loop_variable_assigned_a_constant_in_the_body,
    loop_variable_after_the_loop,
    loop_variable_after_a_constant_range,
    steps_down,
    bounds_are_evaluated_once,
    zero_rounds_keep_the_name,
    unrolled,
    tuple_loops,
    dynamic_loop_with_static_exits,
    swaps,
    returns_in_branches,
    conditions_that_python_decides,
]


@pytest.mark.parametrize("function", INTEGER_CASES, ids=lambda f: f.__name__)
def test_control_flow_over_integers_is_pythons(function) -> None:
    same_as_python(function, integers(), zeros())


def widens_in_a_loop(i, a, out):
    total = 0
    for k in range(4):
        total += a[(i + k) % 40]
    out[i] = total


def widens_on_one_way(i, a, out):
    x = 1
    if a[i] > 0:
        x = a[i]
    else:
        x = 2
    out[i] = x


def another_type_by_assignment(i, a, out):
    x = i
    x = f32(x) * a[i]
    x = i32(x)
    out[i] = x


def conditional_with_statements_in_a_side(i, a, out):
    x = a[i] ** 2 if a[i] > 0.5 else a[i] * a[i]
    out[i] = x if i % 2 == 0 else -(x**2)


def not_a_number_is_true(i, a, out):
    x = a[i] / (a[i] - a[i])
    out[i] = 1 if x else 2


FLOAT_CASES = [
    widens_in_a_loop,
    widens_on_one_way,
    another_type_by_assignment,
    conditional_with_statements_in_a_side,
    not_a_number_is_true,
]


@pytest.mark.parametrize("function", FLOAT_CASES, ids=lambda f: f.__name__)
def test_control_flow_over_floats_is_pythons(function) -> None:
    same_as_python(function, floats(), zeros(np.float32))


@amdjit.kernel
def first_lane_fetches(head, out):
    while True:
        item = i32(0)
        if wave.lane_id() == 0:
            item = atomic.add(head, 0, 1)
        item = wave.readfirstlane(item)
        if item >= out.size:
            break
        if wave.lane_id() == 0:
            out[item] = item


@amdjit.kernel
def first_thread_fetches(head, out):
    box = shared.array(1, i32)
    while True:
        if threadIdx.x == 0:
            box[0] = atomic.add(head, 0, 1)
        syncthreads()
        item = box[0]
        syncthreads()
        if item >= out.size:
            return
        if threadIdx.x == 0:
            out[item] = item


@pytest.mark.parametrize("opt_level", [1, 3])
@pytest.mark.parametrize(
    "kernel", [first_lane_fetches, first_thread_fetches], ids=lambda kernel: kernel.__name__
)
def test_the_lanes_of_a_wave_stay_together_in_an_endless_loop(
    kernel: amdjit.Kernel, opt_level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LLVM's SimplifyCFG gave the lanes that fetch nothing a loop of their own, which never
    ended."""
    monkeypatch.setenv("AMDJIT_EMULATOR_TIME_LIMIT", "20")
    out = np.zeros(40, np.int32)
    with amdjit.use("emulator:gfx1201"):
        amdjit.kernel(opt_level=opt_level)(kernel.function)[3, 64](np.zeros(1, np.int32), out)
    np.testing.assert_array_equal(out, np.arange(40))
