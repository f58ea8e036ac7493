"""Native functions of the check for undefined values: what memory's shadow says of a load, and what
a store leaves.

`aj_undefined_<space><size>(context, shadows, site, address, exec, masks)` adds the lanes that load
something undefined to `masks`: for each dword, those whose low half is undefined, then those whose
high half is. `aj_define_<space><size>` writes the shadow of a store whose values' masks are given
in the same form. Spaces as in native/memory.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from amdjit.emulator.checks.init.lane_shadow import (
    begin_wave_text,
    define_lane_text,
    harm_text,
    look_text,
    scalar_text,
    shadow_of_text,
    undefined_lane_text,
)
from amdjit.emulator.checks.init.layout import KNOWN_ROWS, RANGE_ROW, Shadows
from amdjit.emulator.host.builder import Value, sequence
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.memory.spaces import ADDRESS_PARAMETERS, SIZES, SPACES
from amdjit.emulator.layout import FIELD_BYTES, PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH, Context

_PTR = "ptr"


# The high dwords of the addresses of LDS and private memory.
_APERTURES = {"l": SHARED_APERTURE_HIGH, "p": PRIVATE_APERTURE_HIGH}


def symbol_of(space: str, size: int, store: bool) -> str:
    """Return the name of an access's native function."""
    return f"aj_{'define' if store else 'undefined'}_{space}{size}"


def shadow_text(space: str, size: int, store: bool, attributes: str) -> str:
    """Return the definition of an access's native function."""
    parameters = [
        (_PTR, "context"),
        (_PTR, "shadows"),
        ("i32", "site"),
        *ADDRESS_PARAMETERS[space],
        ("i32", "exec"),
        (_PTR, "masks"),
    ]
    function = NativeFunction(symbol_of(space, size, store), "void", parameters)
    if space == "f":
        _flat(function, size, store)
    else:
        _Access(function, space, size, store).emit()
    return function.text(attributes)


