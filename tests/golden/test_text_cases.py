"""Short kernels become the lines of IR and machine code that stand beside them.

llvm: the IR that lowering writes. passes: the IR after the optimiser and the backend's own passes.
isa: the machine code. listing: the same as `asm` shows it, with the source's lines.
`--update-golden` rewrites the lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden.golden_files import load_case
from tests.golden.text_cases import Case, Mismatch, match, new_text, read_cases

HERE = Path(__file__).parent
_ABOUT_THE_FILE = re.compile(r"; |target |source_filename|!\d+ = (distinct )?!DI")
# Hints to the scheduler, which say nothing about the code's meaning.
_HINTS = ("s_delay_alu", "s_clause", "s_nop")


def ir_lines(text: str) -> list[str]:
    """Return lines without their places in the source, and names without their quotes."""
    text = re.sub(r",? !(?:dbg|range|amdgpu\.noclobber|noundef) !\d+", "", text)
    text = re.sub(r'([%@])"([-\w.$]+)"', r"\1\2", text)
    lines = (line.strip().replace(" ,", ",") for line in text.splitlines())
    return [line for line in lines if line and not _ABOUT_THE_FILE.match(line)]


def machine_lines(text: str) -> list[str]:
    """Return instructions, labels and directives, without comments."""
    lines = (line.split(";")[0].strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(_HINTS)]


TEXTS: dict[str, Callable[[Any], list[str]]] = {
    "llvm": lambda compiled: ir_lines(compiled.llvm),
    "passes": lambda compiled: ir_lines(compiled.optimized_llvm),
    "isa": lambda compiled: machine_lines(compiled.asm_full),
    "listing": lambda compiled: compiled.asm.splitlines(),
}
CASES = [
    pytest.param(case, id=f"{folder}-{case}")
    for folder in TEXTS
    for file in sorted((HERE / folder).glob("*.py"))
    for case in read_cases(file)
]


@pytest.mark.parametrize("case", CASES)
def test_kernel_becomes_its_lines(case: Case, update_golden: bool) -> None:
    kernel = getattr(load_case(case.file), case.kernel)
    lines = TEXTS[case.file.parent.name](kernel.compile(target="gfx1201"))
    for _ in range(len(case.checks) * update_golden):
        try:
            match(lines, case.checks)
        except Mismatch as mismatch:
            text = new_text(mismatch)
            if text is None:
                raise
            case = rewritten(case, mismatch, text)
    match(lines, case.checks)


def rewritten(case: Case, mismatch: Mismatch, text: str) -> Case:
    """Write the new text of one expected line, and return the case that the file then holds."""
    lines = case.file.read_text(encoding="utf-8").splitlines(keepends=True)
    line = lines[mismatch.check.line - 1]
    lines[mismatch.check.line - 1] = line[: line.index(":") + 1] + f" {text}\n"
    case.file.write_text("".join(lines), encoding="utf-8")
    return next(each for each in read_cases(case.file) if each.kernel == case.kernel)


@pytest.mark.parametrize("folder", TEXTS)
def test_every_file_of_a_folder_holds_cases(folder: str) -> None:
    files = sorted((HERE / folder).glob("*"))
    assert files
    assert all(list(read_cases(file)) for file in files if file.is_file())
