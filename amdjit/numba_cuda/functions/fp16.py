"""Numba's `cuda.fp16`: functions of f16. Most are rows of `halves`."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.arithmetic import fma
from amdjit.numba_cuda.functions.halves import COMMON, ELEMENTARY, made, of_one_in_f32
from amdjit.types import f16

_MADE = {
    **{name: made(__name__, name, make(f16), text) for name, (make, text) in COMMON.items()},
    **{
        name: made(__name__, name, of_one_in_f32(operation)(f16), text)
        for name, (operation, text) in ELEMENTARY.items()
    },
}
globals().update(_MADE)


@device_function
def hfma(a, b, c):
    """Return a * b + c, rounded once."""
    return fma(f16(a), f16(b), f16(c))


__all__ = sorted([*_MADE, "hfma"])
