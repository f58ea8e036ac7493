"""Native functions of the check for undefined values: what memory's shadow says of a load, and what
a store leaves.

`aj_undefined_<space><size>(context, shadows, site, address, exec, masks)` adds the lanes that load
something undefined to `masks`: for each dword, those whose low half is undefined, then those whose
high half is. `aj_define_<space><size>` writes the shadow of a store whose values' masks are given
in the same form. Spaces as in `instructions/memory/access_native.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from amdjit.emulator.checks.init.lane_shadow import (
    BEGIN_SHADOWS,
    DEFINE_LANE,
    LDS_HARMED,
    LDS_IS_CLEAN,
    SHADOW_OF,
    UNDEFINED_LANE,
    UNDEFINED_SCALAR,
    begin_wave_text,
    define_lane_text,
    harm_text,
    look_text,
    scalar_text,
    shadow_of_text,
    shadows_of,
    undefined_lane_text,
)
from amdjit.emulator.checks.init.layout import KNOWN_ROWS, KnownAccess, ShadowRange, Shadows
from amdjit.emulator.host.blocks import Section
from amdjit.emulator.host.builder import Value, constant, sequence
from amdjit.emulator.host.declaration import Declaration, declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.instructions.memory.spaces import ADDRESS_PARAMETERS, SIZES, SPACES
from amdjit.emulator.layout import PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH, Context
from amdjit.late_methods import dataclass

# The high dwords of the addresses of LDS and private memory.
_APERTURES = {"l": SHARED_APERTURE_HIGH, "p": PRIVATE_APERTURE_HIGH}
# 2**32 divided by the golden ratio.
_FACTOR = 0x9E3779B1


def symbol_of(space: str, size: int, store: bool) -> str:
    """Return the name of an access's native function."""
    return f"aj_{'define' if store else 'undefined'}_{space}{size}"


def _access(space: str, size: int, store: bool) -> Declaration:
    address = {name: kind for kind, name in ADDRESS_PARAMETERS[space]}
    return declare(
        symbol_of(space, size, store),
        context="ptr",
        shadows="ptr",
        site="i32",
        **address,
        exec="i32",
        masks="ptr",
    )


