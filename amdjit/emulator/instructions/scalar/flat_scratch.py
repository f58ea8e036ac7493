"""What gfx908's and gfx90a's code puts into FLAT_SCRATCH, where flat instructions find scratch
memory.

Flat instructions of the emulator go to the wave's own scratch memory. So the register must hold its
address: the first instructions of a kernel add the wave's offset to the base (LLVM AMDGPU guide,
"Flat Scratch").
"""

from __future__ import annotations

from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import SCRATCH_BASE, BufferRefusal, Context, FaultKind
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.instruction_set import ScratchSetup
from amdjit.isa.register_numbers import FLAT_SCRATCH_LO

CHECK_SCRATCH = "aj_check_scratch"
_LANES = 64


def check_flat_scratch(frame: Frame, instruction: Instruction) -> None:
    """Make an instruction fault that leaves anything else in FLAT_SCRATCH; its upper dword is
    written last."""
    if instruction.opcode.instruction_set.scratch is not ScratchSetup.BY_CODE:
        return
    target = instruction.operands[0] if instruction.operands else None
    if not isinstance(target, Register) or target.file is not RegisterFile.FLAT_SCRATCH:
        return
    is_whole = target.index + target.dwords == 2
    if is_whole and instruction.opcode.operands[0].written:
        address = frame.registers.scalar_wide(FLAT_SCRATCH_LO)
        frame.native_void(CHECK_SCRATCH, [CONTEXT, frame.sites.add(instruction.pc), address])


def check_scratch_text(attributes: str) -> str:
    """Return the function: a fault unless an address is that of the wave's scratch memory."""
    f = NativeFunction(
        CHECK_SCRATCH, "void", (("ptr", "context"), ("i32", "site"), ("i64", "address"))
    )
    lane_bytes = f.context(Context.SCRATCH_LANE_BYTES)
    distance = f.mul(f.context(Context.WAVE), f.mul(lane_bytes, i64(_LANES)))
    own = f.compare("eq", f.parameter("address"), f.add(i64(SCRATCH_BASE), distance))
    f.branch_if(own, "right", "wrong")
    f.label("wrong")
    kind, reason = i32(FaultKind.BUFFER), i64(BufferRefusal.FLAT_SCRATCH)
    context, site = f.parameter("context"), f.parameter("site")
    f.call_void("aj_fault", [context, kind, site, i64(-1), reason, i32(0)])
    f.branch("right")
    f.label("right")
    f.give()
    return f.text(attributes)
