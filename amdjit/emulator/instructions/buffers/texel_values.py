"""One component of a buffer format: from the bits in memory to those in a register, and back (RDNA
4 ISA, 9.3).

UNORM and SNORM are quotients by the largest integer, rounded once; stores round to the nearest
integer.
"""

from __future__ import annotations

from collections.abc import Callable

from amdjit.abi.buffer_formats import KINDS
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import V32, NativeFunction, i32, i64
from amdjit.emulator.instructions.buffers.texel_table import (
    CHANNELS,
    FLOAT,
    SINT,
    UINT,
    TexelFunction,
)
from amdjit.emulator.layout import BufferRefusal
from amdjit.isa.floats.elements import half_to_single, single_to_half


def _low_bits(f: NativeFunction, value: Value, width: Value, signed: bool) -> Value:
    """Extend the low `width` bits; for width 0 the result is 0."""
    left = f.splat(f.sub(i32(32), width))
    kept = f.shift("shl", value, left)
    return f.shift("ashr" if signed else "lshr", kept, left)


def _largest(f: NativeFunction, width: Value, signed: bool) -> Value:
    """Return the largest integer of a width in all lanes, which is exact as a double."""
    bits = f.sub(width, i32(1)) if signed else width
    return f.splat(f.sub(f.shift("shl", i64(1), f.resize(bits, 64)), i64(1)))


def _switch(f: NativeFunction, kinds: dict[str, Callable[[], Value]]) -> None:
    labels = " ".join(f"i32 {KINDS.index(name)}, label %{name}" for name in kinds)
    f.line(f"switch i32 {f.parameter('kind').text}, label %{next(iter(kinds))} [ {labels} ]")
    for name, make in kinds.items():
        f.label(name)
        f.give(make())


def read_text(attributes: str) -> str:
    """Return `aj_texel_read(bits, kind, width)`, which converts a component, with other bits above
    it, to the 32 bits of a register."""
    f = NativeFunction("aj_texel_read", V32, [(V32, "bits"), ("i32", "kind"), ("i32", "width")])
    bits, width = f.parameter("bits"), f.parameter("width")
    f.branch_if(f.compare("eq", width, i32(0)), "missing", "there")
    f.label("missing")
    f.give(f.const(bits, 0))
    f.label("there")
    unsigned, signed = (_low_bits(f, bits, width, sign) for sign in (False, True))
    _switch(
        f,
        {
            "UNORM": lambda: _quotient(f, unsigned, width, False),
            "SNORM": lambda: _quotient(f, signed, width, True),
            "USCALED": lambda: f.bitcast(f.convert("uitofp", unsigned, "float"), "i32"),
            "SSCALED": lambda: f.bitcast(f.convert("sitofp", signed, "float"), "i32"),
            "UINT": lambda: unsigned,
            "SINT": lambda: signed,
            "FLOAT": lambda: _widened(f, bits, unsigned, width),
        },
    )
    return f.text(attributes)


def _quotient(f: NativeFunction, number: Value, width: Value, sign: bool) -> Value:
    """Convert UNORM and SNORM. Both numbers are exact in single precision, so only the division
    rounds."""
    value = f.convert("sitofp" if sign else "uitofp", number, "float")
    divisor = f.convert("uitofp", _largest(f, width, sign), "float")
    quotient = f.binary("fdiv", value, divisor)
    return f.bitcast(
        f.intrinsic("maxnum", quotient, f.const(quotient, -1.0)) if sign else quotient, "i32"
    )


def _widened(f: NativeFunction, bits: Value, unsigned: Value, width: Value) -> Value:
    """Return a float in single precision. Floats of 11 and 10 bits are half precision without the
    sign and the lowest bits."""
    lost = f.sub(i32(15), width)
    halves = f.shift("shl", unsigned, f.splat(lost))
    halves = f.select(f.compare("eq", width, i32(16)), unsigned, halves)
    single = f.bitcast(half_to_single(f, halves), "i32")
    return f.select(f.compare("eq", width, i32(32)), bits, single)


def write_text(attributes: str) -> str:
    """Return `aj_texel_write(value, kind, width, bad)`, which returns a component's bits; `bad`
    receives the lanes whose value does not fit.

    Values that fit exactly are written. Values that would have to be rounded or clamped are not,
    except to UNORM and SNORM.
    """
    parameters = [(V32, "value"), ("i32", "kind"), ("i32", "width"), ("ptr", "bad")]
    f = NativeFunction("aj_texel_write", V32, parameters)
    value, width = f.parameter("value"), f.parameter("width")
    single = f.bitcast(value, "float")
    _switch(
        f,
        {
            "UNORM": lambda: _write_norm(f, single, width, False),
            "SNORM": lambda: _write_norm(f, single, width, True),
            "UINT": lambda: _write_integer(f, value, width, False),
            "SINT": lambda: _write_integer(f, value, width, True),
            "FLOAT": lambda: _write_float(f, value, single, width),
        },
    )
    return f.text(attributes)


