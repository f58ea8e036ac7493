"""The addresses of a buffer instruction's lanes, and which of them are inside the buffer (RDNA 4
ISA, 9.4).

The fields of the resource are those of the table "Buffer Resource Descriptor" (9.6), by bit of its
dwords: stride 29:16 of dword 1, swizzle 31:30; of dword 3: format 17:12, stride scale 19:18, index
stride 22:21, add thread id 23, compression access mode 27:26, OOB_SELECT 29:28, type 31:30.
"""

from __future__ import annotations

from functools import partial

from amdjit.emulator.host.builder import Value, constant, sequence
from amdjit.emulator.host.function import V32, V64, NativeFunction, i32, i64
from amdjit.emulator.layout import VGPR_BYTES, BufferRefusal, Context, FaultKind
from amdjit.late_methods import dataclass

PLACE = "aj_buffer_place"
# Bits of `flags`: the instruction has an index; all dwords count as one payload; values are
# converted from or to a format.
INDEXED, WHOLE, CONVERTS = 1, 2, 4
# What the function writes to `out`: the low and high dwords of the addresses, then the masks of up
# to four dwords.
HIGH_OFFSET, MASKS_OFFSET = VGPR_BYTES, 2 * VGPR_BYTES
# Fields of dword 3: type, OOB_SELECT, compression access mode, add thread id. Most kernels set
# OOB_SELECT to 3 and the others to 0.
_KIND_BITS, _RAW_KIND = 0xFC800000, 0x30000000
PARAMETERS = (
    ("ptr", "context"),
    ("i32", "site"),
    *((("i32", f"word{index}")) for index in range(4)),
    ("i32", "soffset"),
    (V32, "index"),
    (V32, "offset"),
    ("i32", "ioffset"),
    ("i32", "size"),
    ("i32", "flags"),
    ("i32", "exec"),
    ("ptr", "out"),
)


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of the resource. stride and element (the bytes of a swizzled element, 0 if linear)
    are i64, the others i32."""

    base: Value
    stride: Value
    records: Value
    swizzle: Value
    element: Value
    index_shift: Value
    check: Value
    structured: Value


class PlaceFunction(NativeFunction):
    """The function of `place_text`, whose parameters are `PARAMETERS`."""

    def field(self, word: int, first: int, bits: int) -> Value:
        """Return a field of the resource: `bits` bits of a dword."""
        return self.mask(self.shift("lshr", self.parameter(f"word{word}"), first), bits)

    def is_set(self, flag: int) -> Value:
        """Return whether a bit of `flags` is set."""
        return self.compare("ne", self.and_(self.parameter("flags"), i32(flag)), i32(0))

    def wide(self, name: str) -> Value:
        """Return a parameter as i64."""
        return self.resize(self.parameter(name), 64)


def place_text(attributes: str) -> str:
    """Return the function, whose result is the lanes that have at least one dword inside the
    buffer.

    offset: the offsets of the lanes without the instruction's own, which is `ioffset`. size: the
    bytes that a lane transfers.
    """
    f = PlaceFunction(PLACE, "i32", PARAMETERS)
    _plain_raw(f)
    fields = _fields(f)
    index = _index(f)
    offset = f.resize(own_offset(f), 64)
    masks = [_inside(f, fields, index, offset, part) for part in range(4)]
    some = masks[0]
    for mask in masks[1:]:
        some = f.or_(some, mask)
    refusal = _refusal(f, fields, offset, some)
    finish(f, refusal, masks, _addresses(f, fields, index, offset))
    return f.text(attributes)


def finish(f: PlaceFunction, refusal: Value, masks: list[Value], addresses: Value) -> None:
    """Return what has been found, or refuse the access."""
    some = masks[0]
    for mask in masks[1:]:
        some = f.or_(some, mask)
    f.branch_if(f.compare("eq", refusal, i32(0)), "allowed", "refused")
    f.label("refused")
    kind, nobody = i32(FaultKind.BUFFER), i64(-1)
    f.call_void(
        "aj_fault",
        [f.parameter("context"), kind, f.parameter("site"), nobody, f.resize(refusal, 64), i32(0)],
    )
    f.branch("allowed")
    f.label("allowed")
    good = f.compare("eq", refusal, i32(0))
    low, high = f.split_bits(addresses)
    out = f.parameter("out")
    f.store(low, out, 64)
    f.store(high, f.offset(out, HIGH_OFFSET), 64)
    for part, mask in enumerate(masks):
        f.store(f.select(good, mask, i32(0)), f.offset(out, MASKS_OFFSET + 4 * part), 4)
    f.give(f.select(good, some, i32(0)))


def own_offset(f: PlaceFunction) -> Value:
    """Return the lanes' offsets plus the instruction's own; the sum wraps at 32 bits.

    LLVM relies on that: it moves a constant out of any 32-bit addition into the instruction, even
    where the lane's part becomes "negative" (as in loops that count up to 0); for gfx1250, which
    adds in more bits, it does so only with additions that cannot wrap. AMD measured the same on
    gfx950 (rocm-systems, pull request 10928).
    """
    return f.add(f.parameter("offset"), f.splat(f.parameter("ioffset")))


def _plain_raw(f: PlaceFunction) -> None:
    """Handle first what most kernels have: a raw buffer without stride, where nothing can be
    wrong."""
    kind = f.compare("eq", f.and_(f.parameter("word3"), i32(_KIND_BITS)), i32(_RAW_KIND))
    bound = f.compare("ne", f.field(3, 12, 6), i32(0))
    give_raw(f, f.and_(kind, bound))


def give_raw(f: PlaceFunction, usual: Value) -> None:
    """Return the lanes of a usual buffer if it has no stride; all others continue at `any`."""
    has_no_stride = f.compare("ult", f.parameter("word1"), i32(1 << 16))
    f.branch_if(f.and_(has_no_stride, usual), "raw", "any")
    f.label("raw")
    offset, out = own_offset(f), f.parameter("out")
    base = f.concat_bits(f.parameter("word0"), f.parameter("word1"))
    start = f.add(base, f.wide("soffset"))
    low, high = f.split_bits(f.add(f.splat(start), f.resize(offset, 64)))
    f.store(low, out, 64)
    f.store(high, f.offset(out, HIGH_OFFSET), 64)
    some = raw_lanes(f, offset, 0)
    f.store(some, f.offset(out, MASKS_OFFSET), 4)
    narrow = f.or_(f.compare("ule", f.parameter("size"), i32(4)), f.is_set(WHOLE))
    f.branch_if(narrow, "narrow", "wide")
    f.label("narrow")
    f.give(some)
    f.label("wide")
    for part in range(1, 4):
        exists = f.compare("ult", i32(4 * part), f.parameter("size"))
        mask = f.select(exists, raw_lanes(f, offset, part), i32(0))
        f.store(mask, f.offset(out, MASKS_OFFSET + 4 * part), 4)
        some = f.or_(some, mask)
    f.give(some)
    f.label("any")


def raw_lanes(f: PlaceFunction, offset: Value, part: int) -> Value:
    """Return the lanes whose dword `part` is inside a raw buffer; the scalar offset shortens the
    buffer."""
    rest = f.intrinsic("usub.sat", f.parameter("word2"), f.parameter("soffset"))
    needed = payload(f, part)
    # The largest allowed offset, unless the buffer is too short for any lane.
    lanes = f.mask_bits(f.compare("ule", offset, f.splat(f.sub(rest, needed))))
    return f.select(f.compare("uge", rest, needed), f.and_(lanes, f.parameter("exec")), i32(0))


def payload(f: PlaceFunction, part: int) -> Value:
    """Return the bytes up to which dword `part` is checked: all of the lane's, or those up to its
    own end."""
    size = f.parameter("size")
    return f.select(f.is_set(WHOLE), size, f.intrinsic("umin", size, i32(4 * part + 4)))


def _fields(f: PlaceFunction) -> _Fields:
    base = f.concat_bits(f.parameter("word0"), f.mask(f.parameter("word1"), 16))
    # Stride scale: 1, 4, 8 or 32.
    code = f.field(3, 18, 2)
    scale = i32(0)
    for number, shift in ((1, 2), (2, 3), (3, 5)):
        scale = f.select(f.compare("eq", code, i32(number)), i32(shift), scale)
    stride = f.resize(f.shift("shl", f.field(1, 16, 14), scale), 64)
    swizzle = f.field(1, 30, 2)
    element = f.select(f.compare("eq", swizzle, i32(3)), i64(16), i64(4))
    element = f.select(f.compare("eq", swizzle, i32(0)), i64(0), element)
    check = f.field(3, 28, 2)
    # OOB_SELECT 3 checks swizzled buffers of records like 0.
    swizzled = f.and_(f.compare("ne", swizzle, i32(0)), f.compare("ne", stride, i64(0)))
    third = f.and_(swizzled, f.compare("eq", check, i32(3)))
    structured = f.or_(third, f.compare("eq", check, i32(0)))
    index_shift = f.resize(f.add(f.field(3, 21, 2), i32(3)), 64)
    return _Fields(
        base,
        stride,
        records=f.parameter("word2"),
        swizzle=swizzle,
        element=element,
        index_shift=index_shift,
        check=check,
        structured=structured,
    )


def _index(f: PlaceFunction) -> Value:
    """Return the record as i64: the lane's own, plus the lane number if the resource adds it."""
    lanes = f.add(sequence("i64", range(32)), f.splat(f.context(Context.LANE_BASE)))
    adds = f.compare("ne", f.field(3, 23, 1), i32(0))
    return f.add(f.resize(f.parameter("index"), 64), f.select(adds, lanes, constant(V64, 0)))


