"""Every name of amdjit on the page for users of HIP and CUDA exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import amdjit

PAGE = Path(__file__).parents[2] / "docs" / "from_hip.md"
MODULES = (
    "wave",
    "sync",
    "atomic",
    "arithmetic",
    "convert",
    "math",
    "memory",
    "amdgcn",
    "asm",
    "matrix",
    "shared",
)


def test_every_name_of_amdjit_exists() -> None:
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    ours = " ".join("|".join(cells[2:]) for cells in rows)
    found = 0
    for module, name in re.findall(r"`(?:@)?(\w+)\.(\w+)", ours):
        if module == "amdjit":
            assert hasattr(amdjit, name), name
        elif module == "shared":
            assert hasattr(amdjit.shared, name), name
        elif module in MODULES:
            assert hasattr(importlib.import_module(f"amdjit.intrinsics.{module}"), name), (
                f"{module}.{name}"
            )
        found += 1
    assert found > 70
