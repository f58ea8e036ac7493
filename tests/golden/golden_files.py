"""Expected texts in files: compared, or rewritten with `pytest --update-golden`."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load_case(file: Path) -> ModuleType:
    """Import a case afresh, under a name of its own."""
    name = f"golden_{file.parent.name}_{file.stem}"
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def portable(text: str) -> str:
    """Reduce paths below the project to the file's name and hide addresses: the same text on every
    machine."""
    text = re.sub(r"0x[0-9a-f]{8,}", "0x...", text)  # an address: another one in every run
    text = re.sub(re.escape(str(ROOT)) + r"[\\/](?:[\w.-]+[\\/])*", "", text)
    return re.sub(
        r"(?m)^  = in .+:\d+:\d+: .*\n", "", text
    )  # lines of the library itself move with every change of it


def check_golden(file: Path, text: str, update: bool) -> None:
    """Compare a text with the one in `file`, or write it there."""
    text = text.rstrip("\n") + "\n"
    if update:
        file.write_text(text, encoding="utf-8")
        return
    assert file.exists(), (
        f"{file.name} is missing: read the text below and accept it with --update-golden\n{text}"
    )
    assert text == file.read_text(encoding="utf-8"), (
        f"{file.name} differs; accept the new text with --update-golden"
    )
