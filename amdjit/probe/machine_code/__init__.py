"""Kernels written instruction by instruction: `isa/encoding` writes the bits, without an assembler.

Other modules use `Program`, which also inserts the waits, since no compiler does. `kernel_object`
makes the code object.
"""

from __future__ import annotations

from amdjit.isa.encoding.operands import (
    EXEC,
    EXEC_HI,
    EXEC_LO,
    M0,
    NOTHING,
    OFF,
    SCC,
    VCC,
    VCC_HI,
    VCC_LO,
    a,
    s,
    ttmp,
    v,
)
from amdjit.isa.errors import EncodingError
from amdjit.isa.instruction import Dpp, Sdwa
from amdjit.probe.machine_code.kernel_object import Mode
from amdjit.probe.machine_code.program import GROUP, INPUT, OUTPUT, PLACE, Program

__all__ = [
    "EXEC",
    "EXEC_HI",
    "EXEC_LO",
    "GROUP",
    "INPUT",
    "M0",
    "NOTHING",
    "OFF",
    "OUTPUT",
    "PLACE",
    "SCC",
    "VCC",
    "VCC_HI",
    "VCC_LO",
    "Dpp",
    "EncodingError",
    "Mode",
    "Program",
    "Sdwa",
    "a",
    "s",
    "ttmp",
    "v",
]