def _inside(f: PlaceFunction, fields: _Fields, index: Value, offset: Value, part: int) -> Value:
    """Return the lanes whose dword `part` is inside the buffer; 0 if the payload has no such dword.

    Each dword is checked on its own, except in formatted accesses and atomics (notes on the table
    of OOB_SELECT). The scalar offset does not wrap: the check saturates (LLVM AMDGPU guide,
    "Relaxed Buffer OOB Mode").
    """
    end = f.add(offset, f.splat(f.resize(payload(f, part), 64)))
    records = f.resize(fields.records, 64)
    in_records = f.compare("ult", index, f.splat(records))
    in_record = f.and_(in_records, f.compare("ule", end, f.splat(fields.stride)))
    # The scalar offset shortens a raw buffer.
    rest = f.intrinsic("usub.sat", records, f.wide("soffset"))
    result = f.compare("ule", end, f.splat(rest))
    some = f.splat(f.compare("ne", records, i64(0)))
    for number, choice in ((1, in_records), (2, some)):
        result = f.select(f.compare("eq", fields.check, i32(number)), choice, result)
    result = f.select(fields.structured, in_record, result)
    mask = f.and_(f.mask_bits(result), f.parameter("exec"))
    exists = f.compare("ult", i32(4 * part), f.parameter("size"))
    return f.select(exists, mask, i32(0))


