"""Whether a kernel's work-items wait for each other, so that memory changes between two of its
instructions without it.

LLVM takes the memory of a `noalias` argument for one that only this work-item's instructions
change: it reads a value that it has just stored, across any fence or barrier.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from amdjit.lowering.builder import TextInstruction

__all__ = ["synchronises"]

_ATOMIC = ("atomicrmw", "cmpxchg", "load atomic", "store atomic")
_ORDERINGS = frozenset({"acquire", "release", "acq_rel", "seq_cst"})
# Of intrinsics' names. A barrier of the scheduler is not one of waves.
_WAITS, _IS_NONE = (".barrier", ".gws."), "llvm.amdgcn.sched."


def synchronises(module: ir.Module) -> bool:
    """Return whether a module has a fence, a barrier, an atomic operation that orders others, or
    assembly that may contain one."""
    return any(
        _orders(instruction)
        for function in module.functions
        for block in function.blocks
        for instruction in block.instructions
    )


def _orders(instruction: Any) -> bool:
    if isinstance(instruction, TextInstruction):
        return instruction.opname.startswith("fence") or (
            instruction.opname.startswith(_ATOMIC)
            and not _ORDERINGS.isdisjoint(instruction.tail.split())
        )
    if isinstance(instruction, ir.CallInstr):
        return _waits(instruction.callee)
    # Instructions of llvmlite's own builder, in a user's intrinsic.
    return isinstance(instruction, ir.instructions.Fence) or (
        getattr(instruction, "ordering", None) in _ORDERINGS
    )


def _waits(callee: Any) -> bool:
    if isinstance(callee, ir.InlineAsm):
        return bool(callee.side_effect)
    name: str = callee.name
    return any(part in name for part in _WAITS) and not name.startswith(_IS_NONE)
