"""Conversion of single precision to the OCP 8-bit floats E4M3 (fp8) and E5M2 (bf8), and from and to
gfx942's, FNUZ."""

from __future__ import annotations

from amdjit.isa.arithmetic import Arithmetic, Value
from amdjit.isa.floats.elements import Convert, bf8_to_single, fp8_to_single
from amdjit.isa.floats.nans import bits, invalid
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class _Format:
    """A format: the bits of its mantissa, the bias of its exponent, and codes, the first that of
    the largest finite number."""

    mantissa: int
    bias: int
    finite: int
    overflow: int
    infinity: int
    nan: int
    unsigned: tuple[int, ...] = ()
    """Codes that have no sign, apart from NaN's."""


# E4M3 has no infinity: overflow yields NaN. E5M2 overflows to infinity. In the mode FP16_OVFL,
# finite values become the largest finite number instead. All NaNs become one (captured on a
# gfx1201). FNUZ ("finite, no negative zero") has one
# NaN where -0 would be, which also stands for infinity and overflow.
_KINDS = {
    "fp8": _Format(3, 7, finite=0x7E, overflow=0x7F, infinity=0x7F, nan=0xFF),
    "bf8": _Format(2, 15, finite=0x7B, overflow=0x7C, infinity=0x7C, nan=0xFE),
    "fp8_fnuz": _Format(
        3, 8, finite=0x7F, overflow=0x80, infinity=0x80, nan=0x80, unsigned=(0, 0x80)
    ),
    "bf8_fnuz": _Format(
        2, 16, finite=0x7F, overflow=0x80, infinity=0x80, nan=0x80, unsigned=(0, 0x80)
    ),
}


def single_to_fp8(
    b: Arithmetic,
    value: Value,
    random: Value | None = None,
    *,
    kind: str,
    clamps: bool = False,
) -> Value:
    """Return the 8 bits in i32 lanes: rounded to nearest even, or by adding the upper bits of
    `random`.

    clamps: finite values do not overflow.
    """
    form = _KINDS[kind]
    raw = bits(b, value)
    sign = b.shift("lshr", b.and_(raw, b.const(raw, 0x80000000)), 24)
    magnitude = b.intrinsic("fabs", value)
    # Adding 2**(23 - mantissa) ulps' worth moves the format's last bit to the last bit of single
    # precision: below the smallest normal number that place is fixed, above it, it follows the
    # exponent.
    exponent = b.shift("lshr", b.bitcast(magnitude, "i32"), 23)
    lowest = b.const(exponent, 127 + 1 - form.bias)
    place = b.intrinsic("umax", exponent, lowest)
    scale_bits = b.shift("shl", b.sub(b.const(place, 254 + form.mantissa), place), 23)
    scaled = b.binary("fmul", magnitude, b.bitcast(scale_bits, "float"))
    steps = (
        b.intrinsic("roundeven", scaled) if random is None else _stochastic(b, scaled, random, form)
    )
    whole = b.convert("fptoui", b.intrinsic("minnum", steps, b.const(steps, 64.0)), "i32")
    field = b.shift("shl", b.sub(place, lowest), form.mantissa)
    code = b.add(field, whole)
    finite = b.const(code, form.finite)
    over = b.compare("ugt", code, finite)
    code = b.select(over, finite if clamps else b.const(code, form.overflow), code)
    infinite = b.compare("oeq", magnitude, b.const(magnitude, float("inf")))
    code = b.select(infinite, b.const(code, form.infinity), code)
    signed = b.or_(code, sign)
    for one in form.unsigned:
        signed = b.select(b.compare("eq", code, b.const(code, one)), code, signed)
    return b.select(b.compare("uno", value, value), b.const(code, form.nan), signed)


def fnuz_to_single(kind: str) -> Convert:
    """Return the conversion of the low 8 bits from FNUZ: single precision has the same bits with
    another bias. That 0x80 becomes the positive NaN without a payload is an assumption."""
    form = _KINDS[kind]

    def widen(b: Arithmetic, lanes: Value) -> Value:
        byte = b.mask(lanes, 8)
        scaled = b.bitcast(b.shift("shl", b.mask(byte, 7), 23 - form.mantissa), "float")
        number = b.binary("fmul", scaled, b.const(scaled, 2.0 ** (127 - form.bias)))
        sign = b.shift("shl", b.shift("lshr", byte, 7), 31)
        signed = b.or_(b.bitcast(number, "i32"), sign)
        nan = b.compare("eq", byte, b.const(byte, form.nan))
        return b.bitcast(b.select(nan, b.const(signed, 0x7FC00000), signed), "float")

    return widen


def _stochastic(b: Arithmetic, scaled: Value, random: Value, form: _Format) -> Value:
    """Add as many of the upper random bits as single precision has more bits than the format (RDNA
    4 ISA, V_CVT_SR_FP8_F32); what numbers below the normal ones have more is cut first."""
    cut = 23 - form.mantissa
    below = b.intrinsic("floor", scaled)
    part = b.binary("fsub", scaled, below)
    units = b.convert("fptoui", b.binary("fmul", part, b.const(part, 2.0**cut)), "i32")
    total = b.add(units, b.shift("lshr", random, 32 - cut))
    up = b.convert("uitofp", b.shift("lshr", total, cut), "float")
    return b.binary("fadd", below, up)


def pair_to_fp8(b: Arithmetic, x: Value, y: Value, *, kind: str, clamps: bool = False) -> Value:
    """Return two codes as i16, the first one low."""
    low, high = (single_to_fp8(b, source, kind=kind, clamps=clamps) for source in (x, y))
    return b.resize(b.or_(low, b.shift("shl", high, 8)), 16)


def _with_one_nan(widen: Convert) -> Convert:
    """Return a conversion to single precision whose NaNs are all the negative one without a payload
    (captured on a gfx1201)."""

    def expression(b: Arithmetic, lanes: Value) -> Value:
        value = widen(b, lanes)
        nan = b.select(b.compare("uno", value, value), invalid(b, value), bits(b, value))
        return b.bitcast(nan, "float")

    return expression


FP8_TO_SINGLE, BF8_TO_SINGLE = _with_one_nan(fp8_to_single), _with_one_nan(bf8_to_single)
