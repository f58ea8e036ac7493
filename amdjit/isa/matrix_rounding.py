"""How matrix cores and dot units add products of floats: one parametric rule, and a row of data for
each family and type.

The emulator's native functions take their parameters from these rows, the reference models compute
by them (`intrinsics.models.sums_of_products`), and the probe tries variants of them on a chip's
results. A product of matrices goes along k in steps; the result of a step is the C of the next.

Sources: ROCm/rocm-systems, issue 12056 and pull request 12120 (gfx1201, measured on a Radeon AI PRO
R9700; gfx1100, on a Radeon Pro W7900); for fp8 and bf8 of gfx12, which nobody has measured,
rocjitsu's `gfx12_dot.h` in the same place. CDNA: MMA-Sim 2.1.1 (arXiv 2511.10909), whose authors
fitted its rules to an MI100, an MI250X and an MI300X; of the MI100 they are the least certain. Of
gfx950 nobody has published a rule: that of gfx942 is a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from amdjit.late_methods import dataclass, field

__all__ = [
    "FORMATS",
    "FloatFormat",
    "GridRule",
    "RoundedRule",
    "Rule",
    "Specials",
    "mfma_rule",
    "rdna_rule",
]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """An encoding of floats: a sign, an exponent and a fraction."""

    exponent_bits: int
    fraction_bits: int
    # "ieee" has infinities and NaN in the largest exponent, "one" a NaN of each sign at the top,
    # "fnuz" a single NaN instead of -0, "none" neither.
    specials: str = "ieee"
    # How far the bias is above that of IEEE 754.
    more_bias: int = 0
    # The low bits of the fraction that take no part in products.
    ignored_bits: int = 0

    @property
    def bits(self) -> int:
        """Bits of a number."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def counted_bits(self) -> int:
        """Bits of the fraction that take part in products."""
        return self.fraction_bits - self.ignored_bits

    @property
    def bias(self) -> int:
        """The exponent field of 1.0."""
        return (1 << self.exponent_bits - 1) - 1 + self.more_bias

    @property
    def top(self) -> int:
        """The exponent field whose bits are all ones."""
        return (1 << self.exponent_bits) - 1

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number; subnormal ones have it, too."""
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
    def first_special(self) -> int:
        """The bits of the smallest magnitude that is not a number, of formats that have one."""
        return self.infinity or self.nans[0]

    @property
    def nans(self) -> tuple[int, ...]:
        """The bits of NaN of different payloads, quiet ones first."""
        sign = 1 << self.bits - 1
        if self.specials != "ieee":
            return {"one": (sign - 1, sign - 1 | sign), "fnuz": (sign,)}.get(self.specials, ())
        infinity, quiet = self.top << self.fraction_bits, 1 << self.fraction_bits - 1
        payload = quiet >> 1 | 1
        return (infinity | quiet, infinity | quiet | payload, infinity | payload,
                sign | infinity | quiet, sign | infinity | 1)  # fmt: skip


FORMATS: Mapping[str, FloatFormat] = MappingProxyType(
    {
        "f64": FloatFormat(11, 52), "f32": FloatFormat(8, 23),
        "xf32": FloatFormat(8, 23, ignored_bits=13), "f16": FloatFormat(5, 10),
        "bf16": FloatFormat(8, 7), "fp8": FloatFormat(4, 3, "one"), "bf8": FloatFormat(5, 2),
        "fp8_fnuz": FloatFormat(4, 3, "fnuz", 1), "bf8_fnuz": FloatFormat(5, 2, "fnuz", 1),
        "fp6": FloatFormat(2, 3, "none"), "bf6": FloatFormat(3, 2, "none"),
        "fp4": FloatFormat(2, 1, "none"),
    }
)  # fmt: skip


@dataclass(frozen=True)
class Specials:
    """How NaN and infinities decide a step's result. An infinity that no NaN outdoes is the
    result."""

    # The bits of a NaN among the factors, as f32.
    factor_nan: int = 0xFFC00A3D
    # The bits of infinity times 0, and of infinities of both signs, as f32.
    invalid: int = 0xFFC00000
    # Whose NaN wins: "factors", or "c".
    first: str = "factors"
    # Whether a NaN of C becomes quiet, with its payload.
    quiets: bool = True
    # The one NaN that every result gets, None if there is none.
    canonical: int | None = None
    # Whether finite products of 2**128 or more count as infinite.
    overflow: bool = False
    # Whether an invalid product wins over a NaN of C.
    invalid_first: bool = True

    def nan(self, bits: int, kind: str) -> int:
        """Return a NaN given as f32 in the type of the result."""
        if kind == "f16":
            # The payload's upper bits; that of the factors' NaN is f16's own.
            return (
                0xFE3D if bits == 0xFFC00A3D else bits >> 16 & 0x8000 | 0x7C00 | bits >> 13 & 1023
            )
        if kind == "bf16":
            return 0xFFFD if bits == 0xFFC00A3D else bits >> 16
        return bits


@dataclass(frozen=True)
class GridRule:
    """Products and C are put on one grid, the multiples of a power of two, and added as integers;
    their sum is rounded once."""

    # Products of a step.
    step: int = 4
    # How k runs through the steps: "ascending", "descending", "halves by 1", "halves by 2", "halves
    # by 4" (a run of the first half, then one of the second) or "even, odd" (all even k first).
    order: str = "ascending"
    # How many products are added on a grid of their own first.
    group: int = 2
    # Which products make a group: "neighbours", or "even and odd" ones.
    groups: str = "neighbours"
    # How far the grid of a group is below the largest exponent of its products.
    product_bits: int = 24
    # How products are put on it: by "floor", "truncation" towards zero, or "nearest".
    cut: str = "floor"
    # A product's exponent: "encoded", the sum of its factors', where a subnormal factor has that of
    # the smallest normal number; or "leading", that of its first bit.
    exponents: str = "encoded"
    # How far the final grid is at least below the largest exponent of all products.
    sum_bits: int = 24
    # How far the final grid is at least below C's exponent.
    c_sum_bits: int = 26
    # Whether groups are cut to the grid of the largest group before they are added.
    groups_meet: bool = False
    # How far C's grid is below the larger exponent of C and the products, which the final grid then
    # follows, too; None if C is cut to the final grid.
    c_bits: int | None = None
    # Whether C has at least the exponent of the result's smallest normal number; without it, a C of
    # 0 has none. Of f16 it always has.
    c_floor: bool = True
    # How C is put on its grid, as in `cut`.
    c_cut: str = "floor"
    # C counts as 0 if its exponent is more bits than this below that of the products; None: never.
    c_drops: int | None = None
    # Whether a negative C that vanishes on its grid counts as 0, not as -1 unit, on grids above the
    # exponent of the result's smallest normal number.
    c_exception: bool = True
    # How many bits of the sum after the leading one reach the rounding, by floor; None: all.
    kept: int | None = None
    # Whether all is taken in C's sign: magnitudes are cut, and terms of the other sign are one's
    # complements. Opposing terms are one unit off, even if they are small integers.
    relative: bool = False
    # Whether subnormal factors are zeros.
    flushes_factors: bool = False
    # Whether a subnormal C is a zero.
    flushes_c: bool = False
    # Whether results are +0 that are subnormal once they are rounded as if exponents had no end.
    flushes_result: bool = False
    # Whether what rounds to 0 keeps its sign; otherwise it is +0. A sum of 0 is +0.
    vanishing_sign: bool = False
    # How the sum is rounded: "nearest even", "nearest away", "truncation" or "floor".
    rounding: str = "nearest even"
    # How a bf16 result comes of the rounded f32: by "truncation", or to the "nearest" even.
    narrowing: str = "truncation"
    # Whether only the last step rounds to a type of 16 bits, and the others to f32.
    final_only: bool = False
    # Whether a sum of 0 takes C's sign.
    negative_zero: bool = False
    # What NaN and infinities do.
    specials: Specials = field(default_factory=Specials)

    @property
    def nan(self) -> int | None:
        """The bits of every NaN as f32, None if they differ."""
        return self.specials.canonical

    def members(self, count: int) -> list[slice]:
        """Return which of a step's products make each group."""
        if self.groups == "even and odd":
            return [slice(first, None, 2) for first in range(min(2, count))]
        size = min(self.group, count)
        return [slice(first, first + size) for first in range(0, count, size)]


