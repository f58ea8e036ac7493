"""C's printf: a format and the 64-bit words of its arguments, as compilers for AMD GPUs hand them
to the host (LLVM: AMDGPUEmitPrintf.cpp), become bytes.

Each argument of a number is one word: an integer in its low bits, a float as a double. A string is
there itself, with its zero, and padded to whole words. Numbers are written as C17, 7.21.6.1, and
glibc say, which is what programs on Linux expect.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import replace

from amdjit.late_methods import dataclass

__all__ = ["Words", "format_c", "placeholders"]

_PLACEHOLDER = re.compile(
    rb"%(?:(?P<percent>%)|(?P<flags>[-+ #0']*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|-?\d*))?"
    rb"(?P<length>hh|h|ll|l|q|j|z|t|L)?(?P<conversion>[diouxXcspfFeEgGaAn]))"
)
_BITS = {b"hh": 8, b"h": 16, b"": 32}
_WORD = 8
# A width or precision beyond this would only fill memory.
_WIDEST = 1 << 20
_MANTISSA_DIGITS = 13


class Words:
    """Arguments, read one after the other. What is not there reads as zeros."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def integer(self, bits: int, signed: bool) -> int:
        """Return the next word's low bits as an integer."""
        word = self._data[self._at : self._at + _WORD].ljust(_WORD, b"\0")
        self._at += _WORD
        value = int.from_bytes(word, "little") & (1 << bits) - 1
        return value - (value >> bits - 1 << bits) if signed else value

    def double(self) -> float:
        """Return the next word as a double."""
        return float(struct.unpack("<d", self.integer(64, False).to_bytes(_WORD, "little"))[0])

    def string(self) -> bytes:
        """Return the string that begins at the next word."""
        end = self._data.find(b"\0", self._at)
        end = len(self._data) if end < 0 else end
        found = self._data[self._at : end]
        self._at += (len(found) // _WORD + 1) * _WORD
        return found


@dataclass(frozen=True, slots=True)
class _Spec:
    """A placeholder. width: 0 for none. precision: None for none. bits: of an integer."""

    flags: frozenset[str]
    width: int
    precision: int | None
    bits: int
    conversion: str


def format_c(form: bytes, words: Words) -> bytes:
    """Return what printf writes. What is no placeholder stays as it is."""
    parts, at = [], 0
    for match in _PLACEHOLDER.finditer(form):
        parts += [form[at : match.start()], _replacement(match, words)]
        at = match.end()
    return b"".join([*parts, form[at:]])


def placeholders(form: bytes) -> int:
    """Return how many arguments a format takes, `*` among them."""
    return sum(
        match[0].count(b"*") + 1 for match in _PLACEHOLDER.finditer(form) if not match["percent"]
    )


def _replacement(match: re.Match[bytes], words: Words) -> bytes:
    if match["percent"]:
        return b"%"
    spec = _spec(match, words)
    conversion = spec.conversion
    if conversion == "n":
        words.integer(64, False)
        return b""
    if conversion in "cs":
        return _padded(_text(spec, words), replace(spec, flags=spec.flags - {"0"}))
    if conversion in "dioxXup":
        return _integer(spec, words)
    return _float(spec, words)


def _spec(match: re.Match[bytes], words: Words) -> _Spec:
    flags = set(match["flags"].decode())
    width = _number(match["width"], words) or 0
    if width < 0:
        flags.add("-")
    precision = None if match["precision"] is None else _number(match["precision"], words)
    if precision is not None and precision < 0:
        precision = None
    if "-" in flags:
        flags.discard("0")
    bits = _BITS.get(match["length"] or b"", 64)
    conversion = match["conversion"].decode()
    limited = None if precision is None else min(precision, _WIDEST)
    return _Spec(frozenset(flags), min(abs(width), _WIDEST), limited, bits, conversion)


def _number(text: bytes, words: Words) -> int:
    return words.integer(32, True) if text == b"*" else int(text or b"0")


def _text(spec: _Spec, words: Words) -> bytes:
    if spec.conversion == "c":
        return bytes([words.integer(8, False)])
    found = words.string()
    return found if spec.precision is None else found[: spec.precision]


def _integer(spec: _Spec, words: Words) -> bytes:
    conversion, precision = spec.conversion, spec.precision
    if conversion == "p":
        address = words.integer(64, False)
        if not address:
            return _padded(b"(nil)", replace(spec, flags=spec.flags - {"0"}))
        return _assembled(spec, _sign(spec, False), "0x", _digits(address, "x", precision))
    signed = conversion in "di"
    value = words.integer(spec.bits, signed)
    body = _digits(abs(value), "d" if conversion in "diu" else conversion, precision)
    if "#" in spec.flags and conversion == "o" and not body.startswith("0"):
        body = "0" + body
    prefix = "0" + conversion if "#" in spec.flags and conversion in "xX" and value else ""
    return _assembled(spec, _sign(spec, value < 0) if signed else "", prefix, body)


def _digits(value: int, base: str, precision: int | None) -> str:
    if precision == 0 and value == 0:
        return ""
    return format(value, base).rjust(precision or 0, "0")


def _sign(spec: _Spec, negative: bool) -> str:
    if negative:
        return "-"
    return "+" if "+" in spec.flags else " " if " " in spec.flags else ""


def _assembled(spec: _Spec, sign: str, prefix: str, body: str) -> bytes:
    """Put a number together. Zeros of the flag 0 come after the sign and the prefix, and only where
    an integer has no precision."""
    is_integer = spec.conversion in "dioxXup"
    if "0" in spec.flags and not (is_integer and spec.precision is not None):
        body = body.rjust(spec.width - len(sign) - len(prefix), "0")
    return _padded((sign + prefix + body).encode(), spec)


def _padded(text: bytes, spec: _Spec) -> bytes:
    return text.ljust(spec.width) if "-" in spec.flags else text.rjust(spec.width)


def _float(spec: _Spec, words: Words) -> bytes:
    value = words.double()
    sign = _sign(spec, math.copysign(1.0, value) < 0)
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        shown = text.upper() if spec.conversion.isupper() else text
        return _assembled(replace(spec, flags=spec.flags - {"0"}), sign, "", shown)
    make: Callable[[_Spec, float], str] = _hexadecimal if spec.conversion in "aA" else _decimal
    body = make(spec, abs(value))
    prefix, body = (body[:2], body[2:]) if spec.conversion in "aA" else ("", body)
    return _assembled(spec, sign, prefix, body)


def _decimal(spec: _Spec, value: float) -> str:
    precision = 6 if spec.precision is None else spec.precision
    alternate = "#" if "#" in spec.flags else ""
    return f"%{alternate}.{precision}{spec.conversion}" % value


def _hexadecimal(spec: _Spec, value: float) -> str:
    """Return 0x1.8p+1, with the digits that the precision asks for, or as many as are needed."""
    mantissa, exponent = _parts(value)
    digits = _MANTISSA_DIGITS
    if spec.precision is not None and spec.precision < digits:
        dropped = 4 * (digits - spec.precision)
        half, rest = 1 << dropped - 1, mantissa & (1 << dropped) - 1
        mantissa >>= dropped
        mantissa += rest > half or (rest == half and mantissa & 1)
        digits = spec.precision
    whole, rest = divmod(mantissa, 16**digits)
    fraction = f"{rest:0{digits}x}" if digits else ""
    if spec.precision is None:
        fraction = fraction.rstrip("0")
    else:
        fraction = fraction.ljust(spec.precision, "0")
    point = "." if fraction or "#" in spec.flags else ""
    text = f"0x{whole:x}{point}{fraction}p{exponent:+d}"
    return text.upper() if spec.conversion == "A" else text


def _parts(value: float) -> tuple[int, int]:
    """Return a double's mantissa, with 52 bits after the point, and its exponent."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    field, mantissa = bits >> 52, bits & (1 << 52) - 1
    if field:
        return mantissa | 1 << 52, field - 1023
    return mantissa, -1022 if mantissa else 0
