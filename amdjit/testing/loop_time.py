"""How long an iteration of a loop takes, by the cycle model."""

from __future__ import annotations

from amdjit.code_object import CodeObject
from amdjit.cycles.static import LoopCycles, loop_cycles
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.machine_code import read_machine_code
from amdjit.target import find_target
from amdjit.testing.parts import Part

__all__ = ["loop_time"]


def loop_time(inspection: Inspection, part: Part, waves: int) -> LoopCycles:
    """Return the cycles of an iteration of a part that is a loop. waves: of each SIMD.

    ValueError if the inspection does not hold its code object's bytes; NoEstimate as
    `amdjit.cycles.static.loop_cycles`.
    """
    if not inspection.code_object:
        raise ValueError(f"{inspection.kernel}: the inspection has no bytes of a code object")
    whole = CodeObject.read(inspection.code_object)
    code = read_machine_code(whole, whole.kernels[inspection.kernel])
    target = find_target(inspection.target)
    assert code is not None
    assert target is not None
    addresses = {one.address for one in part.instructions}
    body = [decoded for _, decoded in code.instructions() if decoded.pc in addresses]
    blocks = {one.block for one in part.instructions}
    header = next(
        inspection.blocks[loop.header].address
        for loop in inspection.loops
        if set(loop.blocks) == blocks
    )
    return loop_cycles(body, target, waves, inspection.wave_size, header=header)
