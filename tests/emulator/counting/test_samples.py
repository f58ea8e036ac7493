"""Which workgroups are recorded, and what happens where they do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.emulator.counting import samples
from amdjit.emulator.counting.layout import CHUNK_BYTES
from tests.emulator.building import compile_source, emulate
from tests.emulator.counting.traces import as_numbers, profiled_and_traced
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

# A loop whose rounds are the number of the workgroup, or `count` if that is not 0.
LOOP = """
#include "common.h"
KERNEL k(GLOBAL volatile int *x, GLOBAL int *out, int count) {
  int total = 0;
  for (int i = 0; i < (count ? count : BLOCK + 1); ++i) total += x[(i + LANE) & 63];
  out[LANE] = total;
}
"""


def launched(
    groups: int, count: int = 0, block: int = 64, threads: int = 1, **options: Any
) -> amdjit.LaunchProfile:
    """Run the loop."""
    code = compile_source(LOOP, "-O1")
    x, out = np.arange(64, dtype=np.int32), np.zeros(block, np.int32)
    with amdjit.profile(**options) as p:
        emulate(code, "k", groups, block, [x, out, np.int32(count)], threads)
    return p.launches[0]


def test_workgroups_are_those_of_one_of_32_workgroup_processors() -> None:
    recording = launched(200).recording
    assert recording is not None
    assert [group.number for group in recording.workgroups] == [0, 32, 64, 96, 128, 160, 192]
    assert not recording.complete
    assert recording.dropped == 0
    lengths = [len(wave.path) for group in recording.workgroups for wave in group.waves]
    # Each round is as long as any other.
    rounds = np.repeat(np.arange(0, 200, 32) + 1, 2)
    assert len(set(np.diff(lengths[::2]).tolist())) == 1
    assert np.polyfit(rounds, lengths, 1, full=True)[1] < 1e-9


@pytest.mark.parametrize(("wanted", "numbers"), [(0, None), (1, [0]), (3, [0, 32, 64])])
def test_a_number_of_workgroups_can_be_asked_for(wanted: int, numbers: list[int] | None) -> None:
    recording = launched(200, workgroups=wanted).recording
    found = None if recording is None else [group.number for group in recording.workgroups]
    assert found == numbers


def test_a_recording_of_all_workgroups_is_complete() -> None:
    recording = launched(1).recording
    assert recording is not None
    assert recording.complete


def test_the_default_is_two_rounds_of_a_workgroup_processor() -> None:
    # 64 waves of 32 lanes are on one at a time, so 8 workgroups of 8 waves.
    recording = launched(32 * 40, 1, block=256).recording
    assert recording is not None
    assert len(recording.workgroups) == 16


def test_a_long_path_goes_through_many_chunks() -> None:
    rounds = 3 * CHUNK_BYTES // 4
    launch = launched(1, rounds, block=32)
    assert launch.recording is not None
    (group,) = launch.recording.workgroups
    (wave,) = group.waves
    assert len(wave.path) == launch.totals.executions > rounds
    counts = np.bincount(wave.path, minlength=len(launch.instructions))
    assert counts.tolist() == [one.executions for one in launch.instructions]
    assert (wave.request >= 0).sum() == launch.totals.requests == len(launch.recording.requests)
    expected = [(i + 31) % 64 // 32 != i % 64 // 32 for i in range(rounds)]
    loads = launch.recording.requests[wave.request[wave.request >= 0]]
    lines = loads[:, 4] - loads[:, 3]
    assert (lines == 2).sum() == sum(expected)


def test_workgroups_beyond_the_limit_of_instructions_are_left_out() -> None:
    whole = launched(97).recording
    assert whole is not None
    lengths = [sum(len(wave.path) for wave in group.waves) for group in whole.workgroups]
    launch = launched(97, instructions=lengths[0] + lengths[1])
    assert launch.recording is not None
    assert [group.number for group in launch.recording.workgroups] == [0, 32]
    assert launch.recording.dropped == 2
    assert any(one.startswith("2 workgroups are not recorded") for one in launch.missing)
    assert launch.totals == launched(97).totals


def test_a_workgroup_without_room_is_left_out_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(samples, "_STREAM_BYTES", dict.fromkeys(samples.STREAMS, 0))
    # As many chunks as waves: the second workgroup's need more than one each.
    launch = launched(33, 1, block=64)
    assert launch.recording is not None
    assert launch.recording.dropped == 0
    launch = launched(33, CHUNK_BYTES, block=64)
    assert launch.recording is not None
    assert [group.number for group in launch.recording.workgroups] == []
    assert launch.recording.dropped == 2
    assert launch.totals.executions > CHUNK_BYTES


def test_host_threads_count_together_what_one_counts() -> None:
    alone, together = (launched(300, 1000, 96, threads) for threads in (1, 4))
    assert as_numbers(together) == as_numbers(alone)
    assert together.totals == alone.totals
    assert together.distinct_lines == alone.distinct_lines
    for launch in (alone, together):
        assert launch.recording is not None
    paths = [
        [wave.path.tolist() for group in launch.recording.workgroups for wave in group.waves]
        for launch in (alone, together)
        if launch.recording is not None
    ]
    assert paths[0] == paths[1]


def test_recorded_waves_agree_with_their_traces_wherever_they_ran() -> None:
    code = compile_source(LOOP, "-O1")
    x, out = np.arange(64, dtype=np.int32), np.zeros(96, np.int32)
    launch = profiled_and_traced(
        lambda: emulate(code, "k", (11, 3, 2), 96, [x, out, np.int32(0)], threads=2), 2
    )
    assert launch.recording is not None
    assert [group.number for group in launch.recording.workgroups] == [0, 32]