def _written(f: NativeFunction, bits: Value, wrong: Value, width: Value) -> Value:
    """Record the lanes whose value does not fit, and return the bits of all lanes."""
    f.store(f.mask_bits(wrong), f.parameter("bad"), 4)
    return _low_bits(f, bits, width, False)


def _write_norm(f: NativeFunction, single: Value, width: Value, sign: bool) -> Value:
    """Return the integer nearest to the product, which is exact in double precision. NaN does not
    fit."""
    least = f.const(single, -1.0 if sign else 0.0)
    clamped = f.intrinsic("minnum", f.intrinsic("maxnum", single, least), f.const(single, 1.0))
    factor = f.convert("uitofp", _largest(f, width, sign), "double")
    product = f.binary("fmul", f.convert("fpext", clamped, "double"), factor)
    nearest = f.convert("fptosi", f.intrinsic("roundeven", product), "i32")
    return _written(f, nearest, f.compare("uno", single, single), width)


def _write_integer(f: NativeFunction, value: Value, width: Value, sign: bool) -> Value:
    return _written(f, value, f.compare("ne", _low_bits(f, value, width, sign), value), width)


def _write_float(f: NativeFunction, value: Value, single: Value, width: Value) -> Value:
    half = single_to_half(f, single)
    nan = f.compare("uno", single, single)
    exact = f.compare("eq", f.bitcast(half_to_single(f, half), "i32"), value)
    lost = f.select(f.compare("ult", width, i32(16)), f.sub(i32(15), width), i32(0))
    short = f.shift("lshr", half, f.splat(lost))
    back = f.shift("shl", _low_bits(f, short, width, False), f.splat(lost))
    fits = f.and_(f.or_(exact, nan), f.or_(f.compare("eq", back, half), nan))
    # A NaN may lose its payload, but must stay a NaN.
    quiet = f.shift("lshr", f.const(half, 0x7E00), f.splat(lost))
    bits = f.select(nan, quiet, short)
    whole = f.compare("eq", width, i32(32))
    chosen = f.select(whole, value, bits)
    return _written(f, chosen, f.and_(f.not_(fits), f.splat(f.not_(whole))), width)


def narrow_text(attributes: str) -> str:
    """Return `aj_texel_narrow`, which converts the channels of a D16 load to 16 bits.

    Single precision is truncated, other floats round to nearest even (9.3.1); integers must fit.
    """
    f = TexelFunction(
        "aj_texel_narrow",
        "void",
        ("ptr", "context"),
        ("i32", "site"),
        ("i32", "format"),
        ("i32", "exec"),
        ("ptr", "data"),
    )
    integral = f.is_integer
    single = f.and_(f.compare("eq", f.kind, i32(FLOAT)), f.compare("eq", f.item(6), i32(32)))
    signed = f.compare("eq", f.kind, i32(SINT))
    wrong = i32(0)
    for number in range(CHANNELS):
        value = f.load(V32, f.channel(number), 64)
        number_value = f.bitcast(value, "float")
        nearest = single_to_half(f, number_value)
        magnitude = f.intrinsic("fabs", number_value)
        away = f.compare("ogt", f.intrinsic("fabs", half_to_single(f, nearest)), magnitude)
        toward_zero = f.select(away, f.sub(nearest, f.const(nearest, 1)), nearest)
        halves = f.select(single, toward_zero, nearest)
        kept = f.select(
            signed, f.resize(f.resize(value, 16), 32, True), f.resize(f.resize(value, 16), 32)
        )
        lost = f.mask_bits(f.compare("ne", kept, value))
        wrong = f.or_(wrong, f.select(integral, lost, i32(0)))
        f.store(f.mask(f.select(integral, value, halves), 16), f.channel(number), 64)
    wrong = f.and_(wrong, f.parameter("exec"))
    f.refuse(BufferRefusal.VALUE, f.compare("ne", wrong, i32(0)), "fits")
    f.give()
    return f.whole(attributes)


def widen_text(attributes: str) -> str:
    """Return `aj_texel_widen`, which converts the low 16 bits of a D16 store's channels to 32 bits
    of the format's kind."""
    f = TexelFunction("aj_texel_widen", "void", ("i32", "format"), ("ptr", "data"))
    for number in range(CHANNELS):
        low = f.resize(f.load(V32, f.channel(number), 64), 16)
        single = f.bitcast(f.convert("fpext", f.bitcast(low, "half"), "float"), "i32")
        result = f.select(f.compare("eq", f.kind, i32(SINT)), f.resize(low, 32, True), single)
        result = f.select(f.compare("eq", f.kind, i32(UINT)), f.resize(low, 32), result)
        f.store(result, f.channel(number), 64)
    f.give()
    return f.whole(attributes)
