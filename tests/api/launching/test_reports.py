"""assert, raise, print and index checks: their reports to the host, and that everything else stays
as it was."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import amdjit


def line_of(function: Any, text: str) -> int:
    """The number of the line of a function that holds a text."""
    lines, first = inspect.getsourcelines(getattr(function, "function", function))
    return first + next(number for number, line in enumerate(lines) if text in line)


def fault_of(launch: Any, *arguments: Any) -> amdjit.KernelFault:
    with pytest.raises(amdjit.KernelFault) as caught:
        launch(*arguments)
    return caught.value


@amdjit.kernel
def positive(x, out):
    i = amdjit.grid(1)
    assert x[i] > 0.0, f"x[{i}] is {x[i]:.2f}"
    out[i] = x[i] + 1.0


def test_an_assertion_reaches_the_host_with_its_place() -> None:
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    x[37] = -2.5
    fault = fault_of(positive[2, 32], x, out)
    assert (fault.kind, fault.detail) == ("assert", "x[37] is -2.50")
    assert (fault.block, fault.thread, fault.lane) == ((1, 0, 0), (5, 0, 0), 5)
    assert fault.source_file == __file__
    assert fault.source_line == line_of(positive, "assert")
    assert str(fault).startswith(
        "positive: AssertionError: x[37] is -2.50 (block (1, 0, 0), thread (5, 0, 0))\n"
    )


def test_host_arrays_are_as_before_and_the_next_launch_works() -> None:
    x, out = np.ones(32, np.float32), np.full(32, 7, np.float32)
    x[3] = 0
    fault_of(positive[1, 32], x, out)
    assert out.tolist() == [7] * 32
    x[3] = 1
    positive[1, 32](x, out)
    assert out.tolist() == [2] * 32


def test_other_waves_finish_and_the_first_failing_lane_is_named() -> None:
    x = amdjit.to_device(np.repeat(np.array([1, -1, 1, 1], np.float32), 32))
    out = amdjit.to_device(np.zeros(128, np.float32))
    assert fault_of(positive[1, 128], x, out).thread == (32, 0, 0)
    assert out.copy_to_host().tolist() == [2] * 32 + [0] * 32 + [2] * 64


@amdjit.kernel
def barrier_behind(x):
    i = amdjit.threadIdx.x
    if i == 40:
        raise ValueError("no forty")
    amdjit.syncthreads()
    x[i] = i


def test_raise_with_waves_at_a_barrier() -> None:
    x = amdjit.to_device(np.full(96, -1, np.int32))
    fault = fault_of(barrier_behind[1, 96], x)
    assert (fault.kind, fault.detail, fault.thread) == ("raise", "ValueError: no forty", (40, 0, 0))
    assert fault.source_line == line_of(barrier_behind, "raise")
    assert x.copy_to_host().tolist() == [*range(32), *[-1] * 32, *range(64, 96)]


@amdjit.device_function
def root(value, what):
    assert value >= 0, what
    return value * 0.5


@amdjit.device_function
def both(a, b):
    return root(a, "first") + root(b, "second")


@amdjit.kernel
def through_calls(x, out):
    i = amdjit.grid(1)
    out[i] = both(x[i], 1.0)
    out[i] += both(
        1.0,
        x[i + 1],
    )


@pytest.mark.parametrize("inline", [True, False])
def test_an_assertion_in_a_helper_shows_the_calls(inline: bool) -> None:
    kernel = amdjit.kernel(inline=inline)(through_calls.function)
    x, out = np.ones(33, np.float32), np.zeros(32, np.float32)
    x[32] = -1
    fault = fault_of(kernel[1, 32], x, out)
    assert (fault.source_line, fault.detail) == (line_of(root.function, "assert"), "second")
    calls = [line.rpartition(": ")[2] for line in str(fault).splitlines() if "called from" in line]
    assert calls == [
        "return root(a, 'first') + root(b, 'second')".replace("'", '"'),
        "out[i] += both(",
    ]
    x[:] = -1
    fault = fault_of(kernel[1, 32], x, out)
    assert fault.detail == "first"
    assert f"called from through_calls at {__file__}:{line_of(through_calls, 'both(x[i]')}" in str(
        fault
    )


@amdjit.device_function
def checked_root(x):
    if x < 0:
        raise ArithmeticError
    return x * 0.5


@amdjit.kernel
def raising_helper(x):
    i = amdjit.grid(1)
    x[i] = checked_root(x[i])


def test_raise_at_the_end_of_a_way_needs_no_value() -> None:
    x = np.array([1, 4, -1, 2], np.float32)
    assert fault_of(raising_helper[1, 4], x).detail == "ArithmeticError"
    x[2] = 0
    raising_helper[1, 4](x)
    assert x.tolist() == [0.5, 2, 0, 1]


@amdjit.kernel
def in_a_loop(x, n):
    i = amdjit.grid(1)
    for k in range(n):
        if x[i] > 100:
            raise OverflowError(f"round {k}")
        x[i] = x[i] * 2
    assert n < 20


def test_a_fault_in_a_loop_ends_it_at_once() -> None:
    x = np.ones(32, np.int64)
    in_a_loop[1, 32](x, 7)
    assert x.tolist() == [128] * 32
    assert (
        fault_of(in_a_loop[1, 32], np.ones(32, np.int64), 2**31 - 1).detail
        == "OverflowError: round 7"
    )
    assert fault_of(in_a_loop[1, 32], np.zeros(32, np.int64), 20).detail == ""


def with_statements(x):
    i = amdjit.grid(1)
    assert x[i] == x[i], f"NaN at {i}"
    if x[i] < 0:
        raise ValueError("negative")
    x[i] = x[i] + 1.0


def machine_code(function: Any, **options: Any) -> bytes:
    compiled = amdjit.kernel(**options)(function).compile(amdjit.f32[:])
    return compiled.linked.code(compiled.linked.kernels[compiled.name])


def test_asserts_false_is_the_code_without_them() -> None:
    with_code = with_statements

    def without_statements(x):
        i = amdjit.grid(1)
        if x[i] < 0:
            pass
        x[i] = x[i] + 1.0

    plain = machine_code(without_statements)
    assert machine_code(with_code, asserts=False) == plain
    assert len(machine_code(with_code)) > len(plain)
    kernel = amdjit.kernel(asserts=False)(with_code)
    assert kernel.compile(amdjit.f32[:]).reports is None
    x = np.array([np.nan, -1, 2], np.float32)
    kernel[1, 3](x)
    assert np.isnan(x[0])
    assert x[1:].tolist() == [0, 3]


def test_index_checks_off_cost_nothing() -> None:
    def plain(x):
        x[amdjit.grid(1)] = 1.0

    assert machine_code(plain, bounds_check=False) == machine_code(plain)
    assert len(machine_code(plain, bounds_check=True)) > len(machine_code(plain))


def test_a_helper_that_raises_ends_its_wave_in_silence_without_asserts() -> None:
    kernel = amdjit.kernel(asserts=False)(raising_helper.function)
    x = amdjit.to_device(np.array([1] * 32 + [-1] * 32, np.float32))
    kernel[2, 32](x)
    assert x.copy_to_host().tolist() == [0.5] * 32 + [-1] * 32


@amdjit.kernel(bounds_check=True)
def matrix_access(a, row, column, out):
    out[0] = a[row, column]


def test_a_bad_index_names_array_index_and_shape() -> None:
    a, out = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(1, np.float32)
    for row in range(-1, 4):
        for column in range(-1, 5):
            if 0 <= row < 3 and 0 <= column < 4:
                matrix_access[1, 1](a, row, column, out)
                assert out[0] == a[row, column]
                continue
            fault = fault_of(matrix_access[1, 1], a, row, column, out)
            assert (fault.kind, fault.array, fault.index, fault.shape) == (
                "index",
                "a",
                (row, column),
                (3, 4),
            )
            assert (
                fault.detail == f"index ({row}, {column}) is outside of `a`, whose shape is (3, 4)"
            )
    strided = fault_of(matrix_access[1, 1], a.T[::2], 2, 0, out)
    assert strided.shape == (2, 3)


@amdjit.kernel(bounds_check=True)
def all_accesses(a, i, which):
    tile = amdjit.shared.array(8, amdjit.f32)
    mine = amdjit.local.array((2, 2), amdjit.f32)
    if which == 0:
        a[i] += 1.0
    elif which == 1:
        a.store(i, a.load(0, 4))
    elif which == 2:
        a[0] = a.load(i, 4)[0]
    elif which == 3:
        amdjit.atomic.add(a, i, amdjit.f32(1.0))
    elif which == 4:
        tile[i] = 1.0
    elif which == 5:
        mine[1, i] = 1.0
    a[i] = tile[0] + mine[1, 1]


@pytest.mark.parametrize(
    ("which", "array", "limit"),
    [(0, "a", 16), (1, "a", 13), (2, "a", 13), (3, "array", 16), (4, "tile", 8), (5, "mine", 2)],
)
def test_every_kind_of_access_is_checked(which: int, array: str, limit: int) -> None:
    a = np.zeros(16, np.float32)
    all_accesses[1, 1](a, 0, which)
    fault = fault_of(all_accesses[1, 1], a, limit, which)
    assert fault.array == array
    assert fault.source_file == __file__
    assert fault.index is not None
    assert fault.index[-1] == limit
    assert fault_of(all_accesses[1, 1], a, -1, which).index[-1] == -1  # type: ignore[index]


@amdjit.kernel(bounds_check=True)
def views(a, i, j, which, out):
    tile = amdjit.shared.array((2, 3, 4), amdjit.f32)
    if which == 0:
        row = a[i]
        out[0] = row[0, 0]
    elif which == 1:
        plane = a[:, j]
        out[0] = plane[0, 0]
    elif which == 2:
        line = a[i, 1:3, j]
        out[0] = line[0]
    elif which == 3:
        tile[i][j, 0] = 1.0
    elif which == 4:
        rest = a[1:i]
        out[0] = rest.shape[0]
    elif which == 5:
        last = a[-1, ...]
        out[0] = last[i, j]
    out[1] = tile[0, 0, 0]


@pytest.mark.parametrize(
    ("which", "i", "j", "index", "text"),
    [
        (0, 2, 0, (2,), "index 2 of axis 0 is outside of `a`, whose shape is (2, 3, 4)"),
        (0, -1, 0, (-1,), "index -1 of axis 0 is outside of `a`, whose shape is (2, 3, 4)"),
        (1, 0, 3, (3,), "index 3 of axis 1 is outside of `a`, whose shape is (2, 3, 4)"),
        (
            2,
            0,
            4,
            (0, 4),
            "index (0, 4) of axes (0, 2) is outside of `a`, whose shape is (2, 3, 4)",
        ),
        (
            2,
            7,
            1,
            (7, 1),
            "index (7, 1) of axes (0, 2) is outside of `a`, whose shape is (2, 3, 4)",
        ),
        (3, 2, 1, (2,), "index 2 of axis 0 is outside of `tile`, whose shape is (2, 3, 4)"),
        (5, 3, 0, (3, 0), "index (3, 0) is outside of `last`, whose shape is (3, 4)"),
    ],
)
def test_the_index_that_makes_a_view_is_checked(
    which: int, i: int, j: int, index: tuple[int, ...], text: str
) -> None:
    a, out = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.zeros(2, np.float32)
    views[1, 1](a, 1, 1, which, out)
    fault = fault_of(views[1, 1], a, i, j, which, out)
    assert (fault.kind, fault.index, fault.detail) == ("index", index, text)
    assert fault.shape == ((3, 4) if which == 5 else (2, 3, 4))


def test_bounds_of_slices_are_cut_off_and_not_checked() -> None:
    a, out = np.zeros((2, 3, 4), np.float32), np.zeros(2, np.float32)
    for i in (-9, 0, 1, 2, 9):
        views[1, 1](a, i, 0, 4, out)
        assert out[0] == len(a[1:i])


@amdjit.kernel(bounds_check=True)
def view_of_no_rows(a, out):
    out[0] = a[-1][0]


def test_a_negative_constant_of_a_short_array_is_checked() -> None:
    fault = fault_of(view_of_no_rows[1, 1], np.zeros((0, 4), np.float32), np.zeros(1, np.float32))
    assert (fault.index, fault.shape) == ((-1,), (0, 4))


def test_debug_mode_checks_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMDJIT_DEBUG", "1")

    def outside(x):
        x[amdjit.grid(1)] = 1.0

    assert fault_of(amdjit.kernel(outside)[1, 32], np.zeros(31, np.float32)).kind == "index"
    assert (
        fault_of(amdjit.kernel(bounds_check=False)(outside)[1, 32], np.zeros(31, np.float32)).kind
        == "out-of-bounds"
    )
