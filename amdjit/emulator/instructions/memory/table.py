"""The emitters of VGLOBAL, VFLAT, VSCRATCH and DS instructions."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.memory.access import MEMORY_ACCESS
from amdjit.emulator.instructions.memory.addtid import LANE_NUMBER_ACCESS
from amdjit.emulator.instructions.memory.atomics import ATOMIC_ACCESS, Operation, in_memory
from amdjit.emulator.instructions.memory.direct_loads import DIRECT_LOADS, LOADS_WITH_LDS_BIT
from amdjit.emulator.instructions.memory.gfx9_lds import LDS_OPERANDS
from amdjit.emulator.instructions.memory.lds import LDS_ACCESS
from amdjit.emulator.instructions.memory.lds_atomics import LDS_ATOMICS
from amdjit.emulator.instructions.memory.lds_transposed import LDS_TRANSPOSED
from amdjit.emulator.instructions.memory.register_blocks import REGISTER_BLOCKS
from amdjit.emulator.instructions.memory.transposed import TRANSPOSED_ACCESS
from amdjit.emulator.instructions.operation import Emitter

MEMORY: Mapping[str, Emitter] = {
    **MEMORY_ACCESS,
    **LDS_ACCESS,
    **ATOMIC_ACCESS,
    **LDS_ATOMICS,
    **TRANSPOSED_ACCESS,
    **LDS_TRANSPOSED,
    **REGISTER_BLOCKS,
    **LANE_NUMBER_ACCESS,
    **DIRECT_LOADS,
    **LDS_OPERANDS,
}
# What does something else on gfx9, and on those of its processors whose memory has no denormals.
GFX9_MEMORY: Mapping[str, Emitter] = LOADS_WITH_LDS_BIT
GFX908_MEMORY: Mapping[str, Emitter] = {
    **GFX9_MEMORY,
    "global_atomic_add_f32": in_memory(False, Operation("add_flushed_f", 32)),
}
