"""llvm-mc as the judge of what is an instruction: it takes text that the disassembler only
writes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from tests.emulator.decoder.objdump import (
    ASSEMBLER,
    PROCESSOR,
    all_features,
    without_class_comments,
)

_ERROR = re.compile(r"^<stdin>:(\d+):\d+: error", re.MULTILINE)
_LABEL = re.compile(r"^case(\d+):")
_ENCODING = re.compile(r"^\t(.*?)\s*; encoding: \[([0-9a-fx,]+)\]")
_AT_ONCE = 20000


@dataclass(frozen=True)
class Assembled:
    """The assembler's output for a line: its own text for it, and the bytes."""

    text: str
    code: bytes


def assemble_each(texts: Sequence[str], features: str = "") -> list[Assembled | None]:
    """Assemble each line on its own; None where there is an error, or a complaint in the
    assembler's own text.

    That a register has another class is no complaint: the assembler makes the instruction all the
    same.
    """
    results: list[Assembled | None] = []
    for start in range(0, len(texts), _AT_ONCE):
        results += _assemble(texts[start : start + _AT_ONCE], features)
    return results


def _assemble(texts: Sequence[str], features: str) -> list[Assembled | None]:
    source = "".join(f"case{number}:\n{text}\n" for number, text in enumerate(texts))
    command = [
        ASSEMBLER,
        "-triple=amdgcn-amd-amdhsa",
        f"-mcpu={PROCESSOR.get()}",
        f"-mattr={all_features(features)}",
        "-show-encoding",
    ]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    # The case of line n, which follows its label, is n / 2 - 1.
    wrong = {int(line) // 2 - 1 for line in _ERROR.findall(done.stderr)}
    results: list[Assembled | None] = [None] * len(texts)
    number = -1
    for listed_line in done.stdout.splitlines():
        line = without_class_comments(listed_line)
        label, encoding = _LABEL.match(line), _ENCODING.match(line)
        if label:
            number = int(label.group(1))
        elif encoding and number not in wrong and "/*" not in line:
            text, listed = encoding.groups()
            code = bytes(int(byte, 16) for byte in listed.split(","))
            results[number] = Assembled(" ".join(text.split()), code)
    return results
