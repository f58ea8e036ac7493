"""Keep a scalar load of 16 bits as narrow as it is.

    %size = load i16, ptr addrspace(4) %p, align 4
->
    %size = load i16, ptr addrspace(4) %p, align 2

LLVM's passes find out that the size of a workgroup lies at a multiple of 4 bytes. Its instruction
selection then loads 32 bits and cuts off half of them, as processors before gfx12 need it; gfx12
loads 16 bits directly (RDNA4 ISA, "S_LOAD_U16").
"""

from __future__ import annotations

import re

from amdjit.target import Target

__all__ = ["keep_narrow_loads"]

_CONSTANT_I16 = re.compile(r"(= load i16, ptr addrspace\(4\) [^,\n]+, align )(?:4|8|16)\b")


def keep_narrow_loads(llvm_text: str, target: Target) -> str:
    """Return optimised IR in which a 16-bit load promises no more alignment than it needs.

    Several such loads are left alone: LLVM loads neighbours as one 32-bit value, for which it needs
    the alignment.
    """
    if target.isa < (12, 0, 0) or llvm_text.count("= load i16, ptr addrspace(4)") != 1:
        return llvm_text
    return _CONSTANT_I16.sub(r"\g<1>2", llvm_text)
