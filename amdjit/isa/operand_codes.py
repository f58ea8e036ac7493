"""What the numbers in fields of operands stand for, in each processor family.

Sources: RDNA 4 ISA document, section 15.3, tables of SSRC, SRC and SDST codes; CDNA 3 ISA document,
"Operand field definitions".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from amdjit.late_methods import dataclass

# Source codes that do not stand for an operand: those of a word that follows the instruction.
LITERAL = 255
DPP16 = 250
SDWA = 249
DPP8 = 233
DPP8_FETCH_INACTIVE = 234

SCC = 253
TTMP = 108
TTMPS = 16
VGPR_BASE = 256
VGPRS = 256
LDS_DIRECT = 254
# Sources that have one dword only.
NARROW_SOURCES = (231, LDS_DIRECT)


class RegisterFile(Enum):
    """Where a register operand lives. In VCC, EXEC, FLAT_SCRATCH and XNACK_MASK, index 0 is the
    low dword and 1 the high one."""

    SGPR = "s"
    VGPR = "v"
    AGPR = "a"
    TTMP = "ttmp"
    VCC = "vcc"
    EXEC = "exec"
    M0 = "m0"
    NULL = "null"
    SCC = "scc"
    FLAT_SCRATCH = "flat_scratch"
    XNACK_MASK = "xnack_mask"


@dataclass(frozen=True, slots=True, eq=False)
class OperandCodes:
    """The codes of one family's scalar operands, and how its groups of VGPRs lie."""

    # How many SGPRs there are; they have the codes from 0 on.
    sgprs: int
    # The code of the low dword of each file of two.
    pairs: Mapping[int, RegisterFile]
    m0: int
    # The code that reads as 0 and takes any result, None where there is none.
    null: int | None
    # What the field of a scalar address holds if there is none.
    no_address: int
    # Read-only sources other than registers and constants.
    special: Mapping[int, str]
    # Whether groups of VGPRs start at an even one.
    aligned: bool = False

    def first_code(self, file: RegisterFile) -> int | None:
        """Return the code of a scalar file's first register, None if there is no such file."""
        fixed = {
            RegisterFile.SGPR: 0,
            RegisterFile.TTMP: TTMP,
            RegisterFile.M0: self.m0,
            RegisterFile.NULL: self.null,
            RegisterFile.SCC: SCC,
        }
        return fixed.get(file, {named: code for code, named in self.pairs.items()}.get(file))


_EVERYWHERE = {
    235: "src_shared_base",
    236: "src_shared_limit",
    237: "src_private_base",
    238: "src_private_limit",
    239: "src_pops_exiting_wave_id",
    251: "src_vccz",
    252: "src_execz",
}
NULL = 124
# What a family has from gfx11 on.
GFX11_CODES = OperandCodes(
    sgprs=106,
    pairs={106: RegisterFile.VCC, 126: RegisterFile.EXEC},
    m0=125,
    null=NULL,
    no_address=NULL,
    special={
        230: "src_flat_scratch_base_lo",
        231: "src_flat_scratch_base_hi",
        **_EVERYWHERE,
    },
)
# M0 has the code that is null later, and FLAT_SCRATCH and XNACK_MASK lie above s101.
GFX9_CODES = OperandCodes(
    sgprs=102,
    pairs={
        102: RegisterFile.FLAT_SCRATCH,
        104: RegisterFile.XNACK_MASK,
        106: RegisterFile.VCC,
        126: RegisterFile.EXEC,
    },
    m0=124,
    null=None,
    no_address=127,
    special={**_EVERYWHERE, LDS_DIRECT: "src_lds_direct"},
)
# From gfx90a on, groups of VGPRs are aligned, and there is no src_lds_direct.
GFX90A_CODES = replace(GFX9_CODES, special=_EVERYWHERE, aligned=True)
