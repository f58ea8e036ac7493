"""All emitters by mnemonic. An instruction that is not here is refused at translation."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.buffers.access import BUFFER_ACCESS
from amdjit.emulator.instructions.buffers.formats import BUFFER_FORMAT_ACCESS
from amdjit.emulator.instructions.lanes.cross_lane import CROSS_LANE
from amdjit.emulator.instructions.matrix.emitters import MATRIX
from amdjit.emulator.instructions.memory.access import MEMORY_ACCESS
from amdjit.emulator.instructions.memory.atomics import ATOMIC_ACCESS
from amdjit.emulator.instructions.memory.lds import LDS_ACCESS
from amdjit.emulator.instructions.memory.lds_special import LDS_SPECIAL
from amdjit.emulator.instructions.memory.transposed import TRANSPOSED_ACCESS
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.scalar.alu import SCALAR_ALU
from amdjit.emulator.instructions.scalar.barriers import BARRIERS
from amdjit.emulator.instructions.scalar.control import SCALAR_CONTROL
from amdjit.emulator.instructions.scalar.float_mode import FLOAT_MODE
from amdjit.emulator.instructions.scalar.memory import SCALAR_MEMORY
from amdjit.emulator.instructions.scalar.relative import SCALAR_RELATIVE
from amdjit.emulator.instructions.vector.carry import VECTOR_CARRY
from amdjit.emulator.instructions.vector.compare import VECTOR_COMPARE
from amdjit.emulator.instructions.vector.cube import VECTOR_CUBE
from amdjit.emulator.instructions.vector.differences import VECTOR_DIFFERENCES
from amdjit.emulator.instructions.vector.division import VECTOR_DIVISION
from amdjit.emulator.instructions.vector.floats import VECTOR_FLOAT
from amdjit.emulator.instructions.vector.integers import VECTOR_INTEGER
from amdjit.emulator.instructions.vector.packed import VECTOR_PACKED
from amdjit.emulator.instructions.vector.special import VECTOR_SPECIAL

EMITTERS: Mapping[str, Emitter] = {
    **SCALAR_ALU,
    **SCALAR_CONTROL,
    **BARRIERS,
    **SCALAR_MEMORY,
    **VECTOR_INTEGER,
    **VECTOR_FLOAT,
    **VECTOR_COMPARE,
    **VECTOR_CARRY,
    **MEMORY_ACCESS,
    **LDS_ACCESS,
    **MATRIX,
    **BUFFER_ACCESS,
    **BUFFER_FORMAT_ACCESS,
    **FLOAT_MODE,
    **VECTOR_SPECIAL,
    **VECTOR_PACKED,
    **VECTOR_DIVISION,
    **CROSS_LANE,
    **ATOMIC_ACCESS,
    **LDS_SPECIAL,
    **TRANSPOSED_ACCESS,
    **SCALAR_RELATIVE,
    **VECTOR_DIFFERENCES,
    **VECTOR_CUBE,
}
