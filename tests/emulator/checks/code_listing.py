"""The instructions of a code object with their addresses, and the object without one of its
waits."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

from amdjit.code_object import CodeObject
from amdjit.emulator.checks.waits.code_object import find_missing_waits
from tests.emulator.checks.wait_model import Step
from tests.emulator.decoder.objdump import disassemble_object

NOTHING = struct.pack("<I", 0xBF800000)


def listing(code: bytes) -> dict[int, Step]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "code.co")
        path.write_bytes(code)
        return {line.address: Step(line.text, line.size) for line in disassemble_object(path)}


def without(code: bytes, address: int) -> bytes:
    """Put s_nop over the instruction at `address`."""
    for segment in CodeObject.read(code).segments:
        if (
            segment.address <= address < segment.end
            and segment.data[address - segment.address :][:4] in code
        ):
            start = code.index(segment.data[:256]) + address - segment.address
            return code[:start] + NOTHING + code[start + 4 :]
    raise AssertionError(hex(address))


def found_in(code: bytes) -> set[int]:
    return {found.wait.pc for found in find_missing_waits(code)}
