"""The emitters of instructions that access buffers."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.buffers.access import BUFFER_ACCESS
from amdjit.emulator.instructions.buffers.formats import BUFFER_FORMAT_ACCESS
from amdjit.emulator.instructions.operation import Emitter

BUFFERS: Mapping[str, Emitter] = {
    **BUFFER_ACCESS,
    **BUFFER_FORMAT_ACCESS,
}
