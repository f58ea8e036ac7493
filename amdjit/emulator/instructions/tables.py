"""The emitters of a processor family's instructions, by operation.

Each room hands over its own rows. A family's table has the rows of all families, and instead of
some of them its own, where an operation of that name does something else. Instructions that are not
in the table are refused at translation (`refused.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.buffers.table import BUFFERS, GFX908_BUFFERS
from amdjit.emulator.instructions.lanes.table import CROSS_LANE, HALF_WAVE_LANES
from amdjit.emulator.instructions.matrix.table import GFX9_MATRIX, MATRIX
from amdjit.emulator.instructions.memory.table import GFX9_MEMORY, GFX908_MEMORY, MEMORY
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.scalar.table import SCALAR
from amdjit.emulator.instructions.scaled.conversions import SCALED
from amdjit.emulator.instructions.vector.table import (
    GFX9_VECTOR,
    GFX942_VECTOR,
    GFX950_VECTOR,
    VECTOR,
)
from amdjit.isa.instruction import Instruction

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
