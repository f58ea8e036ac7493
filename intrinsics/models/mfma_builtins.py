"""Reference models of clang's MFMA and SMFMAC builtins that one processor has: a call does not say
which one it is for, and they add differently."""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.intrinsics.models import mfma_arithmetic
from amdjit.intrinsics.models.mfma_arithmetic import Modifiers
from amdjit.intrinsics.models.mfma_instructions import CDNA, mfma_instructions
from amdjit.intrinsics.models.mfma_layouts import Array


def wave_product(name: str, *arguments: Any) -> Array | None:
    """Return what a builtin computes; None if several processors have it. Its arguments and result
    are a wave's: arrays with one row per lane, in clang's order of arguments."""
    known = [mfma_instructions(target).get(name) for target in CDNA]
    instruction, *elsewhere = [each for each in known if each is not None]
    if elsewhere:
        return None
    a, b, c, *others = arguments
    more: list[Any] = []
    scale_bytes = (0, 0)
    if instruction.is_scaled:
        format_a, format_b, byte_a, scale_a, byte_b, scale_b = others
        modifiers = Modifiers(cbsz=format_a, blgp=format_b)
        more, scale_bytes = [scale_a, scale_b], (byte_a, byte_b)
    elif instruction.is_sparse:
        index, cbsz, abid = others
        modifiers = Modifiers(cbsz, abid)
        more = [index]
    else:
        modifiers = Modifiers(*others)
    found = mfma_arithmetic.wave_product(
        instruction, a, b, c, *more, modifiers=modifiers, scale_bytes=scale_bytes
    )
    added = np.asarray(c)
    return found.view(added.dtype).reshape(added.shape)
