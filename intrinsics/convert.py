"""Conversions that are instructions of their own; `f16(x)` and its like need no intrinsic.

Sources: clang's AMDGPU builtins; RDNA4 ISA, `v_cvt_*`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.declarations import LlvmCall
from amdjit.intrinsics.builtin_table import builtin
from amdjit.types import f16, f32, i16, i32, u16, u32, vector

f16x2 = vector(f16, 2)
i16x2 = vector(i16, 2)
u16x2 = vector(u16, 2)


def round_toward_zero_to_f16(value: Any) -> Any:
    """Return f32 values as f16, rounded toward zero: what is too large becomes 65504, not infinity."""
    value = np.asarray(value, np.float32)
    with np.errstate(over="ignore"):
        nearest = value.astype(np.float16)
    away = np.abs(nearest.astype(np.float32)) > np.abs(value)
    return np.where(away, np.nextafter(nearest, np.float16(0)), nearest).astype(np.float16)


@builtin(LlvmCall("llvm.amdgcn.cvt.pkrtz"))
def cvt_pkrtz(x: f32, y: f32) -> f16x2:
    """Return x and y as f16, rounded toward zero (`__builtin_amdgcn_cvt_pkrtz`)."""
    return round_toward_zero_to_f16(np.stack([x, y], axis=-1))


@builtin(LlvmCall("llvm.amdgcn.cvt.pknorm.i16"))
def cvt_pknorm_i16(x: f32, y: f32) -> i16x2:
    """Return x and y, clamped to -1..1, times 32767 (`__builtin_amdgcn_cvt_pknorm_i16`)."""


@builtin(LlvmCall("llvm.amdgcn.cvt.pknorm.u16"))
def cvt_pknorm_u16(x: f32, y: f32) -> u16x2:
    """Return x and y, clamped to 0..1, times 65535 (`__builtin_amdgcn_cvt_pknorm_u16`)."""


@builtin(LlvmCall("llvm.amdgcn.cvt.pk.i16"))
def cvt_pk_i16(x: i32, y: i32) -> i16x2:
    """Return x and y clamped to the range of an i16 (`__builtin_amdgcn_cvt_pk_i16`)."""
    return np.clip(np.stack([x, y], axis=-1), -32768, 32767).astype(np.int16)


@builtin(LlvmCall("llvm.amdgcn.cvt.pk.u16"))
def cvt_pk_u16(x: u32, y: u32) -> u16x2:
    """Return x and y clamped to the range of a u16 (`__builtin_amdgcn_cvt_pk_u16`)."""
    return np.clip(np.stack([x, y], axis=-1), 0, 65535).astype(np.uint16)
