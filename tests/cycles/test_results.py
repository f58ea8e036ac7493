"""Sums and timelines of simulated waves, against sums over single cycles."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from amdjit.cycles.estimate import STALLS
from amdjit.cycles.results import SimulatedWave, by_instruction, by_line, stalls_of, timeline

ADDRESSES = [0x100, 0x104, 0x10C, 0x110]


@st.composite
def waves(draw: st.DrawFn) -> SimulatedWave:
    """Draw a wave: each step is stalled for some cycles, then issues for some."""
    start = draw(st.integers(0, 50))
    steps = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(ADDRESSES) - 1),
                st.integers(0, 9),
                st.integers(0, len(STALLS) - 1),
                st.integers(1, 3),
            ),
            max_size=30,
        )
    )
    now, issued = start, []
    for _, stalled, _, busy in steps:
        now += stalled
        issued.append(now)
        now += busy
    columns = np.array(steps, np.int64).reshape(-1, 4)
    return SimulatedWave(
        simd=0,
        slot=0,
        workgroup=0,
        wave=0,
        start=start,
        end=now,
        path=columns[:, 0],
        issued=np.array(issued, np.int64),
        stalled=columns[:, 1],
        cause=columns[:, 2],
    )


def every_cycle(wave: SimulatedWave) -> list[str]:
    """Return what a wave does in each cycle."""
    doing = ["issue"] * (wave.end - wave.start)
    for issued, stalled, cause in zip(wave.issued, wave.stalled, wave.cause, strict=True):
        for cycle in range(issued - stalled, issued):
            doing[cycle - wave.start] = STALLS[cause]
    return doing


@given(st.lists(waves(), max_size=4))
def test_sums_are_those_of_single_cycles(several: list[SimulatedWave]) -> None:
    found = by_instruction(ADDRESSES, several)
    single = Counter(what for wave in several for what in every_cycle(wave) if what != "issue")
    assert stalls_of(found) == dict(single)
    assert sum(each.executions for each in found.values()) == sum(len(w.path) for w in several)
    for address, each in found.items():
        index = ADDRESSES.index(address)
        expected = sum(int(wave.stalled[wave.path == index].sum()) for wave in several)
        assert sum(each.stalls.values()) == expected


@given(st.lists(waves(), max_size=4))
def test_lines_have_the_sums_of_their_instructions(several: list[SimulatedWave]) -> None:
    found = by_instruction(ADDRESSES, several)
    lines = by_line(found, lambda address: ("file.py", 1 + (address > 0x104)))
    assert stalls_of({n: each for n, each in enumerate(lines.values())}) == stalls_of(found)
    for (_, line), each in lines.items():
        inside = [a for a in found if 1 + (a > 0x104) == line]
        assert each.address == min(inside)
        assert each.executions == sum(found[a].executions for a in inside)
    assert by_line(found, lambda address: None) == {}


@given(st.lists(waves(), min_size=1, max_size=4))
def test_an_exact_timeline_says_what_each_cycle_is(several: list[SimulatedWave]) -> None:
    for wave, shown in zip(several, timeline(several), strict=True):
        doing = [
            segment.what for segment in shown.segments for _ in range(segment.start, segment.end)
        ]
        assert doing == every_cycle(wave)


@settings(deadline=None)
@given(st.lists(waves(), min_size=1, max_size=4), st.integers(5, 40))
def test_a_timeline_is_bounded_and_has_what_is_most_frequent(
    several: list[SimulatedWave], most: int
) -> None:
    found = timeline(several, most)
    assert sum(len(shown.segments) for shown in found) <= max(most, len(several))
    for wave, shown in zip(several, found, strict=True):
        assert shown.segments[0].start == wave.start
        assert shown.segments[-1].end == wave.end
        for one, next_one in zip(shown.segments, shown.segments[1:], strict=False):
            assert one.end == next_one.start
