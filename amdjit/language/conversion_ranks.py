"""How a number is converted if its type is not that of the signature.

- EXACT: it has that type.
- WIDER: of the same kind and wider: i32 to i64, f32 to f64.
- SAFE: that type has all its values: u8 to i32, i16 to f32, a boolean to any number.
- LOSSY: an integer to a float, rounded to the nearest; a float to a narrower one; an integer to
  another integer type.
- UNSAFE: a float to an integer, a number to a boolean: only for functions that a kernel with
  Numba's typing calls.
- None: elsewhere a float never becomes an integer, and no number a boolean.

Of several signatures that one fits best which needs the fewest UNSAFE conversions, then the fewest
LOSSY ones, then the fewest SAFE ones, then the fewest WIDER ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.types import Scalar, boolean

__all__ = ["EXACT", "LOSSY", "SAFE", "UNSAFE", "WIDER", "conversion", "cost"]

EXACT, WIDER, SAFE, LOSSY, UNSAFE = range(5)
# Bits of an integer that a float holds exactly.
_MANTISSA = {
    "f16": 11, "bf16": 8, "f32": 24, "f64": 53, "fp8": 4, "bf8": 3, "fp8_fnuz": 4, "bf8_fnuz": 3,
}  # fmt: skip


def cost(ranks: Sequence[int]) -> tuple[int, int, int, int]:
    """Return what a signature costs that needs these conversions; less is better."""
    return ranks.count(UNSAFE), ranks.count(LOSSY), ranks.count(SAFE), ranks.count(WIDER)


def conversion(found: Scalar, kind: Scalar) -> int | None:
    """Return which conversion makes a number of one type one of another; None if there is
    none."""
    if found == kind:
        return EXACT
    if kind is boolean:
        return None
    if found is boolean:
        return SAFE
    if not kind.is_float:
        return None if found.is_float else _to_integer(found, kind)
    if found.is_float:
        return WIDER if found.bits < kind.bits else LOSSY
    return SAFE if found.bits - found.is_signed <= _MANTISSA[kind.name] else LOSSY


def _to_integer(found: Scalar, kind: Scalar) -> int:
    if found.kind is kind.kind and found.bits < kind.bits:
        return WIDER
    has_all = kind.minimum <= found.minimum and found.maximum <= kind.maximum
    return SAFE if has_all else LOSSY
