"""Conditions on figures are read from text, and what is none is shown with a caret."""

from __future__ import annotations

import pytest

from amdjit.testing import ConditionError
from amdjit.testing.conditions import Condition, parse_conditions


def parts(text: str) -> list[tuple[str | None, str, str, float]]:
    return [(c.kernel, c.figure.name, c.operator, c.bound) for c in parse_conditions(text)]


def test_conditions_have_figures_operators_and_numbers() -> None:
    assert parts("vgprs<=128, spills == 0,occupancy>=8") == [
        (None, "vgprs", "<=", 128),
        (None, "spills", "==", 0),
        (None, "occupancy", ">=", 8),
    ]
    assert parts("sgprs<1;loops>2\ncycles!=3") == [
        (None, "sgprs", "<", 1),
        (None, "loops", ">", 2),
        (None, "cycles", "!=", 3),
    ]


def test_numbers_may_have_fractions_exponents_underscores_and_units() -> None:
    assert [bound for *_, bound in parts("cycles<1_500, cycles<2.5, cycles<1e3, cycles>-1")] == [
        1500, 2.5, 1000, -1,
    ]  # fmt: skip
    assert [bound for *_, bound in parts("lds<=4KiB, scratch<2 MiB, active_lanes>=90%")] == [
        4096, 2 << 20, 90,
    ]  # fmt: skip


def test_a_condition_may_name_its_kernels() -> None:
    text = "gemm: vgprs<9, softmax_*:sgprs<9,_Z3addPKf : loops<9"
    assert [kernel for kernel, *_ in parts(text)] == ["gemm", "softmax_*", "_Z3addPKf"]
    first, second, _ = parse_conditions(text)
    assert first.is_about("gemm")
    assert not first.is_about("gemm2")
    assert second.is_about("softmax_rows")
    assert not second.is_about("soft")
    (everywhere,) = parse_conditions("vgprs<9")
    assert everywhere.is_about("gemm")


def test_comments_and_empty_lines_are_passed_over() -> None:
    assert len(parts("# all kernels, always\nvgprs<9  # few, so that eight waves fit\n\n\n,")) == 1


@pytest.mark.parametrize(
    ("operator", "held"),
    [
        ("<=", (True, True, False)),
        ("<", (True, False, False)),
        (">=", (False, True, True)),
        (">", (False, False, True)),
        ("==", (False, True, False)),
        ("!=", (True, False, True)),
    ],
)
def test_each_operator_compares(operator: str, held: tuple[bool, bool, bool]) -> None:
    (condition,) = parse_conditions(f"vgprs{operator}8")
    assert isinstance(condition, Condition)
    assert tuple(condition.holds(value) for value in (7, 8, 9)) == held


@pytest.mark.parametrize(
    ("text", "words", "line", "carets"),
    [
        ("vgpr<=128", "no figure 'vgpr'; alike are vgprs", "vgpr<=128", "^^^^"),
        ("spills==0, lds_conflict==0", "alike are lds_conflicts", None, " " * 11 + "^" * 12),
        ("nonsense<3", "no figure 'nonsense'; there are vgprs, sgprs,", None, "^" * 8),
        ("vgprs", "write one of <= < >= > == != behind vgprs", None, "     ^"),
        ("vgprs=3", "write one of <= < >= > == != behind vgprs", None, "     ^"),
        ("vgprs=<3", "write one of", None, "     ^^"),
        ("vgprs<=", "here should be a number", None, " " * 7 + "^"),
        ("vgprs<=many", "here should be a number", None, " " * 7 + "^"),
        ("gemm: <3", "here should be the name of a figure", None, "      ^"),
        ("vgprs<=3 spills==0", "write a comma between conditions", None, " " * 9 + "^" * 9),
        ("vgprs<=4KiB", "KiB is no unit of vgprs: it has no unit", None, " " * 8 + "^^^"),
        ("lds<=4kB", "kB is no unit of lds: it takes KiB or MiB", None, " " * 6 + "^^"),
        ("active_lanes>9 KiB", "it takes %", None, " " * 15 + "^^^"),
        ("vgprs<9\nsgpr<9\nloops<9", "no figure 'sgpr'", "sgpr<9", "^^^^"),
        ("vgprs<9 # sgpr\nloop<9", "no figure 'loop'", "loop<9", "^^^^"),
    ],
)
def test_what_is_no_condition_is_shown(
    text: str, words: str, line: str | None, carets: str
) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_conditions(text)
    said, shown, marks = str(caught.value).split("\n")
    assert words in said
    assert shown == f"  {line or text}"
    assert marks == f"  {carets}"


@pytest.mark.parametrize("text", ["", "  \n", ",,", "# vgprs<9"])
def test_no_condition_is_an_error(text: str) -> None:
    with pytest.raises(ConditionError, match="there is no condition; write one such as"):
        parse_conditions(text)
