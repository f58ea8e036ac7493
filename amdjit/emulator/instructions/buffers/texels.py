"""Buffer formats: conversion between elements in memory and channels in registers (RDNA 4 ISA, 9.3
and 10.7).

A format's name lists its components from the highest bits down: X of 10_11_11 is in the lowest 11
bits. UNORM and SNORM are quotients by the largest integer, rounded once. What the document leaves
open is refused: how a store rounds or clamps a value that the format cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable

from amdjit.abi.buffer_formats import KINDS, format_of, unified_format
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import V32, NativeFunction, i32, i64
from amdjit.emulator.layout import VGPR_BYTES, BufferRefusal, FaultKind
from amdjit.isa.floats.elements import half_to_single, single_to_half

# One component of a buffer format: from the bits in memory to those in a register, and back (RDNA 4
# ISA, 9.3).
#
# UNORM and SNORM are quotients by the largest integer, rounded once; stores round to the nearest
# integer.


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


_SIZES = (1, 2, 4, 8, 12, 16)
_WHERE = (("ptr", "context"), ("i32", "site"), ("i32", "format"))
_LANES = ((V32, "low"), (V32, "high"), ("i32", "exec"), ("ptr", "data"))


def size_text(attributes: str) -> str:
    """Return `aj_texel_size(format)`: the bytes of an element."""
    f = TexelFunction("aj_texel_size", "i32", ("i32", "format"))
    f.give(f.item(1))
    return f.whole(attributes)


def _aligned(f: TexelFunction) -> Value:
    """Return the active lanes whose address has the alignment that formats need (9.5); the first of
    the others is a fault."""
    low = f.and_(f.parameter("low"), f.splat(f.item(3)))
    bad = f.and_(f.mask_bits(f.compare("ne", low, f.const(low, 0))), f.parameter("exec"))
    f.branch_if(f.compare("eq", bad, i32(0)), "aligned", "misaligned")
    f.label("misaligned")
    lane = f.resize(f.intrinsic("cttz", bad, flags=[Value("i1", "true")]), 64)
    address = f.concat_bits(
        f.extract(f.parameter("low"), lane), f.extract(f.parameter("high"), lane)
    )
    kind = i32(FaultKind.MISALIGNED)
    f.call_void(
        "aj_fault", [f.parameter("context"), kind, f.parameter("site"), lane, address, f.item(1)]
    )
    f.branch("aligned")
    f.label("aligned")
    return f.and_(f.parameter("exec"), f.not_(bad))


def _by_size(f: TexelFunction, emit: Callable[[int], None]) -> None:
    cases = " ".join(f"i32 {size}, label %size{size}" for size in _SIZES)
    f.line(f"switch i32 {f.item(1).text}, label %transferred [ {cases} ]")
    for size in _SIZES:
        f.label(f"size{size}")
        emit(size)
        f.branch("transferred")
    f.label("transferred")


def load_text(attributes: str) -> str:
    """Return `aj_texel_load`, which loads four channels; they are 0 where the format or the lane
    has none."""
    f = TexelFunction("aj_texel_load", "void", *_WHERE, *_LANES)
    raw = f.allocate("[4 x <32 x i32>]")
    zero = f.const(f.parameter("low"), 0)
    for part in range(CHANNELS):
        f.store(zero, f.offset(raw, part * VGPR_BYTES), 64)
    lanes = _aligned(f)
    arguments = [
        f.parameter("context"),
        f.parameter("site"),
        f.parameter("low"),
        f.parameter("high"),
        i64(0),
        lanes,
    ]

    def load(size: int) -> None:
        if size > 4:
            f.call_void(f"aj_load_v{size}", [*arguments, raw])
        else:
            f.store(f.call(f"aj_load_v{size}", V32, arguments), raw, 64)

    _by_size(f, load)
    for channel in range(CHANNELS):
        dword, shift, width = f.component(channel)
        word = f.load(V32, f.offset(raw, f.shift("shl", f.resize(dword, 64), 7)), 64)
        moved = f.shift("lshr", word, f.splat(shift))
        f.store(f.call("aj_texel_read", V32, [moved, f.kind, width]), f.channel(channel), 64)
    f.give()
    return f.whole(attributes)


def store_text(attributes: str) -> str:
    """Return `aj_texel_store`, which converts the channels at `data` and stores an element of the
    format."""
    f = TexelFunction("aj_texel_store", "void", *_WHERE, *_LANES)
    raw = f.allocate("[4 x <32 x i32>]")
    bad = f.allocate("i32", 4)
    scaled = f.and_(f.compare("uge", f.kind, i32(2)), f.compare("ule", f.kind, i32(3)))
    f.refuse(
        BufferRefusal.SCALED, f.and_(scaled, f.compare("ne", f.parameter("exec"), i32(0))), "rounds"
    )
    lanes = _aligned(f)
    lanes = f.select(scaled, i32(0), lanes)
    wrong = i32(0)
    for part in range(CHANNELS):
        f.store(f.const(f.parameter("low"), 0), f.offset(raw, part * VGPR_BYTES), 64)
    for channel in range(CHANNELS):
        dword, shift, width = f.component(channel)
        value = f.load(V32, f.channel(channel), 64)
        there = f.compare("ne", width, i32(0))
        bits = f.call("aj_texel_write", V32, [value, f.kind, f.select(there, width, i32(8)), bad])
        bits = f.select(there, f.shift("shl", bits, f.splat(shift)), f.const(bits, 0))
        wrong = f.or_(wrong, f.select(there, f.load("i32", bad, 4), i32(0)))
        slot = f.offset(raw, f.shift("shl", f.resize(dword, 64), 7))
        f.store(f.or_(f.load(V32, slot, 64), bits), slot, 64)
    wrong = f.and_(wrong, lanes)
    f.refuse(BufferRefusal.VALUE, f.compare("ne", wrong, i32(0)), "fits")
    lanes = f.and_(lanes, f.not_(wrong))
    arguments = [
        f.parameter("context"),
        f.parameter("site"),
        f.parameter("low"),
        f.parameter("high"),
        i64(0),
        lanes,
    ]

    def store(size: int) -> None:
        data = raw if size > 4 else f.load(V32, raw, 64)
        f.call_void(f"aj_store_v{size}", [*arguments, data])

    _by_size(f, store)
    f.give()
    return f.whole(attributes)


def select_text(attributes: str) -> str:
    """Return `aj_texel_select`, which selects the first `count` channels at `data` as dword 3 of
    the resource says.

    A store selects nothing: the resource must name the format's channels in their order.
    """
    parameters = (
        *_WHERE,
        ("i32", "word"),
        ("i32", "count"),
        ("i32", "store"),
        ("i32", "exec"),
        ("ptr", "data"),
    )
    f = TexelFunction("aj_texel_select", "void", *parameters)
    channels = [f.load(V32, f.channel(number), 64) for number in range(CHANNELS)]
    one = f.splat(f.select(f.is_integer, i32(1), i32(0x3F800000)))
    store = f.compare("ne", f.parameter("store"), i32(0))
    wrong = Value("i1", "false")
    for number in range(CHANNELS):
        code = f.mask(f.shift("lshr", f.parameter("word"), 3 * number), 3)
        result, known = f.const(one, 0), f.compare("eq", code, i32(0))
        result = f.select(f.compare("eq", code, i32(1)), one, result)
        known = f.or_(known, f.compare("eq", code, i32(1)))
        for source, channel in enumerate(channels):
            chosen = f.compare("eq", code, i32(4 + source))
            result = f.select(chosen, channel, result)
            known = f.or_(known, f.and_(chosen, f.compare("ult", i32(source), f.item(2))))
        f.store(f.select(store, channels[number], result), f.channel(number), 64)
        own = f.or_(
            f.compare("eq", code, i32(4 + number)), f.compare("uge", i32(number), f.item(2))
        )
        bad = f.and_(f.not_(known), f.compare("ult", i32(number), f.parameter("count")))
        wrong = f.or_(wrong, f.select(store, f.not_(own), bad))
    f.refuse(
        BufferRefusal.SELECT,
        f.and_(wrong, f.compare("ne", f.parameter("exec"), i32(0))),
        "selected",
    )
    f.give()
    return f.whole(attributes)


_UNIFIED = (
    "@unified = internal constant [128 x i32] ["
    + ", ".join(f"i32 {unified_format(data, kind)}" for data in range(16) for kind in range(8))
    + "], align 64"
)


def unified_text(attributes: str) -> str:
    """Return `aj_texel_unified(word)`: the unified format of gfx9's formats in dword 3 of a
    resource: the data format in bits 18:15, the number format in bits 14:12."""
    f = NativeFunction("aj_texel_unified", "i32", [("i32", "word")])
    number = f.mask(f.shift("lshr", f.parameter("word"), 12), 7)
    place = f.offset(Value("ptr", "@unified"), f.resize(f.shift("shl", number, 2), 64))
    f.give(f.load("i32", place, 4))
    return f"{_UNIFIED}\n{f.text(attributes)}"


TEXELS: dict[str, Callable[[str], str]] = {
    "aj_texel_size": size_text,
    "aj_texel_unified": unified_text,
    "aj_texel_load": load_text,
    "aj_texel_read": read_text,
    "aj_texel_write": write_text,
    "aj_texel_store": store_text,
    "aj_texel_select": select_text,
    "aj_texel_narrow": narrow_text,
    "aj_texel_widen": widen_text,
}


# The buffer formats as a table for native code, and functions on one row of it (RDNA 4 ISA, 10.7).


UINT, SINT, FLOAT = KINDS.index("UINT"), KINDS.index("SINT"), KINDS.index("FLOAT")
CHANNELS = 4


def _row(number: int) -> list[int]:
    """Return kind, bytes, components and alignment - 1, then for each channel: dword, shift, width
    (0 if missing), and an unused entry."""
    texel = format_of(number)
    if texel is None:
        return [UINT, 4, 0, 3] + [0] * 16
    row = [KINDS.index(texel.kind), texel.size, len(texel.widths), min(texel.size, 4) - 1]
    place = 0
    for width in (*texel.widths, *[0] * (CHANNELS - len(texel.widths))):
        row += [place // 32 if width else 0, place % 32 if width else 0, width, 0]
        place += width
    return row


_ROW_INTS = 20
_TABLE = (
    f"@formats = internal constant [{64 * _ROW_INTS} x i32] ["
    + ", ".join(f"i32 {value}" for number in range(64) for value in _row(number))
    + "], align 64"
)


class TexelFunction(NativeFunction):
    """A function on the row of its parameter `format` and the four vectors at `data`."""

    def __init__(self, name: str, result: str, *parameters: tuple[str, str]) -> None:
        super().__init__(name, result, parameters)
        index = self.resize(self.mul(self.parameter("format"), i32(4 * _ROW_INTS)), 64)
        self._row = self.offset(Value("ptr", "@formats"), index)

    def item(self, number: int) -> Value:
        """Return an entry of the row: kind, bytes, components, alignment - 1, or a part of a
        component."""
        return self.load("i32", self.offset(self._row, 4 * number), 4)

    @property
    def kind(self) -> Value:
        """Return the number of the kind."""
        return self.item(0)

    @property
    def is_integer(self) -> Value:
        """Whether the kind is UINT or SINT."""
        return self.or_(
            self.compare("eq", self.kind, i32(UINT)), self.compare("eq", self.kind, i32(SINT))
        )

    def component(self, channel: int) -> tuple[Value, Value, Value]:
        """Return a component's dword, shift and width."""
        dword, shift, width = (self.item(4 + 4 * channel + part) for part in range(3))
        return dword, shift, width

    def channel(self, number: int) -> Value:
        """Return the address of a channel's vector."""
        return self.offset(self.parameter("data"), number * VGPR_BYTES)

    def refuse(self, code: BufferRefusal, wrong: Value, done: str) -> None:
        """Stop the launch if the i1 `wrong` holds; otherwise continue at the new block `done`."""
        self.branch_if(wrong, f"{done}.refuse", done)
        self.label(f"{done}.refuse")
        kind, nobody = i32(FaultKind.BUFFER), i64(-1)
        context, site = self.parameter("context"), self.parameter("site")
        self.call_void("aj_fault", [context, kind, site, nobody, i64(code), i32(0)])
        self.branch(done)
        self.label(done)

    def whole(self, attributes: str) -> str:
        """Return the definition, preceded by the table."""
        return f"{_TABLE}\n{self.text(attributes)}"
