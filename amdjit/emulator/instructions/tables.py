"""The emitters of a processor family's instructions, by operation.

Each room hands over its own rows. A family's table has the rows of all families, and instead of
some of them its own, where an operation of that name does something else. Instructions that are not
in the table are refused at translation (`refused.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.buffers.access import (
    BUFFER_ACCESS,
    BUFFER_FORMAT_ACCESS,
    buffer_atomic,
)
from amdjit.emulator.instructions.lanes.permute import (
    HALF_WAVE_PERMUTE,
    PERMUTE,
    ROW_SWAPS,
    SINGLE_LANES,
)
from amdjit.emulator.instructions.matrix.cdna.emit import MFMA
from amdjit.emulator.instructions.matrix.cdna.scaled import SCALED_MFMA
from amdjit.emulator.instructions.matrix.dots import DOTS, GFX9_DOTS
from amdjit.emulator.instructions.matrix.wmma import WMMA
from amdjit.emulator.instructions.memory.access import (
    DIRECT_LOADS,
    LOADS_WITH_LDS_BIT,
    MEMORY_ACCESS,
    REGISTER_BLOCKS,
)
from amdjit.emulator.instructions.memory.atomics import ATOMIC_ACCESS, Operation, in_memory
from amdjit.emulator.instructions.memory.lds import LANE_NUMBER_ACCESS, LDS_ACCESS
from amdjit.emulator.instructions.memory.lds_atomics import LDS_ATOMICS, LDS_OPERANDS
from amdjit.emulator.instructions.memory.transposed import LDS_TRANSPOSED, TRANSPOSED_ACCESS
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.scalar.alu import SCALAR_ALU, SCALAR_RELATIVE
from amdjit.emulator.instructions.scalar.barriers import BARRIERS
from amdjit.emulator.instructions.scalar.control import SCALAR_CONTROL
from amdjit.emulator.instructions.scalar.hardware_registers import HARDWARE_REGISTERS
from amdjit.emulator.instructions.scalar.memory import (
    SCALAR_BUFFER_STORES,
    SCALAR_MEMORY,
    SCALAR_STORES,
)
from amdjit.emulator.instructions.scaled.conversions import SCALED
from amdjit.emulator.instructions.vector.carry import VECTOR_CARRY
from amdjit.emulator.instructions.vector.compare import GFX9_COMPARE, VECTOR_COMPARE
from amdjit.emulator.instructions.vector.conversions import GFX9_CONVERSION, VECTOR_CONVERSION
from amdjit.emulator.instructions.vector.division import VECTOR_DIVISION
from amdjit.emulator.instructions.vector.floats import (
    VECTOR_FLOAT,
    VECTOR_MIXED,
    VECTOR_MULTIPLY_ADD,
)
from amdjit.emulator.instructions.vector.fp8 import GFX942_FP8, GFX950_FP8, VECTOR_FP8
from amdjit.emulator.instructions.vector.indexed_moves import INDEX_MODES
from amdjit.emulator.instructions.vector.integers import (
    VECTOR_BIT_TABLES,
    VECTOR_DIFFERENCES,
    VECTOR_INTEGER,
)
from amdjit.emulator.instructions.vector.packed import (
    VECTOR_NARROW_PAIRS,
    VECTOR_PACKED,
    VECTOR_PAIRS,
)
from amdjit.emulator.instructions.vector.relative_moves import VECTOR_ACCUMULATION, VECTOR_RELATIVE
from amdjit.emulator.instructions.vector.transcendental import VECTOR_TRANSCENDENTAL
from amdjit.isa.instruction import Instruction

VECTOR: Mapping[str, Emitter] = {
    **VECTOR_INTEGER,
    **VECTOR_FLOAT,
    **VECTOR_CONVERSION,
    **VECTOR_COMPARE,
    **VECTOR_CARRY,
    **VECTOR_TRANSCENDENTAL,
    **VECTOR_FP8,
    **VECTOR_RELATIVE,
    **VECTOR_PACKED,
    **VECTOR_MIXED,
    **VECTOR_DIVISION,
    **VECTOR_DIFFERENCES,
    **VECTOR_BIT_TABLES,
    **VECTOR_NARROW_PAIRS,
    **VECTOR_ACCUMULATION,
    **INDEX_MODES,
    **VECTOR_MULTIPLY_ADD,
    **VECTOR_PAIRS,
}
# What does something else than on other families.
GFX9_VECTOR: Mapping[str, Emitter] = {**GFX9_COMPARE, **GFX9_CONVERSION}
GFX942_VECTOR: Mapping[str, Emitter] = {**GFX9_VECTOR, **GFX942_FP8}
GFX950_VECTOR: Mapping[str, Emitter] = {**GFX9_VECTOR, **GFX950_FP8}


SCALAR: Mapping[str, Emitter] = {
    **SCALAR_ALU,
    **SCALAR_CONTROL,
    **BARRIERS,
    **SCALAR_MEMORY,
    **HARDWARE_REGISTERS,
    **SCALAR_RELATIVE,
    **SCALAR_STORES,
}


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


MATRIX: Mapping[str, Emitter] = {
    **WMMA,
    **DOTS,
    **MFMA,
    **SCALED_MFMA,
}
# What does something else on gfx9, or is there only.
GFX9_MATRIX: Mapping[str, Emitter] = GFX9_DOTS


CROSS_LANE: Mapping[str, Emitter] = {
    **SINGLE_LANES,
    **PERMUTE,
    **ROW_SWAPS,
}
HALF_WAVE_LANES: Mapping[str, Emitter] = HALF_WAVE_PERMUTE


BUFFERS: Mapping[str, Emitter] = {
    **BUFFER_ACCESS,
    **BUFFER_FORMAT_ACCESS,
    **SCALAR_BUFFER_STORES,
}
# Of processors whose memory has no denormals.
GFX908_BUFFERS: Mapping[str, Emitter] = {
    "buffer_atomic_add_f32": buffer_atomic(Operation("add_flushed_f", 32)),
}


_SHARED: Mapping[str, Emitter] = {
    **SCALAR,
    **VECTOR,
    **SCALED,
    **CROSS_LANE,
    **MEMORY,
    **BUFFERS,
    **MATRIX,
}

_GFX11: Mapping[str, Emitter] = {**_SHARED, **HALF_WAVE_LANES}
# What has the name of another family's operation and does something else.
_GFX9: Mapping[str, Emitter] = {**_SHARED, **GFX9_VECTOR, **GFX9_MATRIX, **GFX9_MEMORY}
_GFX908: Mapping[str, Emitter] = {**_GFX9, **GFX908_MEMORY, **GFX908_BUFFERS}
_TABLES: Mapping[str, Mapping[str, Emitter]] = {
    "gfx12": _SHARED,
    "gfx11": _GFX11,
    "gfx11.5": _GFX11,
    "gfx906": _GFX908,
    "gfx908": _GFX908,
    "gfx90a": _GFX908,
    "gfx942": {**_GFX9, **GFX942_VECTOR},
    "gfx950": {**_GFX9, **GFX950_VECTOR},
}
EMITTERS = _TABLES["gfx12"]


def emitter_of(instruction: Instruction) -> Emitter | None:
    """Return the emitter of an instruction, None if it has none."""
    return emitters_of(instruction.opcode.instruction_set.name).get(
        instruction.opcode.traits.operation
    )


def emitters_of(family: str) -> Mapping[str, Emitter]:
    """Return the emitters of a processor family by operation."""
    return _TABLES[family]
