"""The memory that memory instructions access: each lane has a cell, which is filled before the
instruction and read back after it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from amdjit.isa.instruction import Register
from amdjit.probe.machine_code import OUTPUT, PLACE, Program, s, v

__all__ = ["AREA_DWORDS", "CONTENT", "FLAT", "GLOBAL", "LDS_PLACE", "READ_BACK", "SCRATCH", "Cells",
           "Memory"]  # fmt: skip

AREA_DWORDS = 32
"""Dwords of each work-item at the beginning of the output, where the cells in global memory are."""
CONTENT = v(136)
"""The first VGPR of the contents that cells have before the instruction."""
READ_BACK = v(168)
"""The first VGPR of the contents that they have after it."""
LDS_PLACE, GLOBAL, SCRATCH, FLAT = v(215), v(216), v(217), v(218, 2)
"""VGPRs with the address of a lane's cell: in LDS, relative to the output, in scratch, and flat."""
_QUAD = 4


class Memory(Enum):
    """The memory that cells are in."""

    LDS = "LDS"
    GLOBAL = "global"
    SCRATCH = "scratch"


@dataclass(frozen=True)
class Cells:
    """A cell for each lane."""

    memory: Memory
    dwords: int = 8
    """The size of a cell."""
    shift: int = 5
    """The base-2 logarithm of the distance between the addresses of neighbouring lanes, in bytes.
    The distance is smaller than a cell where lanes share cells."""

    def fill(self, program: Program) -> None:
        """Fill all cells from VGPRs."""
        self._places(program, (4 * self.dwords).bit_length() - 1)
        for first in range(0, self.dwords, _QUAD):
            self._move(program, "store", v(CONTENT.index + first, _QUAD), 4 * first)
        program.drain()
        self._places(program, self.shift)

    def read(self, program: Program) -> None:
        """Read all cells back into VGPRs."""
        self._places(program, (4 * self.dwords).bit_length() - 1)
        for first in range(0, self.dwords, _QUAD):
            self._move(program, "load", v(READ_BACK.index + first, _QUAD), 4 * first)
        program.drain()

    def _move(self, program: Program, verb: str, data: Register, at: int) -> None:
        stores = verb == "store"
        if self.memory is Memory.LDS:
            operands = (LDS_PLACE, data) if stores else (data, LDS_PLACE)
            program.add(f"ds_{verb}_b128", *operands, offset=at)
            return
        address = GLOBAL if self.memory is Memory.GLOBAL else SCRATCH
        base = OUTPUT if self.memory is Memory.GLOBAL else None
        operands = (address, data) if stores else (data, address)
        name = "global" if self.memory is Memory.GLOBAL else "scratch"
        program.add(f"{name}_{verb}_b128", *operands, base, offset=at)

    def _places(self, program: Program, shift: int) -> None:
        """Compute each lane's addresses inside the area of its own wave. Otherwise, cells of
        another size would overlap those of other waves, which may run at the same time."""
        program.drain()
        program.add("v_lshlrev_b32_e32", LDS_PLACE, shift, v(0))
        program.safe("v_lshlrev_b32_e32", GLOBAL, 2, v(0))
        program.safe("v_sub_nc_u32_e32", GLOBAL, PLACE, GLOBAL)
        program.safe("v_lshlrev_b32_e32", GLOBAL, AREA_DWORDS.bit_length() - 1, GLOBAL)
        program.safe("v_add_nc_u32_e32", GLOBAL, GLOBAL, LDS_PLACE)
        program.add("v_mov_b32_e32", SCRATCH, 0)
        low, high = v(FLAT.index), v(FLAT.index + 1)
        program.add("v_mov_b32_e32", high, s(OUTPUT.index + 1))
        program.drain()
        program.add("v_add_co_u32", low, program.vcc, s(OUTPUT.index), GLOBAL)
        program.drain()
        program.add("v_add_co_ci_u32", high, program.vcc, 0, high, program.vcc)
        program.drain()
