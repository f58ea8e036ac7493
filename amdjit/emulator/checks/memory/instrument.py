"""The memory check's part of translated code: the alignment of wide accesses of LDS."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from amdjit.emulator.checks.report_call import first_lane, report
from amdjit.emulator.host.builder import constant
from amdjit.emulator.layout import MEMORY_KINDS
from amdjit.emulator.wave.frame import Frame, Instrument, MemoryAccess
from amdjit.isa.instruction import Instruction


class AlignmentInstrument(Instrument):
    """Compares the addresses of wide accesses of LDS with their size.

    Nothing else of the memory check needs code of its own.
    """

    name: ClassVar[str] = "memory"

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Report the first lane whose address is not a multiple of what the instruction reads or
        writes at a time.

        The hardware takes any byte address: amdhsa has SH_MEM_CONFIG.alignment_mode == UNALIGNED
        (LLVM AMDGPU guide, "Memory Model gfx12"), except for atomics, which always fault. But
        amdjit's `load` and `store` of vectors promise LLVM that they are aligned, and LLVM may
        compute with a broken promise: only these are checked.
        """
        if access.space != "l" or access.element < WIDE:
            return
        b = frame.builder
        address = b.add(access.address[0], b.splat(access.address[1]))
        low = b.mask(address, 3 if access.element == WIDE else 4)
        odd = b.compare("ne", low, b.const(address, 0))
        bad = b.and_(b.mask_bits(odd), access.lanes)
        wrong = b.compare("ne", bad, constant("i32", 0))
        with b.if_(wrong):
            lane = first_lane(b, bad)
            place = b.resize(b.extract(address, lane), 64)
            kind = MemoryKind.MISALIGNED_LDS
            report(frame, instruction, kind=kind, lane=lane, address=place, size=access.element)


# The kinds of rows that the memory check leaves in the reports, in addition to those of faults.

# Accesses of LDS from this many bytes on promise that their address is aligned.
WIDE = 8


class MemoryKind(IntEnum):
    """What is found in addition to wrong addresses."""

    MISALIGNED_LDS = MEMORY_KINDS
