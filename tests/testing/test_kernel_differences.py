"""Versions of kernels are paired, and what differs is told, what got worse first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit import f32
from amdjit.diagnostics import AmdjitError
from amdjit.testing.differences import Change, Differences, differences
from amdjit.testing.figures import FIGURES
from amdjit.testing.measured import Measured, measured
from amdjit.testing.tuning_differences import tuning_differences
from amdjit.tuning.candidates import Candidate, State
from amdjit.tuning.configurations import Configuration
from amdjit.tuning.keys import TuningKey
from amdjit.tuning.records import Best, Records
from tests.testing.measured_kernels import inspected, launched

NAMES = ("old", "new")


def kernel(name: str = "k", *details: str, target: str = "gfx1201", **facts: int) -> Measured:
    """Return a kernel with some figures of its own."""
    code = replace(inspected("iree_sum"), kernel=name, target=target, **facts)
    return Measured.of_code(code, *details)


def titles(found: Differences) -> list[str]:
    return [one.kernel for one in found.changed]


# Figures.


@pytest.mark.parametrize(
    ("change", "growth", "worse"),
    [
        (Change("vgprs", 10, 15, "less"), 0.5, True),
        (Change("vgprs", 10, 5, "less"), -0.5, False),
        (Change("vgprs", 10, 10, "less"), 0, False),
        (Change("spills", 0, 3, "less"), 3, True),
        (Change("occupancy", 16, 8, "more"), 0.5, True),
        (Change("occupancy", 8, 16, "more"), -1, False),
        (Change("loops", 1, 2), 1, False),
    ],
)
def test_worse_is_more_or_less_by_the_figure(change: Change, growth: float, worse: bool) -> None:
    assert change.growth == growth
    assert change.is_worse is worse


def test_figures_that_changed_are_told_what_got_worse_most_first() -> None:
    old, new = kernel(vgprs=20, sgprs=40, vgpr_spills=4), kernel(vgprs=30, sgprs=50, vgpr_spills=2)
    found = differences([old], [new], NAMES)
    (one,) = found.changed
    assert [(each.name, each.before, each.after) for each in one.figures] == [
        ("vgprs", 20, 30),
        ("sgprs", 40, 50),
        ("spills", 4, 2),
        ("vgpr_spills", 4, 2),
    ]
    assert one.is_worse
    assert one.growth == 0.5
    (back,) = differences([new], [old], NAMES).changed
    assert [each.name for each in back.figures][:2] == ["spills", "vgpr_spills"]


def test_only_the_figures_asked_for_are_compared() -> None:
    figures = [FIGURES["sgprs"]]
    old, new = kernel(vgprs=20, sgprs=40), kernel(vgprs=30, sgprs=40)
    assert differences([old], [new], NAMES, figures).same == 1
    assert differences([old], [kernel(sgprs=39)], NAMES, figures).changed[0].growth == -1 / 40


def test_kernels_that_got_worse_most_come_first() -> None:
    old = [kernel(name, vgprs=20, sgprs=40) for name in "abcd"]
    changed = ((20, 41), (30, 40), (20, 40), (19, 40))
    new = [kernel(name, vgprs=v, sgprs=s) for name, (v, s) in zip("abcd", changed, strict=True)]
    found = differences(old, new, NAMES)
    assert [title[0] for title in titles(found)] == ["b", "a", "d"]
    assert found.same == 1


def test_the_lines_of_code_that_changed_are_told_with_their_text() -> None:
    @amdjit.kernel
    def scale(x, n: amdjit.Const):
        x[0] = x[1]
        for i in amdjit.static_range(n):
            x[i] = x[i + 64] + 1

    versions = [measured(scale.compile(f32[:], n, target="gfx1201")) for n in (2, 5)]
    (one,) = differences(*versions, NAMES).changed
    assert one.kernel == "scale(f32[::1], 2) -> (f32[::1], 5) for gfx1201"
    first = one.parts[0]
    assert first.text == "x[i] = x[i + 64] + 1"
    assert first.name.startswith("test_kernel_differences.py:")
    changes = {each.name: each.after - each.before for each in first.figures}
    assert changes["VALU"] > 0
    (back,) = differences(*reversed(versions), NAMES).changed
    assert back.parts[-1].name == first.name


# Pairs.


def test_kernels_of_one_version_are_added_or_removed() -> None:
    found = differences([kernel("a"), kernel("b")], [kernel("b"), kernel("c")], NAMES)
    assert (found.added, found.removed) == (("c for gfx1201",), ("a for gfx1201",))
    assert (found.changed, found.same) == ((), 1)


def test_two_kernels_alone_are_compared_whatever_their_names() -> None:
    found = differences([kernel("a", vgprs=8)], [kernel("b", vgprs=9)], NAMES)
    assert titles(found) == ["a -> b for gfx1201"]
    assert (found.added, found.removed) == ((), ())


def test_what_differs_is_named() -> None:
    for old, new, title in (
        (kernel(target="gfx1100"), kernel(), "k for gfx1100 -> gfx1201"),
        (kernel("k", "num_warps=4"), kernel("k", "num_warps=8"),
         "k for gfx1201; num_warps=4 -> num_warps=8"),
        (kernel("k", "(f32)", "num_warps=4"), kernel("k", "(f32)"),
         "k(f32) for gfx1201; now without num_warps=4"),
        (kernel("k", "(f32)"), kernel("k", "(f32)", "unroll=4"),
         "k(f32) for gfx1201; now with unroll=4"),
    ):  # fmt: skip
        assert old.inspection is not None
        old = replace(old, inspection=replace(old.inspection, vgprs=99))
        assert titles(differences([old], [new], NAMES)) == [title]


def test_kernels_of_one_name_are_paired_by_what_they_have_in_common() -> None:
    old = [
        kernel("k", f"num_warps={n}", f"stages={m}", vgprs=10 * n + m)
        for n in (1, 2)
        for m in (1, 2)
    ]
    new = [
        kernel("k", f"num_warps={n}", f"stages={m}", vgprs=10 * n + m)
        for m in (2, 1)
        for n in (2, 1)
    ]
    assert differences(old, new, NAMES).same == 4
    found = differences(old, new[1:], NAMES)
    assert (found.same, found.removed) == (3, ("k for gfx1201; num_warps=2; stages=2",))
    other = [kernel("k", target=target, vgprs=v) for target, v in (("gfx1100", 3), ("gfx1201", 4))]
    assert differences(other, other[::-1], NAMES).same == 2


def test_where_nothing_tells_kernels_apart_size_does_and_it_is_said() -> None:
    small, large = kernel("k"), Measured.of_code(replace(inspected("iree_softmax"), kernel="k"))
    assert differences([small, large], [large, small], NAMES).same == 2
    assert large.inspection is not None
    grown = replace(large, inspection=replace(large.inspection, vgprs=200))
    (one,) = differences([small, large], [grown, small], NAMES).changed
    assert one.note == "paired by size of the code: 2 kernels are called so"
    assert differences([large], [grown], NAMES).changed[0].note == ""


# Launches.


@amdjit.kernel
def strided(x, step: amdjit.Const):
    tile = amdjit.shared.array((1024,), f32)
    lane = amdjit.threadIdx.x
    tile[lane * step] = x[lane]
    amdjit.syncthreads()
    x[lane] = tile[lane * step]


def launch_of(step: int, count: int = 1) -> amdjit.profile:
    with amdjit.use("emulator:gfx1201"), amdjit.profile() as p:
        for _ in range(count):
            strided[1, 32](np.ones(32, np.float32), step)
    return p


def test_counts_and_cycles_of_launches_are_compared_by_line() -> None:
    (one,) = differences(measured(launch_of(1)), measured(launch_of(32)), NAMES).changed
    changes = {each.name: (each.before, each.after) for each in one.figures}
    assert changes["lds_conflicts"] == (0, 62)
    assert changes["cycles"][0] < changes["cycles"][1]
    parts = {part.text: part.figures for part in one.parts}
    for line in ("tile[lane * step] = x[lane]", "x[lane] = tile[lane * step]"):
        of_line = {each.name: each.after - each.before for each in parts[line]}
        assert of_line["lds_conflict_cycles"] == 31
    growths = [{one.name: one.after - one.before for one in part.figures} for part in one.parts]
    cycles = [growth.get("cycles", 0) for growth in growths]
    assert cycles[0] > 0
    assert sorted(cycles, reverse=True) == cycles


def test_saved_profiles_are_compared_as_live_ones(tmp_path: Path) -> None:
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for file, step in zip(files, (1, 32), strict=True):
        file.write_text(launch_of(step).to_json())
    (one,) = differences(*map(measured, files), NAMES).changed
    assert one.kernel == "strided for gfx1201; launch: grid 1, block 32"
    assert Change("lds_conflicts", 0, 62, "less") in one.figures
    assert {part.name.split(":")[0] for part in one.parts} == {"test_kernel_differences.py"}


def test_launches_are_paired_by_their_order() -> None:
    one, other = (measured(launch_of(step))[0] for step in (1, 32))
    numbered = [
        [replace(each, details=(f"launch {n} of {len(group)}: grid 1, block 32",))
         for n, each in enumerate(group, 1)]
        for group in ([one, other], [one, other, one])
    ]  # fmt: skip
    found = differences(*numbered, NAMES)
    assert (found.same, len(found.changed), len(found.added)) == (2, 0, 1)
    assert found.added[0].endswith("launch 3 of 3: grid 1, block 32")


def test_code_and_a_saved_launch_have_nothing_in_common(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    file.write_text(launched().to_json())
    code = [Measured.of_code(launched().launches[0].inspection)]
    with pytest.raises(AmdjitError, match="no figure in common; compare code with code"):
        differences(code, measured(file), NAMES)
    with pytest.raises(AmdjitError, match="no figure of cycles in common"):
        differences(code, code, NAMES, [FIGURES["cycles"]])


# Tuning results.


def results(
    file: Path, times: dict[int, float | None], by: str = "model", source: str = "s"
) -> Path:
    """Write a file of results with a configuration for each time; None: it was refused."""
    records = Records.open(file)
    key = TuningKey("gfx1201", "gemm", source, "", "a: f32[:]", "n=64")
    records.begin(key)
    best = min((time, n) for n, time in times.items() if time is not None)
    for n, time in times.items():
        state = State.REFUSED if time is None else State.FINE
        reason = "too much\nLDS" if time is None else ""
        configuration = Configuration({"B": n})
        records.add(key, "r", Candidate(configuration, state, reason, seconds=time, by=by))
    records.choose(key, Best(f"B={best[1]}", "r", by, best[0], True, len(times)))
    return file


def test_tuning_results_are_compared_by_key_and_configuration(tmp_path: Path) -> None:
    old = results(tmp_path / "old", {16: 3.0, 32: 2.0, 64: 4.0, 128: 5.0})
    new = results(tmp_path / "new", {16: 2.5, 32: 4.0, 64: None, 256: 9.0}, source="changed")
    found = tuning_differences(old, new, NAMES)
    (one,) = found.changed
    assert one.kernel == "gemm(a: f32[:]) for gfx1201; n=64"
    assert one.note == "the best: B=32 -> B=16"
    assert one.figures == (Change("seconds", 2.0, 2.5, "less"),)
    assert one.is_worse
    parts = {part.name: (part.text, part.figures) for part in one.parts}
    assert parts["B=32"] == ("", (Change("seconds", 2.0, 4.0, "less"),))
    assert parts["B=16"] == ("", (Change("seconds", 3.0, 2.5, "less"),))
    assert parts["B=64"] == ("fine -> refused: too much LDS", ())
    assert parts["B=128"] == ("only in the first", ())
    assert parts["B=256"] == ("only in the second", ())
    assert one.parts[0].name == "B=32"


def test_times_of_different_kinds_are_not_compared(tmp_path: Path) -> None:
    old = results(tmp_path / "old", {16: 3.0})
    new = results(tmp_path / "new", {16: 1.0}, by="events")
    (one,) = tuning_differences(old, new, NAMES).changed
    assert one.figures == ()
    assert one.note == "times by model -> events"


def test_equal_results_and_results_of_one_file(tmp_path: Path) -> None:
    old = results(tmp_path / "old", {16: 3.0})
    assert tuning_differences(old, old, NAMES).same == 1
    empty = tmp_path / "empty"
    empty.write_text('{"kind": "file", "schema": "amdjit.tuning/1"}\n')
    assert tuning_differences(old, empty, NAMES).removed == ("gemm(a: f32[:]) for gfx1201; n=64",)
    assert tuning_differences(empty, old, NAMES).added == ("gemm(a: f32[:]) for gfx1201; n=64",)