def _addresses(f: PlaceFunction, fields: _Fields, index: Value, offset: Value) -> Value:
    """Return the addresses: linear, or swizzled (9.4.2), where groups of records are interleaved
    element by element."""
    start = f.splat(fields.base)
    scalar = f.splat(f.wide("soffset"))
    stride = f.splat(fields.stride)
    linear = f.add(f.add(start, scalar), f.add(offset, f.mul(index, stride)))
    total = f.mask(f.add(offset, scalar), 32)
    wide = f.compare("eq", fields.swizzle, i32(3))
    element_shift = f.splat(f.select(wide, i64(4), i64(2)))
    group_shift = f.splat(fields.index_shift)
    group = f.shift("lshr", index, group_shift)
    in_group = f.sub(index, f.shift("shl", group, group_shift))
    element = f.shift("lshr", total, element_shift)
    in_element = f.sub(total, f.shift("shl", element, element_shift))
    rows = f.add(f.mul(group, stride), f.shift("shl", element, element_shift))
    row = f.shift("shl", rows, group_shift)
    swizzled = f.add(f.add(row, f.shift("shl", in_group, element_shift)), f.add(in_element, start))
    return f.select(f.compare("ne", fields.swizzle, i32(0)), swizzled, linear)


def _refusal(f: PlaceFunction, fields: _Fields, offset: Value, some: Value) -> Value:
    """Return a `BufferRefusal`, or 0 if the access is allowed."""
    anybody = f.compare("ne", some, i32(0))
    swizzled = f.compare("ne", fields.swizzle, i32(0))
    adds = f.compare("ne", f.field(3, 23, 1), i32(0))
    raw = f.and_(f.compare("eq", fields.check, i32(3)), f.not_(fields.structured))
    strided = f.compare("ne", fields.stride, i64(0))
    by_index = f.or_(f.is_set(INDEXED), adds)
    unbound = f.and_(f.compare("eq", f.field(3, 12, 6), i32(0)), f.not_(adds))
    third = f.and_(f.compare("eq", fields.check, i32(3)), fields.structured)
    remainder = f.and_(fields.stride, f.sub(fields.element, i64(1)))
    cases = (
        (BufferRefusal.TYPE, f.compare("ne", f.field(3, 30, 2), i32(0))),
        (BufferRefusal.COMPRESSED, f.compare("ne", f.field(3, 26, 2), i32(0))),
        (BufferRefusal.UNBOUND, unbound),
        (BufferRefusal.SWIZZLE, f.compare("eq", fields.swizzle, i32(2))),
        (BufferRefusal.STRIDE, f.and_(swizzled, f.compare("ne", remainder, i64(0)))),
        (BufferRefusal.RAW_INDEX, f.and_(raw, f.and_(strided, by_index))),
        (
            BufferRefusal.SWIZZLED_OFFSET,
            f.and_(third, f.compare("ne", f.parameter("soffset"), i32(0))),
        ),
        (BufferRefusal.ELEMENT, f.and_(swizzled, _crosses(f, fields, offset, some))),
    )
    refusal = i32(0)
    for code, wrong in reversed(cases):
        refusal = f.select(wrong, i32(code), refusal)
    return f.select(anybody, refusal, i32(0))


