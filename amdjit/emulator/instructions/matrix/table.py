"""The emitters of matrix and dot products."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.matrix.cdna.emit import MFMA
from amdjit.emulator.instructions.matrix.cdna.scaled import SCALED_MFMA
from amdjit.emulator.instructions.matrix.dots import DOTS
from amdjit.emulator.instructions.matrix.gfx9_dots import GFX9_DOTS
from amdjit.emulator.instructions.matrix.wmma import WMMA
from amdjit.emulator.instructions.operation import Emitter

MATRIX: Mapping[str, Emitter] = {
    **WMMA,
    **DOTS,
    **MFMA,
    **SCALED_MFMA,
}
# What does something else on gfx9, or is there only.
GFX9_MATRIX: Mapping[str, Emitter] = GFX9_DOTS
