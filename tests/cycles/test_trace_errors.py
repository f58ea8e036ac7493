"""The cycle model's errors on recorded traces stay within what docs/cycles.md says."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cycle_model import TRACES, Replay, main, replay, replay_in_host_code, replay_in_python
from trace_errors import Errors, Sample, errors_of
from trace_files import read_trace

FILES = sorted(TRACES.glob("*__*.json"))


@cache
def replays() -> tuple[Replay, ...]:
    """Return all traces with what the host code predicts."""
    return tuple(replay(file, replay_in_host_code) for file in FILES)


@cache
def all_errors(target: str = "") -> dict[str, Errors]:
    """Return the errors of all traces of processors whose names begin so."""
    chosen = [one for one in replays() if one.trace.target.name.startswith(target)]
    return errors_of([sample for one in chosen for sample in one.samples])


def of_each_trace(kind: str) -> Iterator[tuple[str, Errors]]:
    for one in replays():
        if kind in one.errors:
            yield one.trace.name, one.errors[kind]


def test_whole_kernels_are_within_6_percent() -> None:
    wrong = {name: found.relative for name, found in of_each_trace("kernel")}
    assert len(wrong) == len(FILES)
    assert {name: error for name, error in wrong.items() if abs(error) > 0.06} == {}


def test_most_kernels_are_within_half_a_percent() -> None:
    for family, part in (("gfx12", 0.9), ("gfx11", 0.65)):
        found = [each.relative for name, each in of_each_trace("kernel") if family in name]
        assert sum(abs(error) <= 0.005 for error in found) >= part * len(found)


def test_loops_of_wmma_and_valu_are_within_3_percent() -> None:
    assert abs(all_errors()["loop"].relative) <= 0.03
    by_trace = dict(of_each_trace("loop"))
    # Two waves that compete for one SIMD in the first passes are the exception.
    competing = {name for name in by_trace if "f5e30c" in name}
    wrong = {name: found.relative for name, found in by_trace.items() if name not in competing}
    assert {name: error for name, error in wrong.items() if abs(error) > 0.03} == {}
    assert all(abs(by_trace[name].relative) <= 0.06 for name in competing)


def test_a_loop_of_wmma_is_exact() -> None:
    found = dict(of_each_trace("loop"))["custom_wmma_simple__gfx1201__4b1d50__00"]
    assert found.count == 19
    assert found.absolute[-1] == 0


@pytest.mark.parametrize("kind", ["LDS", "barrier"])
def test_lds_round_trips_and_barriers_are_within_10_percent(kind: str) -> None:
    found = dict(of_each_trace(kind))
    assert found
    assert {name: each.relative for name, each in found.items() if abs(each.relative) > 0.1} == {}


@pytest.mark.parametrize(
    ("target", "kind", "exact", "within_1"),
    [
        ("gfx12", "ALU", 0.83, 0.91),
        ("gfx12", "WMMA", 0.92, 0.93),
        ("gfx12", "memory", 0.45, 0.8),
        ("gfx12", "branch", 0.79, 0.87),
        ("gfx1100", "ALU", 0.85, 0.94),
        ("gfx1100", "memory", 0.45, 0.7),
        ("gfx1100", "branch", 0.8, 0.85),
        ("gfx1151", "ALU", 0.78, 0.88),
        ("gfx1151", "branch", 0.7, 0.75),
    ],
)
def test_most_gaps_between_issues_are_exact(
    target: str, kind: str, exact: float, within_1: float
) -> None:
    found = all_errors(target)[kind]
    assert found.within(0) >= exact
    assert found.within(1) >= within_1


def test_round_trips_to_lds_without_load_are_within_a_cycle() -> None:
    found = [
        sample.error
        for one in replays()
        if one.trace.kernel == "custom_lds_sync"
        for sample in one.samples
        # The second store of two waves takes its turn on the path with those of another SIMD.
        if sample.kind == "LDS" and (sample.wave == 0 or sample.measured < 35)
    ]
    assert len(found) == 27
    assert set(found) <= {-1, 0, 1}


def test_little_of_a_trace_without_memory_is_given() -> None:
    for one in replays():
        if one.trace.kernel == "custom_wmma_simple":
            assert not one.trace.given.cycles


@pytest.mark.exhaustive
def test_the_reference_has_the_same_errors() -> None:
    for file, expected in zip(FILES, replays(), strict=True):
        assert replay(file, replay_in_python).samples == expected.samples


def content_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TRACES / f"{name}.json").read_text())
    return found


LDS = "custom_lds_sync__gfx1201__17d537__00"


def replayed(content: dict[str, Any], directory: Path) -> Replay:
    file = directory / "some.json"
    file.write_text(json.dumps(content))
    return replay(file, replay_in_host_code)


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_trace_is_replayed_as_far_as_it_goes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    content = content_of(LDS)
    for wave in content["waves"]:
        issues = wave["issues"]
        for issue in chance.sample(issues, 3):
            issue[0] = None
        del issues[chance.randrange(10, len(issues)) :]
    del content["events"][chance.randrange(len(content["events"])) :]
    found = replayed(content, tmp_path)
    assert len(found.predicted) == len(found.trace.waves)
    assert any("match no instruction" in sentence for sentence in found.trace.missing)


def test_an_unknown_instruction_is_named(tmp_path: Path) -> None:
    content = content_of(LDS)
    content["program"][2][1] = "v_of_the_future v1, v2"
    found = replayed(content, tmp_path)
    assert any("v_of_the_future" in sentence for sentence in found.trace.missing)
    assert found.errors["kernel"].count == 1


def test_waves_whose_packets_fit_no_program_are_left_out(tmp_path: Path) -> None:
    content = content_of(LDS)
    for issue in content["waves"][1]["issues"]:
        issue[2] = "SALU"
    found = replayed(content, tmp_path)
    assert len(found.trace.waves) == 1
    assert any("1 waves are left out" in sentence for sentence in found.trace.missing)


def test_a_trace_without_waves_has_no_errors(tmp_path: Path) -> None:
    found = replayed(content_of(LDS) | {"waves": []}, tmp_path)
    assert found.samples == ()


def test_the_script_says_which_files_are_no_traces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    good = TRACES / f"{LDS}.json"
    result = tmp_path / "errors.json"
    assert main([str(good), str(wrong), str(broken), "--instructions", "--json", str(result)]) == 1
    printed = capsys.readouterr()
    assert "is no cycle trace" in printed.err
    assert str(broken) in printed.err
    assert "s_barrier_signal -1" in printed.out
    assert json.loads(result.read_text())["all"]["barrier"]["samples"] == 2


def test_what_is_given_is_only_memory_and_code() -> None:
    trace = read_trace(TRACES / f"{LDS}.json")
    given = {trace.texts[trace.waves[wave].path[step]] for wave, step in trace.given.latency}
    assert given == {"s_load_b64 s[0:1], s[0:1], null"}
    assert set(trace.given.cycles) == {"memory"}


def test_errors_add_up() -> None:
    samples = [Sample("ALU", 0, 1, 3, 4), Sample("ALU", 0, 2, 9, 6), Sample("LDS", 0, 3, 5, 5)]
    found = errors_of(samples)
    assert found["ALU"].relative == pytest.approx(0.2)
    assert found["ALU"].absolute == (1, 3)
    assert found["ALU"].worst[0].error == 3
    assert found["ALU"].within(1) == 0.5
    assert found["LDS"].median == 0
