"""The emitters of instructions that access buffers."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.buffers.access import BUFFER_ACCESS, buffer_atomic
from amdjit.emulator.instructions.buffers.formats import BUFFER_FORMAT_ACCESS
from amdjit.emulator.instructions.buffers.scalar_stores import SCALAR_BUFFER_STORES
from amdjit.emulator.instructions.memory.atomics import Operation
from amdjit.emulator.instructions.operation import Emitter

BUFFERS: Mapping[str, Emitter] = {
    **BUFFER_ACCESS,
    **BUFFER_FORMAT_ACCESS,
    **SCALAR_BUFFER_STORES,
}
# Of processors whose memory has no denormals.
GFX908_BUFFERS: Mapping[str, Emitter] = {
    "buffer_atomic_add_f32": buffer_atomic(Operation("add_flushed_f", 32)),
}
