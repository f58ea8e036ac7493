"""Comparisons: lines add up to the whole, moved lines are the same, and what changed is named."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from pathlib import Path

import pytest

from amdjit import f32
from amdjit.inspection.comparison import Comparison
from amdjit.inspection.facts import UNITS
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.reading import inspect_object
from tests.emulator.building import assemble, compile_kernel
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

SOURCE = """import amdjit
from amdjit import shared, syncthreads, threadIdx


@amdjit.kernel(block=64)
def kernel(x, y):
    i = threadIdx.x
    tile = shared.array(64, amdjit.f32)
    tile[i] = x[i]
    syncthreads()
    y[i] = tile[63 - i] * 2.0
"""


def inspected(folder: Path, source: str, name: str = "kernel.py") -> Inspection:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(source)
    kernel = runpy.run_path(str(path))["kernel"]
    found: Inspection = kernel.compile(f32[:], f32[:], target="gfx1201").inspect()
    return found


def check_sums(one: Inspection, other: Inspection) -> Comparison:
    """Check that the lines' growth is that of the whole, unit by unit, and the same backwards."""
    found, back = one.compare(other), other.compare(one)
    grown = Counter(item.unit for item in other.instructions)
    grown.subtract(item.unit for item in one.instructions)
    by_line: Counter[str] = Counter()
    for line in found.lines:
        by_line.update(line.units_after)
        by_line.subtract(line.units_before)
    figures = {figure.name: figure.growth for figure in found.figures}
    for unit in UNITS:
        assert by_line[unit] == grown[unit] == figures[f"{unit} instructions"]
    growths = [line.growth for line in found.lines]
    assert growths == sorted(growths, reverse=True)
    assert sorted(growths) == sorted(-line.growth for line in back.lines)
    assert [f.growth for f in back.figures] == [-f.growth for f in found.figures]
    places = {(line.before, line.after) for line in found.lines}
    assert places == {(line.after, line.before) for line in back.lines}
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["reduction", "branches", "matrix_shared"])
def test_lines_add_up_to_the_whole(name: str) -> None:
    versions = [inspect_object(compile_kernel(name, level)) for level in ("-O0", "-O1", "-O3")]
    for one in versions:
        for other in versions:
            found = check_sums(one, other)
            assert found.lines == () or one is not other
    # Two files, of which nothing but their order is known to correspond.
    check_sums(versions[0], inspect_object(compile_kernel("saxpy", "-O2")))


def test_a_compilation_does_not_differ_from_itself(tmp_path: Path) -> None:
    one = inspected(tmp_path, SOURCE)
    found = one.compare(one)
    assert found.lines == ()
    assert not any(figure.growth for figure in found.figures)
    assert str(found).endswith("no difference")


def test_lines_that_moved_are_the_same(tmp_path: Path) -> None:
    one = inspected(tmp_path / "a", SOURCE)
    moved = SOURCE.replace("@amdjit", "# One line.\n# And another.\n@amdjit")
    assert inspected(tmp_path / "b", moved).compare(one).lines == ()
    # The same file, and one with another name.
    assert one.compare(inspected(tmp_path / "a", moved)).lines == ()
    assert one.compare(inspected(tmp_path / "c", moved, "new.py")).lines == ()


def test_a_line_that_changed_is_named_with_its_text(tmp_path: Path) -> None:
    one = inspected(tmp_path / "a", SOURCE)
    changed = SOURCE.replace("* 2.0", "* 2.0 + x[i + 64] / 3.0").replace("@amdjit", "#\n@amdjit")
    found = check_sums(one, inspected(tmp_path / "b", changed))
    first = found.lines[0]
    assert first.before is not None
    assert first.after is not None
    assert (first.before[1], first.after[1]) == (11, 12)
    assert first.text == "y[i] = tile[63 - i] * 2.0 + x[i + 64] / 3.0"
    assert first.growth > 5
    assert first.units_after["vector memory"] == first.units_before["vector memory"] + 1
    assert f"kernel.py:12  {first.text}" in str(found)


def test_lines_that_are_new_or_gone_have_one_place(tmp_path: Path) -> None:
    one = inspected(tmp_path / "a", SOURCE)
    longer = SOURCE + "    x[i] = y[i + 64]\n"
    found = check_sums(one, inspected(tmp_path / "b", longer))
    new = [line for line in found.lines if line.before is None]
    assert [line.text for line in new] == ["x[i] = y[i + 64]"]
    assert new[0].units_before == {}


def test_figures_name_what_grew(tmp_path: Path) -> None:
    one = inspected(tmp_path / "a", SOURCE)
    other = inspected(tmp_path / "b", SOURCE.replace("array(64,", "array(8192,"))
    figures = {figure.name: figure for figure in one.compare(other).figures}
    assert (figures["bytes of LDS"].before, figures["bytes of LDS"].after) == (256, 32768)
    assert figures["waves a SIMD"].growth < 0
    form = json.loads(one.compare(other).to_json())
    assert form["schema"] == "amdjit.comparison/1"
    assert {item["name"] for item in form["figures"]} == set(figures)


def test_objects_without_lines_are_compared_as_a_whole() -> None:
    one, other = (
        inspect_object(assemble(text)) for text in ("v_mov_b32 v1, 0", "v_mov_b32 v1, 0\n s_nop 0")
    )
    (line,) = check_sums(one, other).lines
    assert (line.before, line.after, line.growth) == (None, None, 1)
    assert "without a line" in str(one.compare(other))


def test_lines_of_two_kernels_in_one_file_are_paired_by_their_text(tmp_path: Path) -> None:
    twice = SOURCE + SOURCE.split("\n\n", 1)[1].replace("kernel(x", "other(x").replace("2.0", "4.0")
    path = tmp_path / "kernel.py"
    path.write_text(twice)
    names = runpy.run_path(str(path))
    one, other = (
        names[name].compile(f32[:], f32[:], target="gfx1201").inspect()
        for name in ("kernel", "other")
    )
    assert {line for _, line in one.lines}.isdisjoint(line for _, line in other.lines)
    assert check_sums(one, other).lines == ()
