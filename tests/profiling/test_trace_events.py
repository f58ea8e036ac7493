"""Traces for Perfetto: what the format demands holds, and they cover what the timeline has."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from tests.profiling import profiled_kernels as kernels


@pytest.fixture(scope="module")
def profile() -> amdjit.profile:
    """A profile of two launches."""
    out = np.zeros(512, np.int32)
    with amdjit.profile() as p:
        kernels.wait_often[4, 128](out, 3)
        kernels.wait_often[2, 64](out, 2)
    return p


def events(profile: amdjit.profile, path: Path) -> list[dict[str, Any]]:
    profile.to_trace(path)
    form = json.loads(path.read_text())
    assert set(form) == {"traceEvents", "displayTimeUnit"}
    found: list[dict[str, Any]] = form["traceEvents"]
    return found


def test_every_event_has_what_the_format_demands(profile: amdjit.profile, tmp_path: Path) -> None:
    named = set()
    for event in events(profile, tmp_path / "trace.json"):
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            named.add((event["pid"], event.get("tid")))
        else:
            assert event["ph"] == "X"
            assert event["cat"] in ("wave", "cycles")
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            assert (event["pid"], event["tid"]) in named
            assert (event["pid"], None) in named


def test_slices_nest_and_cover_the_timeline(profile: amdjit.profile, tmp_path: Path) -> None:
    by_track: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for event in events(profile, tmp_path / "trace.json"):
        if event["ph"] == "X":
            by_track[event["pid"], event["tid"]].append(event)
    for number, launch in enumerate(profile.launches, 1):
        assert launch.cycles is not None
        for wave in launch.cycles.timeline:
            track = by_track[number, 100 * wave.simd + wave.slot]
            [whole] = [
                each
                for each in track
                if each["name"] == f"workgroup {wave.workgroup} wave {wave.wave}"
            ]
            inside = [
                each
                for each in track
                if each["cat"] == "cycles"
                and whole["ts"] <= each["ts"] < whole["ts"] + whole["dur"]
            ]
            assert [each["name"] for each in inside] == [s.what for s in wave.segments]
            cycles = sum(each["dur"] for each in inside) * 1000
            assert round(cycles) == wave.end - wave.start
            ends = [round(1000 * (each["ts"] + each["dur"])) for each in inside]
            assert ends == [segment.end for segment in wave.segments]


def test_no_estimate_makes_no_trace(tmp_path: Path) -> None:
    with amdjit.profile(workgroups=0) as p:
        kernels.wait_often[1, 64](np.zeros(64, np.int32), 1)
    with pytest.raises(ValueError, match="no launch has an estimate"):
        p.to_trace(tmp_path / "trace.json")
    assert not (tmp_path / "trace.json").exists()