def shadow_text(space: str, size: int, store: bool, attributes: str) -> str:
    """Return the definition of an access's native function."""
    f = NativeFunction.of(_access(space, size, store))
    if space == "f":
        _flat(f, size, store)
    else:
        with f.section() as access:
            _Access(f, access, space, size, store).emit()
    f.give()
    return f.text(attributes)


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Where the lanes of an access are: their addresses, their dwords' shadow, and those that
    count."""

    wide: Value
    bytes_at: Value
    execution: Value


@dataclass(frozen=True, slots=True)
class _Proof:
    """The row that remembers accesses that were found to be all defined, and what it holds then."""

    row: Record
    key: Value
    serial: Value


class _Access:
    def __init__(
        self, f: NativeFunction, access: Section, space: str, size: int, store: bool
    ) -> None:
        self._f = f
        self._whole = access
        self._space, self._size, self._store = space, size, store
        self._dwords = max(size // 4, 1)
        self._addresses, self._places = f.allocate("[32 x i64]"), f.allocate("[32 x i64]")
        self._spare = f.allocate("[16 x i8]")

    def emit(self) -> None:
        f = self._f
        proof = self._recall() if self._space == "l" else None
        f.store(Value("<16 x i8>", "zeroinitializer"), self._spare, 16)
        wide = self._wide_addresses()
        f.store(wide, self._addresses, 64)
        first, span, shadow = self._range()
        distance = f.sub(wide, f.splat(first))
        inside = self._inside(distance, span)
        bytes_at = f.add(f.splat(shadow), f.shift("lshr", distance, 2))
        execution = f.parameter("exec")
        if self._space in _APERTURES:
            execution = f.and_(execution, inside)
        lanes = _Lanes(wide, bytes_at, execution)
        with f.section() as quick:
            if self._space not in _APERTURES:
                outside = f.and_(execution, f.not_(inside))
                quick.leave_unless(f.compare("eq", outside, i32(0)))
                self._whole.leave_if(f.compare("eq", shadow, i64(0)))
            self._try_quickly(quick, lanes)
            if proof is not None:
                proof.row.set(KnownAccess.ACCESS, proof.key)
                proof.row.set(KnownAccess.SERIAL, proof.serial)
            self._whole.leave()
        self._exactly(execution, shadow)

    def _recall(self) -> _Proof:
        """Leave where the same access was found to be all defined since the workgroup began."""
        self._remember()
        f = self._f
        offsets = f.add(f.parameter("offset"), f.splat(f.parameter("base")))
        factors = sequence("i32", [(2 * lane + 1) * _FACTOR & 0xFFFFFFFF for lane in range(32)])
        # A sum of multiples alone would not tell waves apart that swizzle their addresses: the same
        # offsets, in other lanes.
        scattered = f.mul(offsets, factors)
        scattered = f.mul(f.xor(scattered, f.shift("lshr", scattered, 15)), factors)
        total = f.call("llvm.vector.reduce.add.v32i32", "i32", [scattered])
        total = f.add(total, f.mul(f.parameter("exec"), i32(_FACTOR)))
        key = f.concat_bits(total, f.parameter("site"))
        mixed = f.shift("lshr", f.mul(f.add(total, f.parameter("site")), i32(_FACTOR)), 16)
        number = f.and_(f.resize(mixed, 64), i64(KNOWN_ROWS - 1))
        row = shadows_of(f).follow(Shadows.KNOWN).row(number, KnownAccess.FIELDS)
        serials = shadows_of(f).get(Shadows.SERIALS)
        serial = f.load("i64", f.offset(serials, f.shift("shl", f.context(Context.SLOT), 3)), 8)
        is_same = f.compare("eq", row.get(KnownAccess.ACCESS), key)
        is_current = f.compare("eq", row.get(KnownAccess.SERIAL), serial)
        self._whole.leave_if(f.and_(is_same, is_current))
        return _Proof(row, key, serial)

    def _remember(self) -> None:
        """A load looks now and then whether all of LDS is written; a store of something undefined
        undoes that."""
        f = self._f
        arguments = [f.parameter("shadows"), f.context(Context.SLOT)]
        if not self._store:
            self._whole.leave_if(f.invoke(LDS_IS_CLEAN, *arguments))
            return
        with f.unless(self._is_defined()):
            f.invoke(LDS_HARMED, *arguments)

    def _is_defined(self) -> Value:
        """Return whether all that is stored is defined."""
        masks = self._f.load(f"<{2 * self._dwords} x i32>", self._f.parameter("masks"), 4)
        return self._is_zero(masks, 64 * self._dwords)

    def _is_zero(self, value: Value, bits: int) -> Value:
        whole = self._f.cast("bitcast", value, f"i{bits}")
        return self._f.compare("eq", whole, constant(whole.type, 0))

    def _wide_addresses(self) -> Value:
        f = self._f
        if self._space in _APERTURES:
            offsets = f.add(f.parameter("offset"), f.splat(f.parameter("base")))
            wide = f.resize(offsets, 64)
            if self._space == "p":
                lane_bytes = f.context(Context.SCRATCH_LANE_BYTES)
                return f.add(wide, f.mul(f.splat(lane_bytes), sequence("i64", range(32))))
            return wide
        base = f.splat(f.parameter("base"))
        if self._space == "s":
            return f.add(base, f.resize(f.parameter("offset"), 64))
        return f.add(base, f.concat_bits(f.parameter("low"), f.parameter("high")))

    def _inside(self, distance: Value, span: Value) -> Value:
        """Return the lanes whose access lies in what is accessed."""
        f = self._f
        begins = f.compare("ult", distance, f.splat(span))
        room = f.sub(f.splat(span), distance)
        return f.mask_bits(f.and_(begins, f.compare("uge", room, f.splat(i64(self._size)))))

    def _shadow(self, member: Shadows) -> Value:
        """Return the address of a shadow."""
        return self._f.load("i64", shadows_of(self._f).at(member), 8)

    def _range(self) -> tuple[Value, Value, Value]:
        """Return first address, size and shadow of what is accessed; LDS and private memory start
        at 0."""
        f = self._f
        if self._space == "l":
            before = f.sub(f.context(Context.LDS), f.context(Context.LDS_ALL))
            shadow = f.add(self._shadow(Shadows.LDS), f.shift("lshr", before, 2))
            return i64(0), f.context(Context.LDS_SIZE), shadow
        if self._space == "p":
            size = f.shift("shl", f.context(Context.SCRATCH_LANE_BYTES), 5)
            before = f.sub(f.context(Context.SCRATCH), f.context(Context.SCRATCH_ALL))
            return i64(0), size, f.add(self._shadow(Shadows.SCRATCH), f.shift("lshr", before, 2))
        rows = shadows_of(f).follow(Shadows.RANGES)
        row = rows.row(f.parameter("site"), ShadowRange.FIELDS)
        return row.get(ShadowRange.FIRST), row.get(ShadowRange.SIZE), row.get(ShadowRange.SHADOW)

    # The quick way: all is defined

    def _try_quickly(self, quick: Section, lanes: _Lanes) -> None:
        """Leave the quick way where something may be undefined; a store writes its shadow."""
        f = self._f
        is_block = self._is_block(lanes)
        if self._store:
            quick.leave_unless(self._is_defined())
        with f.if_else(is_block) as (block, scattered):
            with block:
                self._store_block(lanes) if self._store else self._load_block(quick, lanes)
            with scattered:
                self._touch_scattered(quick, lanes)

    def _is_block(self, lanes: _Lanes) -> Value:
        """Return whether all lanes access consecutive elements, from a dword's start on."""
        f, first = self._f, self._f.extract(lanes.wide, 0)
        is_aligned = f.compare("eq", f.and_(first, i64(3)), i64(0))
        steps = sequence("i64", range(0, 32 * self._size, self._size))
        equal = f.compare("eq", lanes.wide, f.add(f.splat(first), steps))
        is_stepped = f.compare("eq", f.mask_bits(equal), i32(-1))
        is_full = f.compare("eq", lanes.execution, i32(-1))
        return f.and_(f.and_(is_stepped, is_full), is_aligned)

    def _load_block(self, quick: Section, lanes: _Lanes) -> None:
        pointer = self._f.pointer(self._f.extract(lanes.bytes_at, 0))
        block = self._f.load(f"<{8 * self._size} x i8>", pointer)
        quick.leave_unless(self._is_zero(block, 64 * self._size))

    def _store_block(self, lanes: _Lanes) -> None:
        pointer = self._f.pointer(self._f.extract(lanes.bytes_at, 0))
        self._f.store(Value(f"<{8 * self._size} x i8>", "zeroinitializer"), pointer)

    def _touch_scattered(self, quick: Section, lanes: _Lanes) -> None:
        """Load or store the shadow of each lane's dwords."""
        if self._store and self._size < 4:
            quick.leave()
            return
        places = self._lane_places(quick, lanes)
        f = self._f
        if self._store:
            for place in places:
                f.store(Value(f"<{self._dwords} x i8>", "zeroinitializer"), place)
            return
        word, bits = {1: ("i8", 8), 2: ("i16", 16)}.get(self._dwords, ("i32", 8 * self._dwords))
        found = Value(word, "0")
        for place in places:
            found = f.or_(found, f.load(word, place))
        quick.leave_unless(f.compare("eq", f.mask(found, bits), Value(word, "0")))

    def _lane_places(self, quick: Section, lanes: _Lanes) -> Iterator[Value]:
        """Return where the lanes' shadow is, that of inactive ones elsewhere. Leave the quick way
        where an access is not within dwords of its own."""
        f = self._f
        within = f.and_(lanes.wide, f.splat(i64(min(self._size, 4) - 1)))
        odd = f.mask_bits(f.compare("ne", within, f.splat(i64(0))))
        quick.leave_unless(f.compare("eq", f.and_(odd, lanes.execution), i32(0)))
        elsewhere = f.splat(f.cast("ptrtoint", self._spare, "i64"))
        active = f.lane_mask(lanes.execution)
        f.store(f.select(active, lanes.bytes_at, elsewhere), self._places, 64)
        return (f.load("ptr", f.offset(self._places, 8 * lane), 8) for lane in range(32))

    # The exact way

    def _exactly(self, execution: Value, shadow: Value) -> None:
        """Lane by lane, byte by byte."""
        f = self._f
        if not self._store:
            shadows_of(f).set(Shadows.SEEN, i64(1))
        context, shadows, site, masks = (
            f.parameter(name) for name in ("context", "shadows", "site", "masks")
        )
        with f.each_lane(execution) as each:
            address = f.load("i64", f.offset(self._addresses, f.shift("shl", each.lane, 3)), 8)
            if self._space in _APERTURES:
                place = f.pointer(f.add(shadow, f.shift("lshr", address, 2)))
                # Reports have the address that a flat access would have.
                address = f.or_(address, i64(_APERTURES[self._space] << 32))
            else:
                place = f.invoke(SHADOW_OF, shadows, site, address)
            touch = DEFINE_LANE if self._store else UNDEFINED_LANE
            f.invoke(touch, context, site, address, place, each.lane, i32(self._size), masks)


