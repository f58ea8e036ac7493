"""Find code that loses spilled SGPRs.

    s_or_b32 exec_lo, exec_lo, s0
    v_writelane_b32 v7, s4, 0     ; for the next iteration; v7 is stored at offset 536
    ...
    s_cbranch_execnz .LBB0_243
    ...
  .LBB0_243:                      ; =>This Inner Loop Header: Depth=1
                                  ; implicit-def: $vgpr9 : SGPR spill to VGPR lane
    v_readlane_b32 s3, v9, 0      ; v9 holds anything: offset 536 is not loaded

LLVM spills SGPRs to the lanes of VGPRs, and defines such a VGPR in the block that dominates all of
its uses (SILowerSGPRSpills.cpp). LLVM 22 does so even if the block is in a loop. The definition has
no instruction, but ends what the register held: what one iteration leaves for the next, as the
masks of lanes that left the loop, is lost as soon as a register allocator gives the VGPR to
something else, or keeps it in memory, as at `opt_level=0`. LLVM's pull request 186348 fixes this by
moving the definition out of the loop.

The comments of assembly text tell where the definitions are. `amdjit.backend.llvm` emits such code
again with SGPRs spilled to memory: about twice the instructions. VGPRs that are defined outside
loops lose nothing, so code with only these is emitted once.
"""

from __future__ import annotations

import re

__all__ = ["loses_spilled_scalars", "may_spill_scalars"]

_FUNCTION = re.compile(r"^define (?![^@\n]*\bamdgpu_kernel\b)", re.MULTILINE)
# The metadata of a kernel: a key of MessagePack, and the number that follows it.
_SPILLS_IN_OBJECT = re.compile(rb"\.sgpr_spill_count[^\0]", re.DOTALL)
_SPILLS_IN_TEXT = re.compile(r"\.sgpr_spill_count: +[1-9]")
_BLOCK = re.compile(r"(?:\.LBB\d+_|; %bb\.)\d+:")
_IN_LOOP = re.compile(r";\s.*\b(?:Loop Header|in Loop):? ")
_LANES_DEFINED = re.compile(r";\s+implicit-def: \$vgpr\d+ : SGPR spill to VGPR lane")


def may_spill_scalars(llvm_text: str, emitted: bytes | str) -> bool:
    """Return whether a kernel, or a function that is called, may spill SGPRs.

    emitted: object or assembly text, whose metadata tell it of kernels alone.
    """
    if _FUNCTION.search(llvm_text) is not None:
        return True
    if isinstance(emitted, bytes):
        return _SPILLS_IN_OBJECT.search(emitted) is not None
    return _SPILLS_IN_TEXT.search(emitted) is not None


def loses_spilled_scalars(assembly: str) -> bool:
    """Return whether a VGPR for spilled SGPRs is defined in a loop. assembly: with comments."""
    in_loop = False
    for line in assembly.splitlines():
        if _BLOCK.match(line):
            in_loop = False
        in_loop |= _IN_LOOP.search(line) is not None
        if in_loop and _LANES_DEFINED.search(line):
            return True
    return False
