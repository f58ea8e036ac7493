"""Going back arrives where going forward was: every register and all memory."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.debugging.debugger import Debugger
from amdjit.emulator.stepping import launch as stepping
from amdjit.emulator.stepping.launch import Wanted
from tests.debugging.random_launches import BLOCK, everything, launch

_SCHEDULES = ("in-order", "backwards", 1, 2)
_DEVICES = ("gfx1201", "gfx1100", "gfx942")


def _debugger(seed: int, device: str, schedule: str | int, level: int) -> tuple[Debugger, Any]:
    kernel, arrays = launch(seed)
    with warnings.catch_warnings(), amdjit.use(f"emulator:{device}"):
        warnings.simplefilter("ignore", amdjit.PerformanceWarning)
        opened = amdjit.debug(kernel[3, BLOCK], *arrays, opt_level=level, schedule=schedule)
        kernel[3, BLOCK](*arrays)
    return opened, arrays


def _check(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    # Many snapshots, so that most times lie behind one that is not the first.
    monkeypatch.setattr(stepping, "_INTERVAL", random.choice((50, 400, 5000)))
    device, schedule = random.choice(_DEVICES), random.choice(_SCHEDULES)
    debugger, arrays = _debugger(seed, device, schedule, random.choice((0, 3)))
    with debugger:
        debugger.go_to(1 << 60)
        end = debugger.time
        _check_results(debugger, arrays)
        times = sorted(random.randrange(end) for _ in range(8))
        debugger.go_to(0)
        expected = {}
        for time in times:
            debugger.go_to(time)
            expected[time] = everything(debugger)
            _check_names(debugger)
        for time in random.sample(times, len(times)):
            debugger.go_to(time)
            assert everything(debugger) == expected[time], f"seed {seed}, time {time}"
        _check_steps(debugger, random)


def _check_results(debugger: Debugger, arrays: Any) -> None:
    assert debugger.fault is None
    assert debugger.has_ended
    for found, expected in zip(debugger.arrays.values(), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)


def _check_names(debugger: Debugger) -> None:
    """Names in expressions are what they are in the kernel, wherever the wave is."""
    arrays = debugger.arrays | debugger.shared
    assert arrays.keys() >= {"x", "counts", "out"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(debugger.evaluate(name), array)


def _check_steps(debugger: Debugger, random: Random) -> None:
    """Steps back undo steps, by lines and by instructions."""
    for instructions in (False, True):
        debugger.go_to(random.randrange(debugger.time + 1))
        debugger.step(instructions=instructions)
        if debugger.has_ended or debugger.pc is None:
            continue
        passed = [everything(debugger)]
        for _ in range(6):
            if not debugger.step(instructions=instructions):
                break
            passed.append(everything(debugger))
        if debugger.pc is None or debugger.has_ended:
            continue
        for expected in reversed(passed[:-1]):
            assert debugger.back(instructions=instructions)
            assert everything(debugger) == expected


@pytest.mark.parametrize("seed", range(10))
def test_back_is_where_forward_was(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(seed, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(10, 1000, 10))
def test_back_is_where_forward_was_in_many(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(first, first + 10):
        _check(seed, monkeypatch)


def test_a_stepped_launch_computes_what_a_plain_one_does_in_wave64() -> None:
    kernel, arrays = launch(3, wave_size=64)
    with amdjit.debug(kernel[3, BLOCK], *arrays, opt_level=None) as debugger:
        while debugger.step(instructions=True):
            pass
        debugger.go_to(1 << 60)
        kernel[3, BLOCK](*arrays)
        _check_results(debugger, arrays)


def test_the_last_writes_are_those_that_single_steps_show() -> None:
    """An independent trace: after each instruction, which elements have changed."""
    kernel, arrays = launch(5)
    with amdjit.debug(kernel[3, BLOCK], *arrays) as debugger:
        trace: dict[int, int] = {}
        before = debugger.arrays["out"].reshape(-1)
        stepped = debugger._stepped
        while stepped.run(Wanted(instructions=True)):
            now = debugger.arrays["out"].reshape(-1)
            trace |= dict.fromkeys(np.flatnonzero(now != before).tolist(), stepped.time - 1)
            before = now
        debugger.go_to(1 << 60)
        for element in (0, 1, BLOCK + 5, 3 * BLOCK - 1):
            found = debugger.who_wrote("out", *divmod(element, BLOCK))
            assert found is not None
            # A later write of the same value changes nothing.
            assert found.time >= trace[element]
            debugger.go_to(found.time)
            here = debugger.arrays["out"].reshape(-1)[element]
            debugger._stepped.go_to(found.time + 1)
            assert (
                found.time == trace[element] or here == debugger.arrays["out"].reshape(-1)[element]
            )
            debugger.go_to(1 << 60)


def test_snapshots_make_room_and_stay_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amdjit.emulator.stepping.snapshots._MOST", 4)
    _check(4, monkeypatch)
