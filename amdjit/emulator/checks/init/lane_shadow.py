"""Native functions that look at memory's shadow byte by byte, and those that clear it."""

from __future__ import annotations

from amdjit.emulator.checks.init.kinds import InitKind
from amdjit.emulator.checks.init.layout import UNDEFINED, ShadowedAllocation, ShadowRange, Shadows
from amdjit.emulator.host.builder import NULL, Value, constant
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import FALSE, TRUE, NativeFunction, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.scheduling.report_rows import REPORT

_LANE = {
    "context": "ptr",
    "site": "i32",
    "address": "i64",
    "shadow": "ptr",
    "lane": "i64",
    "size": "i32",
    "masks": "ptr",
}
SHADOW_OF = declare("aj_shadow_of", "ptr", shadows="ptr", site="i32", address="i64")
UNDEFINED_LANE = declare("aj_undefined_lane", **_LANE)
DEFINE_LANE = declare("aj_define_lane", **_LANE)
UNDEFINED_SCALAR = declare(
    "aj_undefined_scalar",
    "i32",
    context="ptr",
    shadows="ptr",
    site="i32",
    address="i64",
    size="i32",
)
LDS_HARMED = declare("aj_lds_harmed", shadows="ptr", slot="i64")
LDS_IS_CLEAN = declare("aj_lds_is_clean", "i1", shadows="ptr", slot="i64")
BEGIN_SHADOWS = declare("aj_begin_shadows", shadows="ptr", wave="i64", slot="i64")

# One of this many loads from LDS looks whether all of it is written by now.
_LOOKS = 16
# Bytes of shadow that such a look compares at a time.
_LOOK_BYTES = 16


def shadows_of(f: NativeFunction) -> Record:
    """Return the shadows that a function's parameter points to."""
    return Record(f, f.parameter("shadows"))


def shadow_of_text(attributes: str) -> str:
    """Return `aj_shadow_of`: the shadow of an address's dword, null if all of the allocation is
    defined.

    The site's range becomes that of the address's allocation.
    """
    f = NativeFunction.of(SHADOW_OF)
    shadows, address = shadows_of(f), f.parameter("address")
    known = shadows.follow(Shadows.RANGES).row(f.parameter("site"), ShadowRange.FIELDS)
    distance = f.sub(address, known.get(ShadowRange.FIRST))
    with f.if_(f.compare("ult", distance, known.get(ShadowRange.SIZE))):
        _give_shadow(f, known.get(ShadowRange.SHADOW), distance)
    table, count = shadows.follow(Shadows.TABLE), shadows.get(Shadows.TABLE_COUNT)
    with f.loop(index=i64(0)) as search:
        search.leave_unless(f.compare("ult", search.index, count))
        row = table.row(search.index, ShadowedAllocation.FIELDS)
        start = row.get(ShadowedAllocation.START)
        size = f.sub(row.get(ShadowedAllocation.END), start)
        distance = f.sub(address, start)
        with f.if_(f.compare("ult", distance, size)):
            shadow = row.get(ShadowedAllocation.SHADOW)
            known.set(ShadowRange.FIRST, start)
            known.set(ShadowRange.SIZE, size)
            known.set(ShadowRange.SHADOW, shadow)
            _give_shadow(f, shadow, distance)
        search.again(index=f.add(search.index, i64(1)))
    f.give(NULL)
    return f.text(f"noinline {attributes}")


def _give_shadow(f: NativeFunction, shadow: Value, distance: Value) -> None:
    """Return the shadow of the dword that far from an allocation's start."""
    place = f.add(shadow, f.shift("lshr", distance, 2))
    f.give(f.pointer(f.select(f.compare("eq", shadow, i64(0)), i64(0), place)))


def _byte_of_shadow(f: NativeFunction, byte: Value) -> tuple[Value, Value]:
    """Return where the bits of byte `byte` of an access are, and the number of its bit, as i8."""
    position = f.add(f.and_(f.parameter("address"), i64(3)), byte)
    place = f.offset(f.parameter("shadow"), f.shift("lshr", position, 2))
    return place, f.resize(f.and_(position, i64(3)), 8)


def _mask_of_half(f: NativeFunction, byte: Value) -> Value:
    """Return the address of the mask of the half dword that a byte of an access is in."""
    return f.offset(f.parameter("masks"), f.shift("shl", f.shift("lshr", byte, 1), 2))


def undefined_lane_text(attributes: str) -> str:
    """Return `aj_undefined_lane`: one lane's part of a load.

    Adds the lane to the masks of the halves that have a byte that was never written, and notes
    where that was.
    """
    f = NativeFunction.of(UNDEFINED_LANE)
    context, site, address, shadow, lane, size, _ = f.parameters
    with f.unless(f.compare("eq", shadow, NULL)):
        found = f.variable(FALSE)
        with f.count_to(f.resize(size, 64)) as byte:
            place, number = _byte_of_shadow(f, byte)
            bits = f.load("i8", place)
            with f.if_(f.resize(f.binary("lshr", bits, number), 1)):
                mask = _mask_of_half(f, byte)
                own = f.shift("shl", i32(1), f.resize(lane, 32))
                f.store(f.or_(f.load("i32", mask, 4), own), mask, 4)
                found.set(TRUE)
        with f.if_(found.get()):
            f.invoke(REPORT, context, i32(InitKind.LOADED), site, lane, address, size, NULL)
    f.give()
    return f.text(f"noinline {attributes}")


