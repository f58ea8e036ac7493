"""LLVM's own readers, to compare with. Each returns plain values; tests skip if the program is
missing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


def run(tool: str, *arguments: str) -> str:
    """Return what a program of LLVM 22 prints; skip the test if this machine has none."""
    program = shutil.which(f"{tool}-22")
    if program is None:
        pytest.skip(f"{tool}-22 is not installed")
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def readelf(path: Path) -> dict[str, Any]:
    """Return llvm-readelf's JSON of one file."""
    options = ("--elf-output-style=JSON", "--headers", "--symbols", "--dyn-syms", "--relocs")
    document: list[dict[str, Any]] = json.loads(run("llvm-readelf", *options, str(path)))
    return document[0]


def note_values(path: Path, key: str) -> list[str]:
    """Return all values of one key of the metadata note, sorted."""
    text = run("llvm-readelf", "--notes", str(path))
    return sorted(value.strip("'") for value in re.findall(rf"{re.escape(key)}: +(\S+)", text))


def descriptor_directives(path: Path) -> dict[str, dict[str, int]]:
    """Return the `.amdhsa_` directives that llvm-objdump makes of each kernel descriptor."""
    kernels: dict[str, dict[str, int]] = {}
    current: dict[str, int] = {}
    for line in run("llvm-objdump", "-D", "-j", ".rodata", str(path)).splitlines():
        words = line.split()
        if words[:1] == [".amdhsa_kernel"]:
            current = kernels.setdefault(words[1], {})
        elif words and words[0].startswith(".amdhsa_"):
            current[words[0].removeprefix(".amdhsa_")] = int(words[1])
    return kernels


def line_rows(path: Path) -> list[tuple[int, int, bool]]:
    """Return (address, line, end of sequence) of every row that llvm-dwarfdump prints."""
    rows = []
    for line in run("llvm-dwarfdump", "--debug-line", str(path)).splitlines():
        words = line.split()
        if words and words[0].startswith("0x") and len(words) >= 6:
            rows.append((int(words[0], 16), int(words[1]), "end_sequence" in words))
    return rows