class _Access:
    def __init__(self, function: NativeFunction, space: str, size: int, store: bool) -> None:
        self._f = function
        self._space, self._size, self._store = space, size, store
        self._dwords = max(size // 4, 1)

    def emit(self) -> None:
        f = self._f
        addresses, places = f.allocate("[32 x i64]"), f.allocate("[32 x i64]")
        spare = f.allocate("[16 x i8]")
        execution = f.parameter("exec")
        row = self._recall() if self._space == "l" else None
        f.store(Value("<16 x i8>", "zeroinitializer"), spare, 16)
        wide = self._addresses()
        f.store(wide, addresses, 64)
        low, span, shadow = self._range()
        distance = f.sub(wide, f.splat(low))
        room = f.sub(f.splat(span), distance)
        inside = f.and_(
            f.compare("ult", distance, f.splat(span)),
            f.compare("uge", room, f.splat(i64(self._size))),
        )
        allowed = f.mask_bits(inside)
        outside = f.and_(execution, f.not_(allowed))
        if self._space in ("l", "p"):
            execution = f.and_(execution, allowed)
        else:
            f.branch_if(f.compare("eq", outside, i32(0)), "known", "exact")
            f.label("known")
            f.branch_if(f.compare("eq", shadow, i64(0)), "done", "shadowed")
            f.label("shadowed")
        index = f.shift("lshr", distance, 2)
        bytes_at = f.add(f.splat(shadow), index)
        aligned = f.compare("eq", f.and_(f.extract(wide, 0), i64(3)), i64(0))
        good = f.and_(f.and_(self._stepped(wide), f.compare("eq", execution, i32(-1))), aligned)
        if self._store:
            self._quick_store(bytes_at, places, spare, good, execution, wide)
        else:
            self._quick_load(bytes_at, places, spare, good, execution, wide)
        f.label("exact")
        self._exactly(addresses, execution, shadow)
        f.branch("done")
        if row is not None:
            f.label("proved")
            for part, value in enumerate(row[1:]):
                f.store(value, f.offset(row[0], part * FIELD_BYTES), 8)
            f.branch("done")
        f.label("done")
        f.give()

    @property
    def _proved(self) -> str:
        """Where to go when an access was found to be all defined."""
        return "proved" if self._space == "l" else "done"

    def _recall(self) -> tuple[Value, Value, Value]:
        """Leave where the same access was found to be all defined since the workgroup began.

        Returns the row that remembers it, the access's hash and the workgroup's serial.
        """
        self._remember()
        f = self._f
        offsets = f.add(f.parameter("offset"), f.splat(f.parameter("base")))
        factors = sequence("i32", [(2 * lane + 1) * 0x9E3779B1 & 0xFFFFFFFF for lane in range(32)])
        # A sum of multiples alone would not tell waves apart that swizzle their addresses: the same
        # offsets, in lanes that other lanes make up for.
        scattered = f.mul(offsets, factors)
        scattered = f.mul(f.xor(scattered, f.shift("lshr", scattered, 15)), factors)
        total = f.call("llvm.vector.reduce.add.v32i32", "i32", [scattered])
        total = f.add(total, f.mul(f.parameter("exec"), i32(-1640531535)))
        key = f.concat_bits(total, f.parameter("site"))
        mixed = f.shift("lshr", f.mul(f.add(total, f.parameter("site")), i32(-1640531535)), 16)
        number = f.and_(f.resize(mixed, 64), i64(KNOWN_ROWS - 1))
        rows = f.cast("inttoptr", self._shadow(Shadows.KNOWN), _PTR)
        row = f.offset(rows, f.shift("shl", number, 4))
        serials = f.cast("inttoptr", self._shadow(Shadows.SERIALS), _PTR)
        serial = f.load("i64", f.offset(serials, f.shift("shl", f.context(Context.SLOT), 3)), 8)
        same = f.compare("eq", f.load("i64", row, 8), key)
        current = f.compare("eq", f.load("i64", f.offset(row, FIELD_BYTES), 8), serial)
        f.branch_if(f.and_(same, current), "done", "unknown")
        f.label("unknown")
        return row, key, serial

    def _remember(self) -> None:
        """A load looks now and then whether all of LDS is written; a store of something undefined
        undoes that."""
        f = self._f
        f.branch("remember")
        f.label("remember")
        slot = f.context(Context.SLOT)
        if not self._store:
            clean = f.call("aj_lds_is_clean", "i1", [f.parameter("shadows"), slot])
            f.branch_if(clean, "done", "look")
            f.label("look")
            return
        masks = f.load(f"<{2 * self._dwords} x i32>", f.parameter("masks"), 4)
        whole = f.cast("bitcast", masks, f"i{64 * self._dwords}")
        f.branch_if(f.compare("eq", whole, Value(whole.type, "0")), "unharmed", "harm")
        f.label("harm")
        f.call_void("aj_lds_harmed", [f.parameter("shadows"), slot])
        f.branch("unharmed")
        f.label("unharmed")

    def _addresses(self) -> Value:
        f = self._f
        if self._space in ("l", "p"):
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

    def _shadow(self, member: Shadows) -> Value:
        f = self._f
        return f.load("i64", f.offset(f.parameter("shadows"), member * FIELD_BYTES), 8)

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
        ranges = f.cast("inttoptr", self._shadow(Shadows.RANGES), _PTR)
        row = f.offset(
            ranges, f.mul(f.resize(f.parameter("site"), 64), i64(RANGE_ROW * FIELD_BYTES))
        )
        low, span, shadow = (
            f.load("i64", f.offset(row, part * FIELD_BYTES), 8) for part in range(3)
        )
        return low, span, shadow

    def _stepped(self, wide: Value) -> Value:
        f = self._f
        steps = sequence("i64", range(0, 32 * self._size, self._size))
        equal = f.compare("eq", wide, f.add(f.splat(f.extract(wide, 0)), steps))
        return f.compare("eq", f.mask_bits(equal), i32(-1))

    def _block(self, bytes_at: Value) -> tuple[str, Value]:
        """Return the type and the address of the shadow of 32 consecutive elements."""
        f = self._f
        return f"<{8 * self._size} x i8>", f.pointer(f.extract(bytes_at, 0))

    def _quick_load(
        self,
        bytes_at: Value,
        places: Value,
        spare: Value,
        good: Value,
        execution: Value,
        wide: Value,
    ) -> None:
        """Go to `done` where all that is loaded is defined."""
        f = self._f
        f.branch_if(good, "block", "scattered")
        f.label("block")
        kind, pointer = self._block(bytes_at)
        block = f.load(kind, pointer)
        whole = f.cast("bitcast", block, f"i{64 * self._size}")
        f.branch_if(f.compare("eq", whole, Value(whole.type, "0")), self._proved, "exact")
        f.label("scattered")
        self._store_places(bytes_at, places, spare, execution)
        self._all_aligned(wide, execution)
        word, bits = {1: ("i8", 8), 2: ("i16", 16)}.get(self._dwords, ("i32", 8 * self._dwords))
        found = Value(word, "0")
        for lane in range(32):
            place = f.load(_PTR, f.offset(places, 8 * lane), 8)
            found = f.or_(found, f.load(word, place))
        found = f.mask(found, bits)
        f.branch_if(f.compare("eq", found, Value(word, "0")), self._proved, "exact")

    def _all_aligned(self, wide: Value, execution: Value) -> None:
        """Leave the quick way where an access is not within dwords of its own."""
        f = self._f
        within = f.and_(wide, f.splat(i64(min(self._size, 4) - 1)))
        odd = f.mask_bits(f.compare("ne", within, f.splat(i64(0))))
        f.branch_if(f.compare("eq", f.and_(odd, execution), i32(0)), "even", "exact")
        f.label("even")

    def _store_places(self, bytes_at: Value, places: Value, spare: Value, execution: Value) -> None:
        f = self._f
        elsewhere = f.splat(f.cast("ptrtoint", spare, "i64"))
        f.store(f.select(f.lane_mask(execution), bytes_at, elsewhere), places, 64)

    def _quick_store(
        self,
        bytes_at: Value,
        places: Value,
        spare: Value,
        good: Value,
        execution: Value,
        wide: Value,
    ) -> None:
        """Go to `done` where all that is stored is defined, and dwords are aligned."""
        f = self._f
        masks = f.load(f"<{2 * self._dwords} x i32>", f.parameter("masks"), 4)
        whole = f.cast("bitcast", masks, f"i{64 * self._dwords}")
        f.branch_if(f.compare("eq", whole, Value(whole.type, "0")), "defined", "exact")
        f.label("defined")
        f.branch_if(good, "block", "scattered")
        f.label("block")
        kind, pointer = self._block(bytes_at)
        f.store(Value(kind, "zeroinitializer"), pointer)
        f.branch(self._proved)
        f.label("scattered")
        if self._size < 4:
            f.branch("exact")
            return
        self._all_aligned(wide, execution)
        self._store_places(bytes_at, places, spare, execution)
        for lane in range(32):
            place = f.load(_PTR, f.offset(places, 8 * lane), 8)
            f.store(Value(f"<{self._dwords} x i8>", "zeroinitializer"), place)
        f.branch(self._proved)

    def _exactly(self, addresses: Value, execution: Value, shadow: Value) -> None:
        """Lane by lane, byte by byte."""
        f = self._f
        if not self._store:
            f.store(i64(1), f.offset(f.parameter("shadows"), Shadows.SEEN * FIELD_BYTES), 8)
        loop = f.each_lane(execution, "exact")
        address = f.load("i64", f.offset(addresses, f.shift("shl", loop.lane, 3)), 8)
        if self._space in _APERTURES:
            place = f.pointer(f.add(shadow, f.shift("lshr", address, 2)))
            # What is reported is the address that a flat access of it has.
            address = f.or_(address, i64(_APERTURES[self._space] << 32))
        else:
            place = f.call(
                "aj_shadow_of", _PTR, [f.parameter("shadows"), f.parameter("site"), address]
            )
        name = "aj_define_lane" if self._store else "aj_undefined_lane"
        arguments = [
            f.parameter("context"),
            f.parameter("site"),
            address,
            place,
            loop.lane,
            i32(self._size),
        ]
        f.call_void(name, [*arguments, f.parameter("masks")])
        loop.close()


def _flat(function: NativeFunction, size: int, store: bool) -> None:
    """LDS and private memory through their apertures; global memory otherwise."""
    f = function
    low, high = f.parameter("low"), f.parameter("high")
    address = f.add(f.splat(f.parameter("base")), f.concat_bits(low, high))
    low, high = f.split_bits(address)
    execution = f.parameter("exec")
    masks = []
    for aperture in (SHARED_APERTURE_HIGH, PRIVATE_APERTURE_HIGH):
        hit = f.compare("eq", high, f.splat(i32(aperture)))
        masks.append(f.and_(execution, f.mask_bits(hit)))
    rest = f.and_(execution, f.not_(f.or_(masks[0], masks[1])))
    parts = (
        ("v", [low, high, i64(0)], rest),
        ("l", [low, i32(0)], masks[0]),
        ("p", [low, i32(0)], masks[1]),
    )
    for space, arguments, mask in parts:
        f.branch_if(f.compare("eq", mask, i32(0)), f"{space}.done", space)
        f.label(space)
        everything = [
            f.parameter("context"),
            f.parameter("shadows"),
            f.parameter("site"),
            *arguments,
            mask,
        ]
        f.call_void(symbol_of(space, size, store), [*everything, f.parameter("masks")])
        f.branch(f"{space}.done")
        f.label(f"{space}.done")
    f.give()


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
        "aj_shadow_of": shadow_of_text,
        "aj_undefined_lane": undefined_lane_text,
        "aj_define_lane": define_lane_text,
        "aj_undefined_scalar": scalar_text,
        "aj_begin_shadows": begin_wave_text,
        "aj_lds_harmed": harm_text,
        "aj_lds_is_clean": look_text,
    }
