"""The emitters of SALU and SMEM instructions."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.scalar.alu import SCALAR_ALU
from amdjit.emulator.instructions.scalar.barriers import BARRIERS
from amdjit.emulator.instructions.scalar.control import SCALAR_CONTROL
from amdjit.emulator.instructions.scalar.hardware_registers import HARDWARE_REGISTERS
from amdjit.emulator.instructions.scalar.memory import SCALAR_MEMORY
from amdjit.emulator.instructions.scalar.relative_moves import SCALAR_RELATIVE
from amdjit.emulator.instructions.scalar.stores import SCALAR_STORES

SCALAR: Mapping[str, Emitter] = {
    **SCALAR_ALU,
    **SCALAR_CONTROL,
    **BARRIERS,
    **SCALAR_MEMORY,
    **HARDWARE_REGISTERS,
    **SCALAR_RELATIVE,
    **SCALAR_STORES,
}
