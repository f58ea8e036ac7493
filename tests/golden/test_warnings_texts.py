"""Every warning's text, as users read it."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import amdjit
from tests.golden.golden_files import ROOT, check_golden, load_case, portable

CASES = sorted((Path(__file__).parent / "warnings").glob("*.py"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_warning_has_the_text_beside_it(case: Path, update_golden: bool) -> None:
    module = load_case(case)
    with amdjit.use("emulator:gfx1201"), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        module.run()
    (warning,) = found
    assert warning.category in (amdjit.PerformanceWarning, amdjit.CompileWarning)
    assert warning.filename == str(case)
    text = portable(str(warning.message))
    # How many registers and bytes is the register allocator's choice.
    text = re.sub(r"\b\d+ (VGPRs|bytes)", r"... \1", text)
    assert f"[{case.stem.replace('_', '-')}]" in text
    check_golden(case.with_suffix(".err"), f"{warning.category.__name__}\n{text}", update_golden)


def test_every_documented_warning_has_a_case() -> None:
    page = (ROOT / "docs/language.md").read_text()
    section = re.search(r"^## Warnings\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    assert section is not None
    names = re.findall(r"^\| `([\w-]+)` \|", section[1], re.MULTILINE)
    assert sorted(names) == sorted(case.stem.replace("_", "-") for case in CASES)
