"""Buffer formats: conversion between elements in memory and channels in registers (RDNA 4 ISA, 9.3
and 10.7).

A format's name lists its components from the highest bits down: X of 10_11_11 is in the lowest 11
bits. UNORM and SNORM are quotients by the largest integer, rounded once. What the document leaves
open is refused: how a store rounds or clamps a value that the format cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable

from amdjit.abi.buffer_formats import unified_format
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import V32, NativeFunction, i32, i64
from amdjit.emulator.instructions.buffers.texel_table import CHANNELS, TexelFunction
from amdjit.emulator.instructions.buffers.texel_values import (
    narrow_text,
    read_text,
    widen_text,
    write_text,
)
from amdjit.emulator.layout import VGPR_BYTES, BufferRefusal, FaultKind

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
