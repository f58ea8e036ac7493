"""`gate` gives one outcome for each kernel and condition, and its assertion shows the code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from amdjit.diagnostics import AmdjitError
from amdjit.testing import gate, isa
from tests.testing.measured_kernels import OBJECTS, inspected, launched

SUM, SOFTMAX = "main_dispatch_0_reduction_3500_f32", "softmax"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("iree_sum", "triton_softmax"):
        shutil.copy(OBJECTS / f"{name}.co", tmp_path)
    return tmp_path


def test_conditions_are_about_all_kernels_or_those_that_they_name(folder: Path) -> None:
    found = gate(folder, "vgprs<=40, softmax: sgprs>1, main_*: spills==0")
    assert [(one.kernel, one.figure) for one in found] == [
        (SUM, "vgprs"),
        (SUM, "spills"),
        (SOFTMAX, "vgprs"),
        (SOFTMAX, "sgprs"),
    ]
    values = {one.kernel: one.value for one in found if one.figure == "vgprs"}
    for kernel, name in ((SUM, "iree_sum"), (SOFTMAX, "triton_softmax")):
        assert values[kernel] == inspected(name).vgprs


def test_a_pattern_chooses_kernels(folder: Path) -> None:
    assert {one.kernel for one in gate(folder, "vgprs<=40", kernel="soft*")} == {SOFTMAX}


@pytest.mark.parametrize(
    ("conditions", "kernel", "words"),
    [
        ("gemm: vgprs<9", "*", f"there is no kernel gemm, but {SUM}, {SOFTMAX}"),
        ("vgprs<9", "gemm", f"there is no kernel gemm, but {SUM}, {SOFTMAX}"),
        ("softmax: vgprs<9", "main*", f"there is no kernel softmax, but {SUM}"),
    ],
)
def test_kernels_that_are_not_there_pass_nothing(
    folder: Path, conditions: str, kernel: str, words: str
) -> None:
    with pytest.raises(AmdjitError, match=f"^{words}$"):
        gate(folder, conditions, kernel)


def test_an_outcome_says_figure_value_and_bound() -> None:
    (whole, part) = gate(launched(), "requested_bytes<=2_500, active_lanes>=99.5")
    assert str(whole) == "requested_bytes 2,272 <= 2,500"
    assert str(part) == "active_lanes 85 % >= 99.500 %"
    assert whole.title == "uneven for gfx1201; launch: grid 2, block 32 x 2"
    assert (whole.cause, whole.file, whole.line) == ("", None, None)


def test_the_assertion_holds_or_shows_the_code() -> None:
    code = isa(launched().launches[0].inspection)
    assert code.holds("vgprs<=200, spills==0") is code
    with pytest.raises(AssertionError) as caught:
        code.holds("vgprs<=200, barrier_instructions==0, lds<1KiB")
    text = str(caught.value)
    assert "uneven (gfx1201): not barrier_instructions 2 == 0 (2 are of this line); not lds" in text
    assert "vgprs" not in text
    marked = [line for line in text.splitlines() if line.startswith("  >")]
    assert [line for line in marked if "s_barrier" in line]
    assert all("measured_kernels.py" in line for line in marked)
