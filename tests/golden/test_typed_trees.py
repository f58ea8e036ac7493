"""The typed tree of kernels that cover the language: what the front end makes of Python, as
text."""

from __future__ import annotations

from pathlib import Path

import pytest

from amdjit import f32, i64
from tests.golden.golden_files import check_golden, load_case, portable

CASES = sorted((Path(__file__).parent / "trees").glob("*.py"))
# Arguments of kernels that are not annotated with types alone.
ARGUMENTS = {"constants": (f32[:], 3, (4, 2.0), i64)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_kernel_has_the_typed_tree_beside_it(case: Path, update_golden: bool) -> None:
    kernel = getattr(load_case(case), case.stem)
    text = kernel.compile(*ARGUMENTS.get(case.stem, ()), target="gfx1201").typed_tree
    check_golden(case.with_suffix(".tree"), _own_functions(portable(text), case), update_golden)


def _own_functions(text: str, case: Path) -> str:
    """Leave out amdjit's own device functions: their lines move with their files."""
    functions = text.split("\n\n")
    return "\n\n".join(function for function in functions if function.startswith(f"# {case.name}"))


def test_no_tree_is_left_without_its_case() -> None:
    trees = {tree.stem for tree in (Path(__file__).parent / "trees").glob("*.tree")}
    assert trees == {case.stem for case in CASES}
