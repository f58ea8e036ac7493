"""Cut long blocks, so that compile time stays linear in their length.

      %a1 = ...                          %a1 = ...
      ... 1,023 instructions             ... 1,023 instructions
      %a1025 = ...                ->     tail call void @llvm.amdgcn.sched.barrier(i32 0)
                                         %a1025 = ...

LLVM schedules a block without barriers as one region, and parts of that work grow faster than the
region: on wave32 of gfx11 and later, VOPDPairingMutation compares each instruction with all that
follow. The order found for a region of this length is no better than that of its pieces, and values
kept until its end cost registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["LONGEST_REGION", "cut_long_blocks"]

LONGEST_REGION = 1024
"""The most instructions of optimised IR that are scheduled as one region."""

_BARRIER = "void @llvm.amdgcn.sched.barrier(i32"
# Blocks whose author has ordered the instructions are left whole.
_ORDERED = ("@llvm.amdgcn.sched.group.barrier(", "@llvm.amdgcn.iglp.opt(")
# Instructions are indented by two; debug records and the cases of a switch by four.
_INSTRUCTION = re.compile(r"  [^ \]]")


def cut_long_blocks(llvm_text: str) -> str:
    """Return IR, as LLVM prints it, with scheduling barriers in long blocks.

    They become no machine code.
    """
    lines = llvm_text.splitlines(keepends=True)
    if len(lines) <= LONGEST_REGION:
        return llvm_text
    cut: list[str] = []
    for block in _blocks(lines):
        cut.extend(_cut(block))
    if len(cut) == len(lines):
        return llvm_text
    if f"declare {_BARRIER}" not in llvm_text:
        cut.append(f"\ndeclare {_BARRIER} immarg)\n")
    return "".join(cut)


def _blocks(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Split a module into parts, each with the instructions of one block at most."""
    start = 0
    for number, line in enumerate(lines):
        if not line.startswith("  "):
            yield lines[start:number]
            start = number
    yield lines[start:]


def _cut(block: Sequence[str]) -> Iterator[str]:
    whole = len(block) <= LONGEST_REGION or any(name in line for line in block for name in _ORDERED)
    length = 0
    for line in block:
        if _INSTRUCTION.match(line):
            if length >= LONGEST_REGION and not whole and " = phi " not in line:
                yield f"  tail call {_BARRIER} 0)\n"
                length = 0
            length += 1
        yield line
