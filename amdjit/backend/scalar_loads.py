"""A load of 16 bits from constant memory, which gfx12 does at once, kept as it is.

LLVM's passes find out that a workgroup's size lies at a multiple of 4 bytes, and its instruction
selection then reads 32 bits and cuts off half of them, as older processors need it (RDNA4 ISA,
"S_LOAD_U16", is new).
"""

from __future__ import annotations

import re

from amdjit.target import Target

__all__ = ["keep_narrow_loads"]

_CONSTANT_I16 = re.compile(r"(= load i16, ptr addrspace\(4\) [^,\n]+, align )(?:4|8|16)\b")


def keep_narrow_loads(llvm_text: str, target: Target) -> str:
    """Return optimised IR in which a 16-bit load promises no more than the alignment that it needs.

    Where there are several, LLVM reads neighbours as one 32-bit value, and needs the alignment for
    that.
    """
    if target.isa < (12, 0, 0) or llvm_text.count("= load i16, ptr addrspace(4)") != 1:
        return llvm_text
    return _CONSTANT_I16.sub(r"\g<1>2", llvm_text)
