"""All emitters by mnemonic. An instruction that is not here is refused at translation."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.translate.atomic_access import ATOMIC_ACCESS
from amdjit.emulator.translate.barriers import BARRIERS
from amdjit.emulator.translate.buffer_access import BUFFER_ACCESS
from amdjit.emulator.translate.buffer_formats import BUFFER_FORMAT_ACCESS
from amdjit.emulator.translate.cross_lane import CROSS_LANE
from amdjit.emulator.translate.float_mode import FLOAT_MODE
from amdjit.emulator.translate.lds_access import LDS_ACCESS
from amdjit.emulator.translate.lds_special import LDS_SPECIAL
from amdjit.emulator.translate.matrix import MATRIX
from amdjit.emulator.translate.memory_access import MEMORY_ACCESS
from amdjit.emulator.translate.operation import Emitter
from amdjit.emulator.translate.scalar_alu import SCALAR_ALU
from amdjit.emulator.translate.scalar_control import SCALAR_CONTROL
from amdjit.emulator.translate.scalar_memory import SCALAR_MEMORY
from amdjit.emulator.translate.scalar_relative import SCALAR_RELATIVE
from amdjit.emulator.translate.transposed_access import TRANSPOSED_ACCESS
from amdjit.emulator.translate.vector_carry import VECTOR_CARRY
from amdjit.emulator.translate.vector_compare import VECTOR_COMPARE
from amdjit.emulator.translate.vector_cube import VECTOR_CUBE
from amdjit.emulator.translate.vector_differences import VECTOR_DIFFERENCES
from amdjit.emulator.translate.vector_division import VECTOR_DIVISION
from amdjit.emulator.translate.vector_float import VECTOR_FLOAT
from amdjit.emulator.translate.vector_integer import VECTOR_INTEGER
from amdjit.emulator.translate.vector_packed import VECTOR_PACKED
from amdjit.emulator.translate.vector_special import VECTOR_SPECIAL

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