def define_lane_text(attributes: str) -> str:
    """Return `aj_define_lane`: one lane's part of a store.

    Other threads may write other bytes of a dword at the same time: the shadow's bits change one by
    one.
    """
    f = NativeFunction.of(DEFINE_LANE)
    lane = f.resize(f.parameter("lane"), 32)
    with (
        f.unless(f.compare("eq", f.parameter("shadow"), NULL)),
        f.count_to(f.resize(f.parameter("size"), 64)) as byte,
    ):
        mask = f.load("i32", _mask_of_half(f, byte), 4)
        place, number = _byte_of_shadow(f, byte)
        bit = f.binary("shl", constant("i8", 1), number)
        is_undefined = f.resize(f.binary("lshr", mask, lane), 1)
        with f.if_else(is_undefined) as (undefined, defined):
            with undefined:
                f.atomic("or", place, bit, "monotonic")
            with defined:
                f.atomic("and", place, f.not_(bit), "monotonic")
    f.give()
    return f.text(f"noinline {attributes}")


def scalar_text(attributes: str) -> str:
    """Return `aj_undefined_scalar`: which dwords of a scalar load are undefined.

    Bit n is dword n; a load of less than a dword has bit 0.
    """
    f = NativeFunction.of(UNDEFINED_SCALAR)
    context, shadows, site, address, size = f.parameters
    masks = f.allocate("[2 x i32]", 8)
    shadows_of(f).set(Shadows.SEEN, i64(1))
    step = f.select(f.compare("ult", size, i32(4)), size, i32(4))
    found = f.variable(i32(0))
    with f.loop(offset=i32(0)) as each:
        place = f.add(address, f.resize(each.offset, 64))
        shadow = f.invoke(SHADOW_OF, shadows, site, place)
        f.store(i64(0), masks, 8)
        f.invoke(UNDEFINED_LANE, context, site, place, shadow, i64(0), step, masks)
        is_undefined = f.resize(f.compare("ne", f.load("i64", masks, 8), i64(0)), 32)
        dword = f.shift("lshr", each.offset, 2)
        found.set(f.or_(found.get(), f.binary("shl", is_undefined, dword)))
        following = f.add(each.offset, step)
        each.again_if(f.compare("ult", following, size), offset=following)
    f.give(found.get())
    return f.text(f"noinline {attributes}")


def _of_slot(f: NativeFunction, field: Shadows) -> Value:
    """Return the address of the number that a workgroup's slot has."""
    first = shadows_of(f).get(field)
    return f.offset(first, f.shift("shl", f.parameter("slot"), 3))


def _forget_lds(f: NativeFunction) -> None:
    """Take what was known of a workgroup's LDS as unknown, by another serial."""
    f.store(i64(0), _of_slot(f, Shadows.CLEAN), FIELD_BYTES)
    shadows = shadows_of(f)
    serial = f.add(shadows.get(Shadows.NEXT_SERIAL), i64(1))
    shadows.set(Shadows.NEXT_SERIAL, serial)
    f.store(serial, _of_slot(f, Shadows.SERIALS), FIELD_BYTES)


def _lds_of(f: NativeFunction) -> Value:
    """Return the shadow of a workgroup's LDS."""
    shadows = shadows_of(f)
    distance = f.mul(f.parameter("slot"), shadows.get(Shadows.LDS_STRIDE))
    return f.offset(shadows.get(Shadows.LDS), distance)


def harm_text(attributes: str) -> str:
    """Return `aj_lds_harmed`: something undefined is stored, and what was known of LDS no longer
    holds."""
    f = NativeFunction.of(LDS_HARMED)
    _forget_lds(f)
    f.give()
    return f.text(f"noinline {attributes}")


def begin_wave_text(attributes: str) -> str:
    """Return `aj_begin_shadows`: nothing in a wave's private memory is written yet, and for the
    group's first wave, nothing in LDS.

    slot: that of the group on its host thread. What is not stored of the registers' shadows is
    never asked for (`ShadowRegisters.flush`).
    """
    f = NativeFunction.of(BEGIN_SHADOWS)
    shadows, wave = shadows_of(f), f.parameter("wave")
    number = f.add(f.mul(f.parameter("slot"), shadows.get(Shadows.WAVES)), wave)
    size = shadows.get(Shadows.SCRATCH_BYTES)
    f.fill(f.offset(shadows.get(Shadows.SCRATCH), f.mul(number, size)), UNDEFINED, size)
    with f.if_(f.compare("eq", wave, i64(0))):
        _forget_lds(f)
        f.fill(_lds_of(f), UNDEFINED, shadows.get(Shadows.LDS_BYTES))
    f.give()
    return f.text(f"noinline {attributes}")


def look_text(attributes: str) -> str:
    """Return `aj_lds_is_clean`: 1 if all of a workgroup's LDS is written; that is remembered."""
    f = NativeFunction.of(LDS_IS_CLEAN)
    shadows = shadows_of(f)
    looks = f.add(shadows.get(Shadows.LOOKS), i64(1))
    shadows.set(Shadows.LOOKS, looks)
    with f.unless(f.compare("eq", f.and_(looks, i64(_LOOKS - 1)), i64(0))):
        f.give(FALSE)
    size, first = shadows.get(Shadows.LDS_BYTES), _lds_of(f)
    kind = f"i{8 * _LOOK_BYTES}"
    with f.loop(offset=i64(0)) as each:
        each.leave_unless(f.compare("ult", each.offset, size))
        some = f.load(kind, f.offset(first, each.offset))
        with f.unless(f.compare("eq", some, constant(kind, 0))):
            f.give(FALSE)
        each.again(offset=f.add(each.offset, i64(_LOOK_BYTES)))
    f.store(i64(1), _of_slot(f, Shadows.CLEAN), FIELD_BYTES)
    f.give(TRUE)
    return f.text(f"noinline {attributes}")