@dataclass(frozen=True)
class RoundedRule:
    """Products and C are added by operations of IEEE 754, each rounded."""

    # "fused": each product and sum rounded once, one after the other. "unfused": products rounded,
    # then added one after the other. "pairs": products rounded, and added in pairs, pairs of pairs
    # and so on, then to C. "exact": the sum of all rounded once.
    how: str = "fused"
    # Products of a step.
    step: int = 1
    # How k runs through the steps; see `GridRule`.
    order: str = "ascending"
    # Whether subnormal factors are +0.
    flushes_factors: bool = False
    # Whether a subnormal C is +0.
    flushes_c: bool = False
    # Whether subnormal products, and sums of them, are zeros of their sign.
    flushes_products: bool = False
    # Whether subnormal sums with C are zeros of their sign.
    flushes_result: bool = False
    # The bits of every NaN as f32; of f64 they are the usual quiet ones.
    nan: int = 0x7FC00000
    # Whether results of 16 bits are rounded to their type at the end only.
    final_only: bool = True


Rule = GridRule | RoundedRule

# gfx12: DOT4 steps. Products meet in pairs.
_GFX12 = GridRule()
# Of fp8 and bf8, all four products meet on one grid.
_GFX12_BYTES = GridRule(group=4, specials=Specials(invalid=0xFFC00A3D))
# gfx11: DOT2 steps in the sign of C.
_GFX11 = GridRule(
    step=2, group=1, cut="truncation", c_floor=False, c_exception=False, relative=True,
    flushes_c=True, flushes_result=True,
)  # fmt: skip
_GFX11_ROWS: Mapping[tuple[str, str], GridRule] = MappingProxyType(
    {
        ("f16", "f32"): _GFX11,
        ("f16", "f16"): replace(_GFX11, flushes_c=False, flushes_result=False),
        ("bf16", "f32"): replace(_GFX11, flushes_factors=True),
        ("bf16", "bf16"): replace(_GFX11, flushes_factors=True),
    }
)
# gfx942: all products of a step are cut towards zero to one grid; the sum keeps 8 bits more.
_GFX942 = GridRule(
    step=8, group=1 << 10, cut="truncation", sum_bits=32, c_sum_bits=32, c_bits=24,
    c_exception=False, kept=31, vanishing_sign=True,
    specials=Specials(
        factor_nan=0x7FFFFFFF, invalid=0x7FFFFFFF, canonical=0x7FFFFFFF, overflow=True
    ),
)  # fmt: skip
# Of 8-bit floats, even and odd k have a grid each.
_GFX942_BYTES = replace(_GFX942, step=16, groups="even and odd", groups_meet=True, c_drops=25)
# gfx90a: products rounded to f32, added in pairs, without subnormal numbers.
_GFX90A = RoundedRule(
    "pairs", 4, flushes_factors=True, flushes_c=True, flushes_products=True, flushes_result=True
)
# gfx908: the exact sum, rounded once.
_GFX908 = RoundedRule("exact", 4)


def rdna_rule(kinds: tuple[str, str, str], is_gfx11: bool) -> GridRule:
    """Return the rule of WMMA, SWMMAC and dot products of RDNA. kinds: types of A, B and the
    result."""
    if is_gfx11:
        return _GFX11_ROWS[kinds[0], kinds[2]]
    return _GFX12_BYTES if FORMATS[kinds[0]].bits == 8 else _GFX12


def mfma_rule(target: str, kind: str, held: int, elements: int) -> Rule:
    """Return the rule of MFMA and SMFMAC. kind: the type of A; held: how many elements of a row A
    holds; elements: how many of them a lane has."""
    if kind in ("f64", "f32"):
        return RoundedRule(nan=0x7FFFFFFF if target in ("gfx942", "gfx950") else 0x7FC00000)
    if target == "gfx908":
        return replace(_GFX908, step=4 if kind == "f16" else 2)
    if target == "gfx90a":
        # The older products of bf16 have two elements a lane.
        return replace(_GFX90A, step=min(4, elements))
    if kind in ("f16", "bf16"):
        return replace(_GFX942, step=min(8, held))
    return replace(_GFX942, step=4) if kind == "xf32" else _GFX942_BYTES
