"""Waits after which any instruction may follow any other.

A compiler inserts the wait states that the hardware does not; here nobody does. Rather than the
rules of each pair of instructions, `settling` satisfies all of them at once:

- Memory: every counter is waited for down to 0, so that results are in registers, and registers
  that were data or addresses may be written.
- RDNA 3 and 4: S_WAIT_ALU 0 (S_WAITCNT_DEPCTR 0) waits for the VALU's and SALU's results in VGPRs,
  SGPRs, VCC and EXEC, and for reads that are under way, which covers the hazards of LLVM's
  GCNHazardRecognizer that it fixes with this instruction: VALU reads of SGPRs that the SALU
  rewrites, masks, transcendental results (gfx11), partial forwarding (gfx11), LDS-direct loads.
  S_WAIT_IDLE waits for everything else. V_NOP stands between matrix products, and between
  V_CMPX and V_PERMLANE, where those need a VALU instruction.
- CDNA: rules are in wait states (CDNA 3 ISA document, 4.5 "Manually Inserted Wait States"; LLVM's
  GCNHazardRecognizer). The longest is for the result of a matrix product of 16 passes, at most 21;
  others, such as a VALU's write of an SGPR before VMEM (5), of EXEC before DPP (5), of VCC before
  V_DIV_FMAS (4), or of a lane number before V_READLANE (4), are shorter. Two S_NOP 15 are 32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amdjit.isa.instruction_set import InstructionSet
from amdjit.probe.machine_code.operands import NOTHING

__all__ = ["settling"]

_LONGEST_NOP = 15
_GFX12 = (
    ("s_wait_loadcnt_dscnt", 0),
    ("s_wait_storecnt_dscnt", 0),
    ("s_wait_kmcnt", 0),
    ("s_wait_expcnt", 0),
    ("s_wait_alu", 0),
    ("s_wait_idle",),
    ("v_nop",),
    ("s_nop", _LONGEST_NOP),
)
_GFX11 = (
    ("s_waitcnt", 0),
    ("s_waitcnt_vscnt", NOTHING, 0),
    ("s_waitcnt_depctr", 0),
    ("s_wait_idle",),
    ("v_nop",),
    ("s_nop", _LONGEST_NOP),
)
_GFX9 = (("s_waitcnt", 0), ("s_nop", _LONGEST_NOP), ("s_nop", _LONGEST_NOP))


def settling(sets: InstructionSet) -> Sequence[tuple[Any, ...]]:
    """Return the instructions, each a mnemonic and its operands."""
    if sets.family == "gfx9":
        return _GFX9
    return _GFX12 if sets.family == "gfx12" else _GFX11