def _crosses(f: PlaceFunction, fields: _Fields, offset: Value, some: Value) -> Value:
    """Return whether some lane's payload does not fit into its element; 16 bytes never do (9.4.2,
    "Restrictions")."""
    size = f.wide("size")
    total = f.add(offset, f.splat(f.wide("soffset")))
    place = f.and_(total, f.splat(f.sub(fields.element, i64(1))))
    late = f.compare("ugt", f.add(place, f.splat(size)), f.splat(fields.element))
    lanes = f.and_(f.mask_bits(late), some)
    return f.or_(f.compare("ne", lanes, i32(0)), f.compare("eq", size, i64(16)))


# Wide buffer accesses of lanes that are partly inside the buffer: dword by dword (RDNA 4 ISA,
# 9.4.1).


PARTS_LOAD, PARTS_STORE = "aj_buffer_parts_load", "aj_buffer_parts_store"


def parts_text(store: bool, attributes: str) -> str:
    """Return the function. `place` is what `aj_buffer_place` wrote, `full` the lanes that are
    already done."""
    parameters = [
        ("ptr", "context"),
        ("i32", "site"),
        ("ptr", "place"),
        ("i32", "full"),
        ("ptr", "data"),
    ]
    f = NativeFunction(PARTS_STORE if store else PARTS_LOAD, "void", parameters)
    place = f.parameter("place")
    others = f.not_(f.parameter("full"))
    masks = [
        f.and_(f.load("i32", f.offset(place, MASKS_OFFSET + 4 * part), 4), others)
        for part in range(4)
    ]
    for part, mask in enumerate(masks):
        f.branch_if(f.compare("eq", mask, i32(0)), f"done{part}", f"part{part}")
        f.label(f"part{part}")
        _part(f, store, part, mask)
        f.branch(f"done{part}")
        f.label(f"done{part}")
    f.give()
    return f.text(attributes)


def _part(f: NativeFunction, store: bool, part: int, mask: Value) -> None:
    place = f.parameter("place")
    slot = f.offset(f.parameter("data"), part * VGPR_BYTES)
    words = [f.load(V32, place, 64), f.load(V32, f.offset(place, HIGH_OFFSET), 64)]
    arguments = [f.parameter("context"), f.parameter("site"), *words, i64(4 * part), mask]
    old = f.load(V32, slot, 64)
    if store:
        f.call_void("aj_store_v4", [*arguments, old])
    else:
        loaded = f.call("aj_load_v4", V32, arguments)
        f.store(f.select(f.lane_mask(mask), loaded, old), slot, 64)


PARTS = {PARTS_LOAD: partial(parts_text, False), PARTS_STORE: partial(parts_text, True)}
