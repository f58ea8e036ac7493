"""The formats of floats in matrix instructions: bits taken apart, and numbers made into bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.mfma_layouts import BITS, DTYPES

__all__ = ["FORMATS", "Format", "Numbers", "encoded", "taken_apart"]

Bits = NDArray[np.uint64]
Integers = NDArray[np.int64]
_ONE = np.uint64(1)


@dataclass(frozen=True)
class Format:
    """A format. specials: "ieee" has infinities and NaN in the largest exponent, "one" a NaN of
    each sign at the top, "fnuz" a single NaN instead of -0, "none" neither."""

    exponent_bits: int
    fraction_bits: int
    specials: str
    bias: int

    @property
    def bits(self) -> int:
        """Bits of a number."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def top(self) -> int:
        """The exponent field whose bits are all ones."""
        return (1 << self.exponent_bits) - 1

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def highest(self) -> int:
        """The exponent of the largest finite number."""
        return self.top - self.bias - (self.specials == "ieee")

    @property
    def infinity(self) -> int | None:
        """The bits of infinity, None if there is none."""
        return self.top << self.fraction_bits if self.specials == "ieee" else None

    @property
    def nans(self) -> tuple[int, ...]:
        """The bits of NaN of different payloads, quiet ones first."""
        if self.specials == "ieee":
            infinity, quiet = self.top << self.fraction_bits, 1 << self.fraction_bits - 1
            payload = quiet >> 1 | 1
            sign = 1 << self.bits - 1
            return (infinity | quiet, infinity | quiet | payload, infinity | payload,
                    sign | infinity | quiet, sign | infinity | 1)  # fmt: skip
        sign = 1 << self.bits - 1
        all_ones = sign - 1
        return {"one": (all_ones, all_ones | sign), "fnuz": (sign,)}.get(self.specials, ())


def _format(
    exponent_bits: int, fraction_bits: int, specials: str = "ieee", more: int = 0
) -> Format:
    return Format(exponent_bits, fraction_bits, specials, (1 << exponent_bits - 1) - 1 + more)


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "f64": _format(11, 52), "f32": _format(8, 23), "xf32": _format(8, 23),
        "f16": _format(5, 10), "bf16": _format(8, 7), "fp8": _format(4, 3, "one"),
        "bf8": _format(5, 2), "fp8_fnuz": _format(4, 3, "fnuz", 1),
        "bf8_fnuz": _format(5, 2, "fnuz", 1), "fp6": _format(2, 3, "none"),
        "bf6": _format(3, 2, "none"), "fp4": _format(2, 1, "none"),
    }
)  # fmt: skip


@dataclass(frozen=True)
class Numbers:
    """Floats taken apart. significand: with its sign, at 2**(exponent - fraction_bits), 0 for what
    is not finite; exponent: as encoded, the smallest normal number's for subnormal ones."""

    negative: NDArray[np.bool_]
    significand: Integers
    exponent: Integers
    is_nan: NDArray[np.bool_]
    is_infinite: NDArray[np.bool_]
    fraction_bits: int

    @property
    def is_zero(self) -> NDArray[np.bool_]:
        """Which are zeros."""
        zero: NDArray[np.bool_] = (self.significand == 0) & ~self.is_nan & ~self.is_infinite
        return zero

    def at(self, index: Any) -> Numbers:
        """Return some of them."""
        return Numbers(
            self.negative[index], self.significand[index], self.exponent[index],
            self.is_nan[index], self.is_infinite[index], self.fraction_bits,
        )  # fmt: skip

    def without_subnormal(self, lowest: int) -> Numbers:
        """Return them with zeros instead of numbers below 2**lowest."""
        normal = (np.abs(self.significand) >> self.fraction_bits > 0) | (self.exponent > lowest)
        significand = np.where(normal, self.significand, 0)
        return Numbers(self.negative, significand, self.exponent, self.is_nan, self.is_infinite,
                       self.fraction_bits)  # fmt: skip


def taken_apart(bits: Bits, kind: str) -> Numbers:
    """Return the parts of floats of a type."""
    form = FORMATS[kind]
    fraction = bits & np.uint64((1 << form.fraction_bits) - 1)
    if kind == "xf32":
        fraction &= np.uint64(0x7FE000)
    field = bits >> np.uint64(form.fraction_bits) & np.uint64(form.top)
    negative = (bits >> np.uint64(form.bits - 1) & _ONE) > 0
    is_nan = np.zeros(bits.shape, bool)
    is_infinite = np.zeros(bits.shape, bool)
    if form.specials == "ieee":
        is_top = field == form.top
        nan_bits = bits & np.uint64((1 << form.fraction_bits) - 1)
        is_nan, is_infinite = is_top & (nan_bits != 0), is_top & (nan_bits == 0)
    else:
        for each in form.nans:
            is_nan |= bits == np.uint64(each)
    hidden = np.where(field > 0, np.uint64(1 << form.fraction_bits), np.uint64(0))
    size = (fraction | hidden).astype(np.int64)
    size = np.where(is_nan | is_infinite, 0, size)
    exponent = np.maximum(field, _ONE).astype(np.int64) - form.bias
    significand = np.where(negative, -size, size)
    return Numbers(negative, significand, exponent, is_nan, is_infinite, form.fraction_bits)


def encoded(values: NDArray[Any], kind: str) -> Bits:
    """Return numbers as the bits of a type, rounded to nearest even; integers as they are."""
    if kind in ("i8", "iu8", "iu4", "i32"):
        width = {"iu4": 4, "i32": 32}.get(kind, 8)
        return values.astype(np.int64).astype(np.uint64) & np.uint64((1 << width) - 1)
    with np.errstate(all="ignore"):
        typed = np.ascontiguousarray(values.astype(DTYPES[kind]))
    raw = typed.view(f"u{typed.dtype.itemsize}").astype(np.uint64)
    return raw & np.uint64((1 << BITS[kind]) - 1)
