"""Half precision for hosts whose processor cannot convert it: LLVM calls these two functions of its
run-time library.

Source of the names and meanings: compiler-rt, `extendhfsf2.c` and `truncsfhf2.c`.
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32

WIDEN, NARROW = "__extendhfsf2", "__truncsfhf2"


def widen_text(attributes: str) -> str:
    """Return `float __extendhfsf2(half)`: shift the bits and let a multiplication put the exponent
    right."""
    b = NativeFunction(WIDEN, "float", [("half", "x")])
    bits = b.resize(b.bitcast(b.parameter("x"), "i16"), 32)
    magnitude = b.shift("shl", b.mask(bits, 15), 13)
    scaled = b.binary("fmul", b.bitcast(magnitude, "float"), Value("float", "0x46F0000000000000"))
    special = b.bitcast(b.or_(magnitude, i32(0x7F800000)), "float")
    is_special = b.compare("uge", b.mask(bits, 15), i32(0x7C00))
    number = b.bitcast(b.select(is_special, special, scaled), "i32")
    sign = b.shift("shl", b.and_(bits, i32(0x8000)), 16)
    b.give(b.bitcast(b.or_(number, sign), "float"))
    return b.text(attributes)


def narrow_text(attributes: str) -> str:
    """Return `half __truncsfhf2(float)`: to nearest even."""
    b = NativeFunction(NARROW, "half", [("float", "x")])
    bits = b.bitcast(b.parameter("x"), "i32")
    magnitude = b.mask(bits, 31)
    # Normal results: subtract the exponents' difference, and round the low 13 bits.
    odd = b.mask(b.shift("lshr", magnitude, 13), 1)
    rounded = b.add(b.add(b.sub(magnitude, i32(112 << 23)), i32(0xFFF)), odd)
    normal = b.shift("lshr", rounded, 13)
    # Denormal results: adding 0.5 aligns the last bit with half precision's, and rounds.
    moved = b.binary("fadd", b.bitcast(magnitude, "float"), Value("float", "0x3FE0000000000000"))
    denormal = b.sub(b.bitcast(moved, "i32"), i32(0x3F000000))
    result = b.select(b.compare("ult", magnitude, i32(113 << 23)), denormal, normal)
    result = b.select(b.compare("uge", magnitude, i32(0x47800000)), i32(0x7C00), result)
    payload = b.or_(b.shift("lshr", b.mask(magnitude, 23), 13), i32(0x7E00))
    result = b.select(b.compare("ugt", magnitude, i32(0x7F800000)), payload, result)
    sign = b.shift("lshr", b.and_(bits, i32(0x80000000 - (1 << 32))), 16)
    b.give(b.bitcast(b.resize(b.or_(result, sign), 16), "half"))
    return b.text(attributes)
