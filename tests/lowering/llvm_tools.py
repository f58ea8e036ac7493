"""Run LLVM's tools on lowered IR in separate processes, since LLVM aborts on many mistakes."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

requires_llvm = pytest.mark.skipif(
    shutil.which("opt-22") is None or shutil.which("llc-22") is None,
    reason="needs opt-22 and llc-22",
)


def verified(text: str) -> None:
    """Fail with LLVM's message if the module is not valid."""
    _run(["opt-22", "-passes=verify", "-disable-output"], text)


def optimised(text: str) -> str:
    """Return the module after -O3."""
    return _run(["opt-22", "-O3", "-mcpu=gfx1201", "-S"], text)


def assembly(text: str, opt: str = "-O3") -> str:
    """Return the machine code of the module, instructions and labels only."""
    prepared = _run(["opt-22", opt, "-mcpu=gfx1201", "-S"], text)
    full = _run(["llc-22", opt, "-mcpu=gfx1201", "-o", "-"], prepared)
    code = full.split("\t.section\t.rodata")[0]
    lines = [line.split(";")[0].rstrip() for line in code.splitlines()]
    return "\n".join(line for line in lines if re.match(r"\t[a-z]|[.\w$]+:", line))


def instructions(assembly_text: str) -> list[str]:
    """Return the instructions without the scheduler's hints."""
    mnemonics = [line.strip() for line in assembly_text.splitlines() if line.startswith("\t")]
    return [text for text in mnemonics if not text.startswith(("s_delay_alu", "s_clause", "s_nop"))]


def _run(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}: {done.stderr[:3000]}"
    return done.stdout
