"""Ten mistakes, each found by a script of the debugger's commands, without a look at the source."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, shared, syncthreads, threadIdx
from amdjit.debugging.debugger import Debugger
from amdjit.debugging.terminal import Terminal
from amdjit.intrinsics import amdgcn, wave

N = 64


def line_of(function: Any, text: str) -> int:
    """Return the number of the line of a function that has a text, which stands there once."""
    first = function.__code__.co_firstlineno
    lines = Path(function.__code__.co_filename).read_text(encoding="utf-8").splitlines()
    found = [
        number for number, line in enumerate(lines[first - 1 : first + 40], first) if text in line
    ]
    return found[0]


def said(debugger: Debugger, *commands: str) -> str:
    """Return what the prompt prints for some commands."""
    out = io.StringIO()
    Terminal(debugger, io.StringIO(), out).run([*commands, "quit"])
    return out.getvalue()


@amdjit.kernel
def wrong_index(x, out):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        j = i * 2 % 64
        out[j] = x[i]


def test_a_wrong_index_is_found_by_who_wrote_the_element() -> None:
    x = np.arange(N, dtype=np.float32)
    with amdjit.debug(wrong_index[1, N], x, np.zeros(N, np.float32)) as debugger:
        text = said(debugger, "c", "who out[6]", "p out[3]", "who out[3]")
    assert f":{line_of(wrong_index.function, 'out[j] = x[i]')}" in text
    assert "lane 3" in text
    assert "nothing has written it so far" in text


@amdjit.kernel
def stale_lds(x, out):
    tile = shared.array(N, f32)
    i = threadIdx.x
    for k in range(2):
        tile[i] = x[k, i]
        syncthreads()
        out[k, i] = tile[N - 1 - i]
        # A barrier is missing here: the next round overwrites what others still read.


def test_stale_lds_shows_in_another_schedule() -> None:
    x = np.arange(2 * N, dtype=np.float32).reshape(2, N)
    expected = x[:, ::-1]
    wrong = []
    for schedule in ("in-order", "backwards", 1, 2, 3, 4):
        out = np.zeros((2, N), np.float32)
        with amdjit.debug(stale_lds[1, N], x, out, schedule=schedule) as debugger:
            debugger.go_to(1 << 60)
            found = np.argwhere(debugger.arrays["out"] != expected)
            if len(found):
                wrong.append(said(debugger, f"who out[{found[0][0]}, {found[0][1]}]"))
    with amdjit.debug(stale_lds[1, N], x, np.zeros((2, N), np.float32)) as debugger:
        assert "gives another out" in said(debugger, "shake 4")
    with amdjit.debug(wrong_index[1, N], x[0].copy(), np.zeros(N, np.float32)) as debugger:
        assert "all orders give the same results" in said(debugger, "shake 2")
    assert wrong
    assert all(f":{line_of(stale_lds.function, 'out[k, i] = tile')}" in text for text in wrong)


@amdjit.kernel
def missing_barrier(x, out):
    tile = shared.array(N, f32)
    i = threadIdx.x
    tile[i] = x[i]
    out[i] = tile[N - 1 - i]


def test_a_missing_barrier_shows_as_lds_that_nobody_has_written_yet() -> None:
    x = np.arange(1, N + 1, dtype=np.float32)
    line = line_of(missing_barrier.function, "out[i] = tile")
    with amdjit.debug(missing_barrier[1, N], x, np.zeros(N, np.float32)) as debugger:
        text = said(debugger, f"b {line}", "c", "who tile[63]", "waves")
    assert "nothing has written it so far" in text
    assert re.search(r"  block \(0, 0, 0\), wave 1: .*pc", text)  # which has not begun


@amdjit.kernel
def wrong_lane(x, out):
    i = threadIdx.x
    total = wave.reduce_add(x[i])
    if wave.lane_id() == 1:  # the first lane was meant
        out[i // 32] = total


def test_a_wrong_lane_is_the_one_that_wrote() -> None:
    x = np.ones(32, np.float32)
    with amdjit.debug(wrong_lane[1, 32], x, np.zeros(1, np.float32)) as debugger:
        text = said(debugger, "goto 1000000000", "who out[0]")
    assert "lane 1 at" in text


@amdjit.kernel
def overflow(x, out):
    i = threadIdx.x
    product = x[i] * x[i]
    out[i] = product // 1000


def test_an_overflow_is_found_by_a_condition() -> None:
    x = np.arange(0, 64000, 1000, dtype=np.int32)
    line = line_of(overflow.function, "out[i] = product")
    with amdjit.debug(overflow[1, N], x, np.zeros(N, np.int32)) as debugger:
        text = said(debugger, f"b {line} if product < 0", "c", "p i, product", "last product")
    assert "(np.int32(47), np.int32(-2085967296))" in text
    assert f":{line_of(overflow.function, 'product = x[i]')}" in text


@amdjit.kernel
def nan_is_born(x, out):
    i = threadIdx.x
    v = x[i]
    for _ in range(6):
        v = v - 1.5
        v = v / (v * v - 4.0)
        v = v + (v - v)
    out[i] = v


def test_the_birth_of_a_nan_is_the_last_moment_without_one() -> None:
    x = np.linspace(-4, 4, N, dtype=np.float32)
    x[17] = 3.5  # 2.0 in the first round: divided by 0, then inf - inf
    line = line_of(nan_is_born.function, "out[i] = v")
    with amdjit.debug(nan_is_born[1, N], x, np.zeros(N, np.float32)) as debugger:
        text = said(
            debugger,
            f"b {line} if v != v",
            "c",
            "p i, v",
            "cl 1",
            f"b {line_of(nan_is_born.function, 'v = v + (v - v)')} if i == 17 and v == v",
            "rc",
            "p v",
            "s",
            "p v",
        )
    assert "(np.int32(17), np.float32(nan))" in text
    assert "np.float32(inf)" in text
    assert "np.float32(nan)" in text.rpartition("p v")[2]


@amdjit.kernel
def transposed_b(a, b, c):
    lane = wave.lane_id()
    half, row = lane // 16, lane % 16
    x = amdjit.f16x8()
    y = amdjit.f16x8()
    for k in amdjit.static_range(8):
        x[k] = a[row, 8 * half + k]
        y[k] = b[row, 8 * half + k]  # B's columns lie along the lanes: b[8 * half + k, row]
    acc = amdjit.f32x8()
    acc = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(x, y, acc)
    for k in amdjit.static_range(8):
        c[8 * half + k, row] = acc[k]


def test_a_wrong_operand_layout_of_a_wmma_shows_in_the_operands() -> None:
    a, b = (np.random.default_rng(s).integers(-4, 5, (16, 16)).astype(np.float16) for s in (1, 2))
    line = line_of(transposed_b.function, "acc = amdgcn")
    with amdjit.debug(transposed_b[1, 32], a, b, np.zeros((16, 16), np.float32)) as debugger:
        text = said(debugger, f"b {line}", "c", "lane 5", "p y[3] == b[3, 5], y[3] == b[5, 3]")
        assert "(np.False_, np.True_)" in text
        found = said(debugger, "last y")
    assert f":{line_of(transposed_b.function, 'y[k] = b[row')}" in found


@amdjit.kernel
def lost_update(counts, x):
    i = amdjit.grid(1)
    seen = counts[x[i]]
    counts[x[i]] = seen + 1  # atomic.add was meant


def test_a_lost_update_shows_two_waves_that_read_the_same() -> None:
    x = np.zeros(N, np.int32)
    line = line_of(lost_update.function, "counts[x[i]] = seen")
    with amdjit.debug(lost_update[1, N], np.zeros(1, np.int32), x, schedule=3) as debugger:
        text = said(debugger, f"b {line}", "c", "p lane, seen", "lanes seen")
        assert "np.int32(0)" in text
        finish = debugger.finish()
    assert finish["counts"][0] < N


@amdjit.kernel
def off_by_one(x, out):
    i = threadIdx.x
    total = f32(0)
    for k in range(i):  # range(i + 1) was meant
        total += x[k]
    out[i] = total


def test_a_loop_that_is_one_round_short_shows_when_one_work_item_is_followed() -> None:
    x = np.arange(1, N + 1, dtype=np.float32)
    body = line_of(off_by_one.function, "total += x[k]")
    with amdjit.debug(off_by_one[1, N], x, np.zeros(N, np.float32)) as debugger:
        debugger.select(thread=3)
        rounds = 0
        while debugger.run_to(body):
            rounds += 1
            last = debugger.variables["k"].of(debugger.lane)
    assert rounds == 3
    assert last == 2


@amdjit.kernel
def past_the_end(x, out):
    i = amdjit.grid(1)
    shift = i * 3
    out[i] = x[shift]


def test_an_access_past_the_end_is_a_fault_that_can_be_undone() -> None:
    x = np.arange(N, dtype=np.float32)
    with amdjit.debug(past_the_end[1, N], x, np.zeros(N, np.float32)) as debugger:
        text = said(debugger, "c", "back", "lanes shift")
        fault = debugger.fault
        assert fault is None
        assert debugger.resume() is None
        assert debugger.fault is not None
        assert debugger.fault.source_line == line_of(past_the_end.function, "out[i] = x[shift]")
        with pytest.raises(amdjit.KernelFault):
            debugger.finish()
    assert "past the end of the allocation" in text
