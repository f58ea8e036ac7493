"""The kinds of rows that the memory check leaves in the reports, in addition to those of faults."""

from __future__ import annotations

from enum import IntEnum

from amdjit.emulator.layout import MEMORY_KINDS

# Accesses of LDS from this many bytes on promise that their address is aligned.
WIDE = 8


class MemoryKind(IntEnum):
    """What is found in addition to wrong addresses."""

    MISALIGNED_LDS = MEMORY_KINDS
