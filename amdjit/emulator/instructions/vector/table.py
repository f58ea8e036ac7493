"""The emitters of VALU instructions that compute in each lane."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.vector.absolute_differences import VECTOR_DIFFERENCES
from amdjit.emulator.instructions.vector.accumulation import VECTOR_ACCUMULATION
from amdjit.emulator.instructions.vector.bit_tables import VECTOR_BIT_TABLES
from amdjit.emulator.instructions.vector.carry import VECTOR_CARRY
from amdjit.emulator.instructions.vector.compare import GFX9_COMPARE, VECTOR_COMPARE
from amdjit.emulator.instructions.vector.conversions import VECTOR_CONVERSION
from amdjit.emulator.instructions.vector.division import VECTOR_DIVISION
from amdjit.emulator.instructions.vector.floats import VECTOR_FLOAT
from amdjit.emulator.instructions.vector.fp8 import VECTOR_FP8
from amdjit.emulator.instructions.vector.gfx9_conversions import GFX9_CONVERSION
from amdjit.emulator.instructions.vector.gfx9_fp8 import GFX942_FP8, GFX950_FP8
from amdjit.emulator.instructions.vector.gfx9_multiply_add import VECTOR_MULTIPLY_ADD
from amdjit.emulator.instructions.vector.gfx9_pairs import VECTOR_PAIRS
from amdjit.emulator.instructions.vector.graphics import VECTOR_GRAPHICS
from amdjit.emulator.instructions.vector.indexed_moves import INDEX_MODES
from amdjit.emulator.instructions.vector.integers import VECTOR_INTEGER
from amdjit.emulator.instructions.vector.mixed_precision import VECTOR_MIXED
from amdjit.emulator.instructions.vector.narrow_pairs import VECTOR_NARROW_PAIRS
from amdjit.emulator.instructions.vector.packed import VECTOR_PACKED
from amdjit.emulator.instructions.vector.relative_moves import VECTOR_RELATIVE
from amdjit.emulator.instructions.vector.transcendental import VECTOR_TRANSCENDENTAL

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
    **VECTOR_GRAPHICS,
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
