"""Reference models of the dot products of a register's elements: those along the last axis of `a`
and `b`.

The sums of floats (`quick_sums`) are loaded at their first call: `import amdjit` must be fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.intrinsics.models import quick_sums
    from amdjit.isa import matrix_rounding
else:
    quick_sums = late("amdjit.intrinsics.models.quick_sums")
    matrix_rounding = late("amdjit.isa.matrix_rounding")

F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
FP8, BF8 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
_KINDS: Mapping[np.dtype[Any], str] = MappingProxyType(
    {F16: "f16", BF16: "bf16", F32: "f32", FP8: "fp8", BF8: "bf8"}
)


def dot_of_numbers(
    a: Any, b: Any, c: Any, factors: tuple[np.dtype[Any], ...], result: np.dtype[Any]
) -> Any:
    """Return c + the dot product of a and b, which are converted to these types if they have
    others."""
    return _dot(np.asarray(a, factors[0]), np.asarray(b, factors[-1]), np.asarray(c, result))[()]


def dot_of_bits(
    a: Any, b: Any, c: Any, factors: tuple[np.dtype[Any], ...], result: np.dtype[Any]
) -> Any:
    """Return c + the dot product of a and b, whose bits are read as these types; the result has c's
    type."""
    left, right = _bits(a, factors[0]), _bits(b, factors[-1])
    added = np.asarray(c)
    return _dot(left, right, added.view(result)).view(added.dtype)[()]


def _dot(a: Any, b: Any, c: Any) -> Any:
    """Return c + the dot products of the last axis of a and b, each in one step of gfx12."""
    kinds = (_KINDS[a.dtype], _KINDS[b.dtype], _KINDS[c.dtype])
    rule = matrix_rounding.rdna_rule(kinds, is_gfx11=False)
    return quick_sums.multiply_accumulate(
        rule, a[..., None, :], b[..., :, None], c[..., None, None], kinds
    )[..., 0, 0]


def _bits(values: Any, kind: np.dtype[Any]) -> Any:
    held = np.ascontiguousarray(values)
    rows = held.shape if held.dtype.itemsize == 4 else held.shape[:-1]
    return held.view(kind).reshape(*np.shape(values)[: len(rows)], -1)


def clamped_unit(total: Any, clamp: bool) -> Any:
    """Return a float result as CLAMP leaves it: within 0 to 1, NaN as 0 (RDNA4 ISA, 6.2.5)."""
    if not clamp:
        return total
    return np.where(np.isnan(total), np.float32(0), np.clip(total, np.float32(0), np.float32(1)))[
        ()
    ]


def integer_dot(
    a: Any, b: Any, c: Any, bits: int, signs: tuple[bool, bool], clamp: bool, result: Any
) -> Any:
    """Return c + the dot product of the 8-bit or 4-bit integers in words; clamp: saturate to the
    result's type."""
    sides = [_integers(each, bits, signed) for each, signed in zip((a, b), signs, strict=True)]
    total = (sides[0] * sides[1]).sum(axis=-1) + np.asarray(c, np.int64)
    limits = np.iinfo(result)
    return (np.clip(total, limits.min, limits.max) if clamp else total).astype(result)[()]


def _integers(words: Any, bits: int, signed: bool) -> Any:
    """Return the fields of words, the lowest first."""
    fields = (
        np.asarray(words)[..., None].astype(np.int64) >> np.arange(0, 32, bits) & (1 << bits) - 1
    )
    return np.where(signed & (fields >> bits - 1 > 0), fields - (1 << bits), fields)