def _flat(f: NativeFunction, size: int, store: bool) -> None:
    """LDS and private memory through their apertures; global memory otherwise."""
    low, high = f.parameter("low"), f.parameter("high")
    address = f.add(f.splat(f.parameter("base")), f.concat_bits(low, high))
    low, high = f.split_bits(address)
    execution = f.parameter("exec")
    hits = [f.compare("eq", high, f.splat(i32(part))) for part in _APERTURES.values()]
    lds, private = (f.and_(execution, f.mask_bits(hit)) for hit in hits)
    rest = f.and_(execution, f.not_(f.or_(lds, private)))
    parts = (
        ("v", [low, high, i64(0)], rest),
        ("l", [low, i32(0)], lds),
        ("p", [low, i32(0)], private),
    )
    context, shadows, site, masks = (
        f.parameter(name) for name in ("context", "shadows", "site", "masks")
    )
    for space, arguments, mask in parts:
        with f.unless(f.compare("eq", mask, i32(0))):
            access = _access(space, size, store)
            f.invoke(access, context, shadows, site, *arguments, mask, masks)


def shadow_sources() -> dict[str, Callable[[str], str]]:
    """Return the maker of each function's text."""
    accesses = {
        symbol_of(space, size, store): partial(shadow_text, space, size, store)
        for space in SPACES
        for size in SIZES
        for store in (False, True)
    }
    return {
        **accesses,
        SHADOW_OF.name: shadow_of_text,
        UNDEFINED_LANE.name: undefined_lane_text,
        DEFINE_LANE.name: define_lane_text,
        UNDEFINED_SCALAR.name: scalar_text,
        BEGIN_SHADOWS.name: begin_wave_text,
        LDS_HARMED.name: harm_text,
        LDS_IS_CLEAN.name: look_text,
    }
