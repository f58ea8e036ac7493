"""Estimates of emulated launches: closed forms, sums, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import amdjit
from amdjit import blockIdx, f32, threadIdx
from amdjit.code_object import CodeObject
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.estimate import Cycles
from amdjit.cycles.families import VALUES as ALL_VALUES
from amdjit.cycles.model import Launch, estimate
from amdjit.cycles.rows import program_of
from amdjit.cycles.simulation import GroupRun, WaveRun, simulate
from amdjit.profiling.launch_profile import LaunchProfile
from amdjit.target import find_target
from tests.cycles.random_waves import Case, cases
from tests.cycles.reference import simulation as reference
from tests.cycles.reference.program_steps import instructions_of
from tests.cycles.reference.waves import WaveRun as ReferenceWave
from tests.cycles.test_simulation import VALUES


@amdjit.kernel(block=(64, 1, 1))
def chain(x: amdjit.f32[:], out: amdjit.f32[:], rounds: amdjit.i32) -> None:
    i = 64 * blockIdx.x + threadIdx.x
    y = x[i]
    for _ in range(rounds):
        y = y * y + f32(0.25)
    out[i] = y


def launched(grid: int, recorded: int, rounds: int = 50) -> LaunchProfile:
    x = np.full(64 * grid, 0.5, np.float32)
    with amdjit.use("emulator:gfx1201"), amdjit.profile(workgroups=recorded) as profile:
        chain[grid, 64](x, np.zeros_like(x), rounds)
    (launch,) = profile.launches
    return launch


@pytest.fixture(scope="module")
def launch() -> LaunchProfile:
    return launched(64, 2)


def again(launch: LaunchProfile, workgroups: int, **changes: float) -> Cycles:
    """Estimate the recorded launch as one of `workgroups` workgroups."""
    assert launch.recording is not None
    return estimate(
        CodeObject.read(launch.code_object),
        launch.kernel,
        # No workgroup shares a line, and the Infinity Cache just holds them all.
        Launch(workgroups, 64, 0, 400_000),
        launch.recording,
        {**ALL_VALUES, **changes},
    )


def test_a_profile_has_cycles_of_each_instruction_and_line(launch: LaunchProfile) -> None:
    cycles = launch.cycles
    assert cycles is not None
    assert launch.no_cycles is None
    assert 0 < cycles.kernel == cycles.per_wgp
    assert cycles.sampled_workgroups == 2
    assert cycles.seconds == pytest.approx(cycles.kernel / 2.97e9)
    recorded = launch.recording
    assert recorded is not None
    steps = sum(len(wave.path) for group in recorded.workgroups for wave in group.waves)
    issued = sum(each.executions for each in cycles.by_instruction.values())
    # s_delay_alu and s_wait_alu are not issued.
    assert 0.6 * steps < issued <= steps
    by_line = sum(sum(each.stalls.values()) for each in cycles.by_line.values())
    assert by_line == sum(cycles.stalls.values())
    assert {file.rpartition("/")[2] for file, _ in cycles.by_line} == {"test_model.py"}
    assert len(cycles.timeline) == 4
    assert {wave.simd for wave in cycles.timeline} == {0, 1, 2, 3}


def test_dependent_arithmetic_takes_its_latency(launch: LaunchProfile) -> None:
    """Each round is a product and a sum that wait for each other; a slower dependency makes every
    round slower."""
    instructions = 2 * 50
    slow = again(launch, 64, **{"valu dependency": 25}).kernel
    more = slow - again(launch, 64, **{"valu dependency": 15}).kernel
    assert more == pytest.approx(instructions * 10, rel=0.05)


def test_latency_of_memory_counts_where_a_wave_waits_for_it(launch: LaunchProfile) -> None:
    plain = again(launch, 64)
    slow = again(launch, 64, **{"infinity cache latency": 1450})
    # For the arguments, and for the array.
    assert slow.kernel - plain.kernel == 2000
    assert slow.stalls["wait loadcnt"] - plain.stalls["wait loadcnt"] >= 3600
    assert any("assumed" in sentence for sentence in slow.assumptions)


def test_more_workgroups_than_fit_take_whole_rounds_longer(launch: LaunchProfile) -> None:
    few, many, most = (again(launch, 32 * count) for count in (32, 1600, 3200))
    assert many.kernel - few.kernel > 0
    assert most.kernel / many.kernel == pytest.approx(2, rel=0.1)
    assert most.sampled_workgroups < 3200
    assert any("more workgroups" in sentence for sentence in most.assumptions)


def test_what_has_no_estimate_says_why(launch: LaunchProfile) -> None:
    unrecorded = launched(2, 0)
    assert unrecorded.cycles is None
    assert unrecorded.no_cycles is not None
    assert "recorded" in unrecorded.no_cycles
    recording = launch.recording
    assert recording is not None
    group = recording.workgroups[0]
    cut = replace(group, waves=(replace(group.waves[0], path=group.waves[0].path[:-5]),))
    code_object = CodeObject.read(launch.code_object)
    with pytest.raises(NoEstimate, match="ends before the wave does"):
        estimate(code_object, launch.kernel, Launch(1, 64), replace(recording, workgroups=(cut,)))
    with pytest.raises(NoEstimate, match="nothing of the launch was recorded"):
        estimate(code_object, launch.kernel, Launch(1, 64), replace(recording, workgroups=()))
    other = replace(code_object, target=find_target("gfx1103"))
    with pytest.raises(NoEstimate, match="gfx1103"):
        estimate(other, launch.kernel, Launch(1, 64), recording)


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(cases(VALUES))
def test_the_next_workgroup_takes_the_place_of_the_one_that_ends(case: Case) -> None:
    """With the starts that the host code gives the waves, the reference issues the same."""
    steps = np.array(case.groups[0].paths[0], np.int32)
    waves = len(case.groups[0].simds)
    run = WaveRun(steps, start=3, done=np.zeros(len(steps), np.int64))
    groups = [
        GroupRun((run,) * waves, case.groups[0].simds if number < 1 else None)
        for number in range(3)
    ]
    found = simulate(program_of(case.table, VALUES), groups)
    if any(len(wave.issued) == 0 for wave in found):
        return
    ends = [max(wave.end for wave in found[i * waves : (i + 1) * waves]) for i in range(3)]
    for wave in found[waves:]:
        assert wave.start == ends[wave.workgroup - 1] - 1 + VALUES["wave start"] + 3
    runs = [ReferenceWave(w.simd, w.workgroup, w.start, steps.tolist()) for w in found]
    expected = reference.simulate(instructions_of(case.table), runs, _Nothing())
    for wave, other in zip(found, expected, strict=True):
        assert wave.issued.tolist() == [issue.cycle for issue in other]


class _Nothing:
    """Nothing is given, and memory takes no time."""

    def fetched(self, wave: int, step: int, cycle: int) -> int:
        return cycle

    def accepted(self, wave: int, step: int, cycle: int) -> int:
        return cycle

    def complete(self, wave: int, step: int, transferred: int) -> int:
        return transferred

    def lds_cycles(self, wave: int, step: int) -> int:
        return 1
