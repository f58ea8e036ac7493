"""Arithmetic that Python has no operator for.

On the host, `reference` computes what an instruction of the vector unit returns, and `certainty`
says how well that is known; `amdjit.arithmetic` is this module.

Sources: LLVM language reference, "Standard C/C++ Library Intrinsics" and "Bit Manipulation
Intrinsics".
"""

from __future__ import annotations

from amdjit.intrinsics.models.vector_arithmetic import certainty, reference
from amdjit.intrinsics.numbers.dots import dot2, dot2_narrow, dot4, dot4_float, dot8
from amdjit.intrinsics.numbers.floats import fma, fma_mix, med3
from amdjit.intrinsics.numbers.integers import (
    add_saturating,
    bfe,
    bit_reverse,
    clz,
    ctz,
    ffs,
    funnel_shift_left,
    funnel_shift_right,
    mul24,
    mulhi,
    perm,
    popcount,
    sad,
    subtract_saturating,
)

__all__ = [
    "add_saturating",
    "bfe",
    "bit_reverse",
    "certainty",
    "clz",
    "ctz",
    "dot2",
    "dot2_narrow",
    "dot4",
    "dot4_float",
    "dot8",
    "ffs",
    "fma",
    "fma_mix",
    "funnel_shift_left",
    "funnel_shift_right",
    "med3",
    "mul24",
    "mulhi",
    "perm",
    "popcount",
    "reference",
    "sad",
    "subtract_saturating",
]
