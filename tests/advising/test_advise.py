"""Advice: what makes a kernel slow is named first, and nothing is proposed that was not tried."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import LaunchError, f32, shared, threadIdx
from amdjit.advising.advice import Advice
from tests.advising.good_kernels import GOOD
from tests.advising.slow_kernels import (
    SLOW,
    Case,
    floats,
    one_half_each,
    transpose_through_lds,
)


def advice_on(case: Case, device: str = "emulator:gfx1201", seconds: float = 60.0) -> Advice:
    with amdjit.use(device), amdjit.profile(calls=True) as counted:
        case.kernel[case.grid, case.block](*case.arguments())
    return counted.launches[-1].advise(seconds)


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", SLOW, ids=lambda case: case.name)
def test_what_makes_a_kernel_slow_is_named_first(case: Case) -> None:
    advice = advice_on(case)
    if case.cause:
        assert advice.causes[0].kind == case.cause
        return
    first = advice.proposals[0]
    assert first.kind.startswith(case.kind), advice
    assert first.after.cycles < 0.95 * first.before.cycles
    assert first.before == advice.before
    assert bool(first.diff) != bool(first.options or (first.arguments and not first.diff))


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_nothing_is_said_of_good_kernels(case: Case) -> None:
    advice = advice_on(case)
    assert not advice.proposals
    assert not advice.causes
    assert advice.unfinished == 0


@pytest.mark.sample(1)
@pytest.mark.parametrize("processor", ["gfx1100", "gfx942", "gfx950"])
def test_other_processors(processor: str) -> None:
    advice = advice_on(SLOW[0], f"emulator:{processor}")
    assert advice.target == processor
    assert advice.proposals[0].kind == "layout of tile"
    assert advice.proposals[0].after.lds_conflicts < advice.before.lds_conflicts


# Changes that must not be proposed.


@amdjit.kernel(block=64)
def reads_of_another_wave(x, out):
    part = shared.array(64, f32)
    t = threadIdx.x
    value = f32(0)
    for k in range(16):
        part[t] = x[t] + f32(k)
        amdjit.syncthreads()
        # The emulator runs the first wave first, so that results are right without the barriers.
        value += part[t % 32]
        amdjit.syncthreads()
    out[t] = value


def test_a_barrier_that_only_the_race_check_needs_stays() -> None:
    case = Case(reads_of_another_wave, 1, 64, lambda: (floats(64), floats(64)))
    advice = advice_on(case)
    assert not [each for each in advice.proposals if each.kind.startswith("barrier")]
    reasons = [each.reason for each in advice.rejected if "barrier" in each.text]
    assert any("the checks report race/" in reason for reason in reasons), reasons


@amdjit.kernel(block=32)
def cancels(x, out):
    i = amdjit.grid(1)
    out[i] = f32((amdjit.f64(x[i]) + 1e9) - 1e9)


def test_doubles_that_are_needed_stay() -> None:
    advice = advice_on(Case(cancels, 64, 32, lambda: (floats(2048), floats(2048))))
    assert not [each for each in advice.proposals if each.kind == "doubles"]
    assert any("more than rounding" in each.reason for each in advice.rejected)


@amdjit.kernel(block=256)
def fills_lds(x, out):
    tile = shared.array((256, 64), f32)
    t = threadIdx.x
    for k in range(0, 64, 8):
        tile[t, k] = x[k * 256 + t]
    amdjit.syncthreads()
    total = f32(0)
    for k in range(0, 64, 8):
        total += tile[255 - t, k]
    out[t] = total


def test_rows_that_do_not_fit_are_refused_with_the_reason() -> None:
    advice = advice_on(Case(fills_lds, 1, 256, lambda: (floats(16384), floats(256))))
    assert advice.proposals[0].kind == "layout of tile"
    assert "column ^ row" in advice.proposals[0].text
    longer = [each for each in advice.rejected if "longer" in each.text]
    assert longer
    assert all("LDS" in each.reason for each in longer)


def test_of_one_kind_the_best_is_proposed() -> None:
    (case,) = [each for each in SLOW if each.name == "waits_in_each_round"]
    advice = advice_on(case)
    (unrolled,) = [each for each in advice.proposals if each.kind == "unroll"]
    assert unrolled.options == {"unroll": 8}
    others = [each.reason for each in advice.rejected if "rounds" in each.text]
    assert others == [f"{unrolled.text}: that gains more"] * 2


def test_the_time_is_bounded() -> None:
    advice = advice_on(SLOW[0], seconds=0.0)
    assert not advice.proposals
    assert advice.unfinished > 5
    assert "left out: the time was over" in str(advice)


# Launches as users have them.


def test_a_launch_that_was_not_kept() -> None:
    with amdjit.profile() as counted:
        transpose_through_lds[(1, 1), (32, 8)](floats(32, 32), floats(32, 32))
    with pytest.raises(LaunchError, match=r"profile\(calls=True\)"):
        counted.launches[0].advise()


def test_a_processor_without_a_cycle_model() -> None:
    with pytest.raises(LaunchError, match="gfx90a"):
        advice_on(SLOW[0], "emulator:gfx90a")


def captured(scale: float) -> Any:
    @amdjit.kernel(block=64)
    def divides(x, out, rounds=13):
        i = amdjit.grid(1)
        row = i // rounds  # a comment, ünïcode
        out[i] = x[row * 7 % rounds] * f32(scale) + f32(i % rounds)

    return divides


def test_closures_defaults_device_arrays_and_arguments_of_the_launch() -> None:
    x, out = amdjit.to_device(floats(1024)), amdjit.to_device(np.zeros(1024, np.float32))
    before = x.copy_to_host()
    with amdjit.profile(calls=True) as counted:
        captured(0.5)[16, 64](x, out=out)
    found = out.copy_to_host()
    advice = counted.launches[0].advise()
    (constant,) = [each for each in advice.proposals if each.kind == "constants"]
    assert constant.diff.splitlines()[1:] == [
        "-    def divides(x, out, rounds=13):",
        "+    def divides(x, out, rounds: amdjit.Const = 13):",
    ]
    assert constant.arguments == {"rounds": 13}
    # The user's arrays are as the launch left them.
    assert np.array_equal(out.copy_to_host(), found)
    assert np.array_equal(x.copy_to_host(), before)


TOTAL = amdjit.to_device(np.zeros(1, np.int32))


@amdjit.kernel(block=64)
def adds_outside(x, out):
    i = amdjit.grid(1)
    amdjit.atomic.add(TOTAL, 0, 1)
    out[i] = x[i]


def test_launches_that_copies_cannot_repeat() -> None:
    with pytest.raises(LaunchError, match="it writes TOTAL, an array from outside"):
        advice_on(Case(adds_outside, 2, 64, lambda: (floats(128), floats(128))))
    assert TOTAL.copy_to_host().tolist() == [128]
    both = floats(16385)
    with pytest.raises(LaunchError, match="arrays of it share memory"):
        advice_on(Case(one_half_each, 4, 256, lambda: (both[:-1], both[1:], floats(16384))))
    advice_on(Case(one_half_each, 4, 256, lambda: (both, both, floats(16385))), seconds=0)


@amdjit.kernel(block=256)
def tells(x, out, is_signed):
    i = amdjit.grid(1)
    if i == 0:
        print("first")
    item = x[i]
    out[i] = item ^ 0x55 if is_signed else item


def test_prints_names_and_booleans_of_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(2**19, dtype=np.uint8)
    advice = advice_on(Case(tells, 2048, 256, lambda: (x, np.zeros_like(x), True)))
    assert capsys.readouterr().out == "first\n"
    tried = [*advice.proposals, *advice.rejected]
    assert not [each for each in advice.rejected if "differ" in each.reason]
    assert "for item_ in amdjit.static_range" in "".join(each.diff for each in advice.proposals)
    assert any("`is_signed`" in each.text for each in tried)
    constants = [each.arguments for each in advice.proposals if each.kind == "constants"]
    assert all(each["is_signed"] is True for each in constants)


def test_json() -> None:
    form = json.loads(advice_on(SLOW[0]).to_json())
    assert form["schema"] == "amdjit.advice/1"
    assert form["proposals"][0]["after"]["lds_conflicts"] == 0
    assert form["rejected"][0]["reason"]
