"""What NaN and infinities do to a sum of products: the rules of RDNA and of CDNA, and others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.probe.corpus.matrix.formats import FORMATS, Bits, Numbers

__all__ = ["Specials"]


@dataclass(frozen=True)
class Specials:
    """How NaN and infinities decide. factor_nan: the bits of a NaN among the factors, by the f32
    result; invalid: of infinity times 0 and of infinities of both signs. first: "factors" if their
    NaN wins over C's, "c" if C's does. quiets: whether a NaN of C keeps its payload, quiet.
    canonical: the one NaN that every result gets, None if there is none. overflow: whether
    finite products of 2**128 or more count as infinite. invalid_first: whether an invalid product
    wins over a NaN of C."""

    factor_nan: int = 0xFFC00A3D
    invalid: int = 0xFFC00000
    first: str = "factors"
    quiets: bool = True
    canonical: int | None = None
    overflow: bool = False
    invalid_first: bool = True

    def decide(
        self, left: Numbers, right: Numbers, added: Bits, own: Numbers, kind: str
    ) -> tuple[NDArray[np.bool_], Bits]:
        """Return which sums are decided, and their bits."""
        factor_nan = np.asarray((left.is_nan | right.is_nan).any(axis=1))
        infinite = left.is_infinite | right.is_infinite
        invalid = np.asarray((infinite & (left.is_zero | right.is_zero)).any(axis=1))
        if self.overflow:
            infinite = infinite | self._overflows(left, right)
        negative = left.negative != right.negative
        plus, minus = (infinite & ~negative).any(axis=1), (infinite & negative).any(axis=1)
        invalid |= plus & minus
        plus |= own.is_infinite & ~own.negative
        minus |= own.is_infinite & own.negative
        bits = np.where(
            minus, self._signed_infinity(kind, True), self._signed_infinity(kind, False)
        )
        bits = np.where(plus & minus, self._nan(self.invalid, kind), bits)
        quiet = np.uint64(1 << FORMATS[kind].fraction_bits - 1) if self.quiets else np.uint64(0)
        c_nan = added | quiet
        for where, value in self._ordered(factor_nan, invalid, own.is_nan, c_nan, kind):
            bits = np.where(where, value, bits)
        return factor_nan | invalid | plus | minus | own.is_nan, bits

    def _ordered(
        self, factor_nan: NDArray[np.bool_], invalid: NDArray[np.bool_],
        own_nan: NDArray[np.bool_], c_nan: Bits, kind: str,
    ) -> list[tuple[NDArray[np.bool_], Bits | np.uint64]]:  # fmt: skip
        """Return the kinds of NaN, the one that wins last."""
        factors = (factor_nan, self._nan(self.factor_nan, kind))
        broken = (invalid, self._nan(self.invalid, kind))
        own = (own_nan, c_nan)
        if self.first == "c":
            return [broken, factors, own]
        return [own, broken, factors] if self.invalid_first else [broken, own, factors]

    def _overflows(self, left: Numbers, right: Numbers) -> NDArray[np.bool_]:
        size = np.abs(left.significand * right.significand).astype(np.float64)
        last = left.exponent + right.exponent - left.fraction_bits - right.fraction_bits
        found: NDArray[np.bool_] = (size > 0) & (np.frexp(size)[1] + last > 128)
        return found

    def _nan(self, bits: int, kind: str) -> np.uint64:
        if kind == "f16":
            # The payload's upper bits; that of the factors' NaN is f16's own.
            own = 0xFE3D if bits == 0xFFC00A3D else bits >> 16 & 0x8000 | 0x7C00 | bits >> 13 & 1023
            return np.uint64(own)
        if kind == "bf16":
            return np.uint64(0xFFFD if bits == 0xFFC00A3D else bits >> 16)
        return np.uint64(bits)

    @staticmethod
    def _signed_infinity(kind: str, negative: bool) -> np.uint64:
        form = FORMATS[kind]
        return np.uint64(form.top << form.fraction_bits | int(negative) << form.bits - 1)

    def finished(self, total: Bits, kind: str) -> Bits:
        """Return results with the canonical NaN if there is one."""
        if self.canonical is None:
            return total
        form = FORMATS[kind]
        size = total & np.uint64((1 << form.bits - 1) - 1)
        is_nan = size > np.uint64(form.top << form.fraction_bits)
        return np.where(is_nan, self._nan(self.canonical, kind), total)
