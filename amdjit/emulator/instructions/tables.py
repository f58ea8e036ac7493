"""The emitters of a processor family's instructions, by mnemonic.

Each room hands over its own rows; another family is another table, composed of the same rows and
its own. Instructions that are not in the table are refused at translation (`refused.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.buffers.table import BUFFERS
from amdjit.emulator.instructions.lanes.table import CROSS_LANE
from amdjit.emulator.instructions.matrix.table import MATRIX
from amdjit.emulator.instructions.memory.table import MEMORY
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.scalar.table import SCALAR
from amdjit.emulator.instructions.vector.table import VECTOR

EMITTERS: Mapping[str, Emitter] = {
    **SCALAR,
    **VECTOR,
    **CROSS_LANE,
    **MEMORY,
    **BUFFERS,
    **MATRIX,
}
