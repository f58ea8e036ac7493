"""llvm-objdump as the oracle of the decoder's tests and of the table generator."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

OBJDUMP = "llvm-objdump-22"
ASSEMBLER = "llvm-mc-22"
CPU = "gfx1201"
# The processor that the tools are asked about.
PROCESSOR = ContextVar("processor", default=CPU)
# An instruction has at most 12 bytes and a wrong one may hide the next two words: 32 bytes never
# overlap.
SLOT = 32
FILLER = (0xBF800000).to_bytes(4, "little")
# Some encodings crash objdump; a stack trace would only cost time.
_QUIET = {**os.environ, "LLVM_DISABLE_CRASH_REPORT": "1", "LLVM_DISABLE_SYMBOLIZATION": "1"}
# The assembler takes some registers of a class that the operand has not; the disassembler says so
# in a comment.
_OTHER_CLASS = re.compile(r"/\*Invalid register, operand has '\w+' register class\*/")
_LINE = re.compile(r"^\t(.*?)\s*// ([0-9A-F]{8,}): ((?:[0-9A-F]{8}(?: |$))+)")


@dataclass(frozen=True)
class Line:
    """One line of a disassembly: its address, text without trailing blanks, and length in bytes."""

    address: int
    text: str
    size: int

    @property
    def rejected(self) -> bool:
        """True where the disassembler knows no instruction or says that an operand is wrong."""
        return self.text.startswith(".long") or "/*" in self.text or not self.text

    @property
    def of_other_class(self) -> str | None:
        """The text without its comments if they all say that a register has another class, else
        None."""
        text = without_class_comments(self.text)
        return text if text != self.text and "/*" not in text else None


def all_features(features: str) -> str:
    """Return an -mattr string with the default syntax of gfx12, which has no halves of registers,
    unless it names the other one."""
    return features if "real-true16" in features else f"-real-true16,{features}".rstrip(",")


@contextmanager
def asking_about(processor: str) -> Iterator[None]:
    """Ask the tools about another processor inside of the block."""
    token = PROCESSOR.set(processor)
    try:
        yield
    finally:
        PROCESSOR.reset(token)


def without_class_comments(text: str) -> str:
    """Return the text of an instruction without what LLVM says about the classes of its
    registers."""
    return _OTHER_CLASS.sub("", text)


def missing_tools() -> str | None:
    """Return why the oracle cannot run, or None."""
    absent = [tool for tool in (OBJDUMP, ASSEMBLER) if shutil.which(tool) is None]
    return f"{', '.join(absent)} not installed" if absent else None


def parse(listing: str) -> list[Line]:
    """Return the instructions of an objdump listing, in order."""
    lines = []
    for line in listing.splitlines():
        match = _LINE.match(line)
        if match:
            text, address, words = match.groups()
            lines.append(Line(int(address, 16), " ".join(text.split()), 4 * len(words.split())))
    return lines


def disassemble_object(path: Path, features: str = "") -> list[Line]:
    """Return every instruction of an object's .text; `features` is an -mattr string such as
    +real-true16."""
    command = [OBJDUMP, "-d", f"--mcpu={PROCESSOR.get()}", "--section=.text", str(path)]
    command.append(f"--mattr={all_features(features)}")
    listing = subprocess.run(command, capture_output=True, text=True, check=True, env=_QUIET).stdout
    return parse(listing)


def make_object(code: bytes, directory: Path) -> Path:
    """Write an ELF object whose .text is `code` and return its path."""
    (directory / "code.bin").write_bytes(code)
    (directory / "code.s").write_text('.text\n.incbin "code.bin"\n')
    path = directory / "code.o"
    command = [
        ASSEMBLER,
        "-triple=amdgcn-amd-amdhsa",
        f"-mcpu={PROCESSOR.get()}",
        "-filetype=obj",
        "code.s",
        "-o",
        str(path),
    ]
    subprocess.run(command, cwd=directory, check=True)
    return path


def disassemble_each(codes: Iterable[bytes], features: str = "") -> list[Line]:
    """Disassemble each piece of code on its own (in a slot of its own); one Line each, address =
    index."""
    slots = [code + FILLER * ((SLOT - len(code)) // 4) for code in codes]
    lines = _disassemble_slots(slots, features)
    return [Line(index, line.text, line.size) for index, line in enumerate(lines)]


def _disassemble_slots(slots: list[bytes], features: str) -> list[Line]:
    """Return one line for each slot. Some encodings crash objdump: halve until the culprit is
    alone."""
    if not slots:
        return []
    with tempfile.TemporaryDirectory() as directory:
        try:
            lines = disassemble_object(make_object(b"".join(slots), Path(directory)), features)
        except subprocess.CalledProcessError as error:
            if error.returncode >= 0:
                raise
            if len(slots) == 1:
                return [Line(0, "/* the disassembler crashes */", 0)]
            middle = len(slots) // 2
            return _disassemble_slots(slots[:middle], features) + _disassemble_slots(
                slots[middle:], features
            )
    found = {line.address: line for line in lines}
    missing = Line(0, "", 0)
    return [found.get(index * SLOT, missing) for index in range(len(slots))]
