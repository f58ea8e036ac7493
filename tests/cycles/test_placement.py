"""How many workgroups a workgroup processor holds, and which cache lines a sample shares: against
dealing out resources one workgroup at a time, and against sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.model import Placement, place
from amdjit.cycles.sample import footprint_of, sample_of
from amdjit.emulator.counting.recording import RecordedWave, RecordedWorkgroup, Recording
from amdjit.target import Target, find_target

GFX1201 = find_target("gfx1201")
assert GFX1201 is not None


@dataclass
class Metadata:
    vgpr_count: int
    group_segment_bytes: int
    wave_size: int = 32


@dataclass
class Descriptor:
    wgp_mode: bool


@dataclass
class StandIn:
    """The parts of a kernel that placement reads."""

    metadata: Metadata
    descriptor: Descriptor


def dealt(target: Target, waves: int, vgprs: int, lds: int, wgp_mode: bool) -> int:
    """Return how many workgroups get what they need, one after the other."""
    halves = 1 if wgp_mode else 2
    registers = -(-max(1, vgprs) // 24) * 24
    room = min(16, 1536 // registers) * (4 // halves)
    left, free, count = 128 * 1024 // halves, room, 0
    barriers = 32 // halves if waves > 1 else 64
    while free >= waves and left >= -(-lds // 1024) * 1024 and count < barriers:
        free -= waves
        left -= -(-lds // 1024) * 1024
        count += 1
    return count * halves


@given(st.integers(1, 32), st.integers(1, 256), st.integers(0, 64 * 1024), st.booleans())
def test_workgroups_fit_as_often_as_they_can_be_dealt_out(
    waves: int, vgprs: int, lds: int, wgp_mode: bool
) -> None:
    kernel = StandIn(Metadata(vgprs, lds // 2), Descriptor(wgp_mode))
    expected = dealt(GFX1201, waves, vgprs, lds, wgp_mode)
    if expected == 0:
        with pytest.raises(NoEstimate, match="fits a workgroup processor"):
            place(kernel, GFX1201, waves * 32, lds - lds // 2)  # type: ignore[arg-type]
    else:
        placement = place(kernel, GFX1201, waves * 32, lds - lds // 2)  # type: ignore[arg-type]
        assert placement.resident == expected
        spread(placement)


def spread(placement: Placement) -> None:
    """Check that resident waves fill the SIMDs as evenly as their compute units allow."""
    counts = np.zeros(4, int)
    for slot in range(placement.resident):
        simds = {placement.simd(slot, wave) for wave in range(placement.waves)}
        assert placement.wgp_mode or len({simd // 2 for simd in simds}) == 1
        for wave in range(placement.waves):
            counts[placement.simd(slot, wave)] += 1
    pairs = [counts] if placement.wgp_mode else [counts[:2], counts[2:]]
    assert all(pair.max() - pair.min() <= 1 for pair in pairs)


def recorded(groups: list[list[list[int]]]) -> Recording:
    """Return a recording of workgroups of one wave, whose requests touch these lines."""
    requests, lines, made = [], [], []
    for number, group in enumerate(groups):
        rows = []
        for request in group:
            rows.append(len(requests))
            requests.append([32, 128, 0, len(lines), len(lines) + len(request)])
            lines += request
        wave = RecordedWave(np.zeros(len(rows) + 1, np.int32), np.array([*rows, -1], np.int32))
        made.append(RecordedWorkgroup(number, (wave,)))
    return Recording(
        np.array([0]),
        tuple(made),
        np.array(requests, np.int64).reshape(-1, 5),
        np.array(lines, np.int64),
        True,
    )


GROUPS = st.lists(
    st.lists(st.lists(st.integers(0, 40), max_size=4), max_size=4), min_size=1, max_size=5
)


@given(GROUPS)
def test_a_footprint_counts_lines_as_sets_do(groups: list[list[list[int]]]) -> None:
    sets = [{line for request in group for line in request} for group in groups]
    footprint = footprint_of(recorded(groups), len(groups), None)
    everything = set().union(*sets)
    assert footprint.lines == pytest.approx(max(1, len(everything)))
    if everything:
        assert footprint.sharing == pytest.approx(sum(map(len, sets)) / len(everything))
    counted = footprint_of(recorded(groups), 10 * len(groups), 7)
    assert counted.lines == 7
    assert counted.sharing == pytest.approx(max(1, sum(map(len, sets)) * 10 / 7))


@given(GROUPS, st.floats(1, 8))
def test_keys_say_which_lines_are_one_workgroups_own(
    groups: list[list[list[int]]], sharing: float
) -> None:
    recording = recorded(groups)
    sample = sample_of(recording, 2 * len(groups), sharing, 32)
    sets = [{line for request in group for line in request} for group in groups]
    for line, key in zip(recording.lines.tolist(), sample.keys.tolist(), strict=True):
        assert key >> 2 == line
        assert bool(key & 2) == (sum(line in one for one in sets) == 1)
    assert sample.workgroups == tuple(range(len(groups))) * 2
    assert len(set(sample.salts[: len(groups)])) == 1
    assert sample.salts[0] != sample.salts[len(groups)]


@settings(max_examples=5, deadline=None)
@given(st.floats(1, 32))
def test_as_many_lines_come_from_beyond_l2_as_sharing_leaves(sharing: float) -> None:
    lines = list(range(100, 20_100))
    sample = sample_of(recorded([[lines]]), 1, sharing, 32)
    fetched = np.count_nonzero(sample.keys & 1 == 0) / len(lines)
    assert fetched == pytest.approx(1 / sharing, rel=0.2)


def test_a_launch_of_one_workgroup_each_takes_the_longest() -> None:
    sample = sample_of(recorded([[[1]], [[1], [2], [3]], [[1], [2]]]), 1, 1, 32)
    assert sample.workgroups == (1,)
