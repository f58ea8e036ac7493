"""Cycles of LDS, counted by native code: the rule is that of `lds_banks.py`.

A cycle serves a group of lanes. Each dword that a group needs gets the group's stamp in a table, so
that what is needed twice is noticed. Where lanes move aligned pairs or quads of dwords, those take
the place of dwords, and half or a quarter as many banks the place of banks.
"""

from __future__ import annotations

from functools import partial

from amdjit.emulator.counting.layout import (
    IN_LDS,
    IS_ATOMIC,
    LDS_UNITS,
    ORDER_SHIFT,
    SEEN_AT,
    AccessField,
    Cursor,
    Header,
    Place,
)
from amdjit.emulator.counting.lds_banks import (
    BANKS,
    PAIRED,
    QUARTERS,
    LdsOrder,
    groups_of,
    lanes_per_cycle,
)
from amdjit.emulator.counting.places_native import LDS_CYCLES, count_place, new_place
from amdjit.emulator.host.builder import Value, sequence
from amdjit.emulator.host.function import V64, NativeFunction, Variable, i32, i64
from amdjit.emulator.host.native_sources import Source
from amdjit.emulator.host.record import Record
from amdjit.emulator.instructions.memory.addresses_native import are_consecutive
from amdjit.emulator.instructions.memory.spaces import ADDRESS_PARAMETERS, SIZES
from amdjit.emulator.layout import FIELD_BYTES

__all__ = ["lds_sources", "lds_symbol"]

_LANES = 32
_HALF = 16


def lds_symbol(size: int, order: LdsOrder) -> str:
    """Return the name of the function that counts a load or store of LDS."""
    suffix = f"_{order.name.lower()}" if order else ""
    return f"aj_count_l{size}{suffix}"


def _cycles_text(attributes: str) -> str:
    """Return `aj_count_lds`: cycles, and in the upper half those due to conflicts."""
    f = NativeFunction.of(LDS_CYCLES)
    counts = f.allocate(f"[{2 * BANKS} x i32]")
    place = Record(f, f.parameter("place"))
    groups = _Groups(f, place, counts)
    with f.loop(first=i64(0)) as each:
        lanes = f.and_(place.get(Place.LANES), f.resize(groups.members(each.first), 32))
        with f.unless(f.compare("eq", lanes, i32(0))):
            groups.add(lanes)
        following = f.add(each.first, groups.lanes)
        each.again_if(f.compare("ult", following, i64(_LANES)), first=following)
    f.give(f.or_(groups.cycles.get(), f.shift("shl", groups.conflicts.get(), 32)))
    return f.text(attributes)


class _Groups:
    """The groups of lanes that are served together: `lanes` each."""

    def __init__(self, f: NativeFunction, place: Record, counts: Value) -> None:
        self._f, self._place, self._counts = f, place, counts
        self.cycles, self.conflicts = f.variable(i64(0)), f.variable(i64(0))
        size = place.get(Place.SIZE)
        self._size = size
        self._is_atomic = f.compare("ne", f.and_(place.get(Place.FLAGS), i64(IS_ATOMIC)), i64(0))
        wide = f.compare("ugt", size, i64(8))
        small = f.compare("ule", size, i64(4))
        order = f.shift("lshr", place.get(Place.FLAGS), ORDER_SHIFT)
        is_own = f.and_(wide, f.compare("ne", order, i64(LdsOrder.CONSECUTIVE)))
        is_even = f.or_(f.compare("eq", size, i64(8)), f.compare("eq", size, i64(16)))
        doubles = f.and_(is_even, f.compare("eq", order, i64(LdsOrder.GFX950_LOAD)))
        self._paired = f.and_(is_own, doubles)
        self._quarters = f.and_(is_own, f.not_(doubles))
        lanes = f.select(small, i64(32), f.select(wide, i64(8), i64(16)))
        self.lanes = f.select(doubles, f.add(lanes, lanes), lanes)
        self._shift = self._unit_shift()
        nbytes = f.select(doubles, i64(8 * BANKS), i64(4 * BANKS))
        self._banks = f.binary("lshr", nbytes, self._shift)

    def members(self, first: Value) -> Value:
        """Return the lanes of the group that stands at the place of lane `first`, as a mask."""
        f = self._f
        consecutive = f.sub(f.binary("shl", i64(1), self.lanes), i64(1))
        result = f.binary("shl", consecutive, first)
        for chosen, groups in ((self._quarters, QUARTERS), (self._paired, PAIRED)):
            for number, group in enumerate(groups):
                is_this = f.compare("eq", first, i64(number * _LANES // len(groups)))
                result = f.select(f.and_(chosen, is_this), i64(group), result)
        return result

    def _unit_shift(self) -> Value:
        """Return the binary logarithm of the bytes of what is counted."""
        f, size = self._f, self._size
        wide = f.load(V64, self._place.address, 64)
        is_even = f.compare("eq", f.and_(wide, f.splat(f.sub(size, i64(1)))), f.const(wide, 0))
        aligned = f.or_(f.mask_bits(is_even), f.not_(self._place.get(Place.LANES)))
        is_aligned = f.compare("eq", aligned, i32(-1))
        pairs = f.and_(is_aligned, f.compare("eq", size, i64(8)))
        quads = f.and_(is_aligned, f.compare("eq", size, i64(16)))
        return f.select(quads, i64(4), f.select(pairs, i64(3), i64(2)))

    def add(self, lanes: Value) -> None:
        """Add the cycles of a group with some active lanes."""
        f = self._f
        header = Record(f, f.parameter("area"))
        stamp = f.add(header.get(Header.STAMP), i64(1))
        header.set(Header.STAMP, stamp)
        f.fill(self._counts, 0, 8 * BANKS)
        most = f.variable(i32(0))
        with f.each_lane(lanes) as each:
            place = f.offset(self._place.address, f.shift("shl", each.lane, 3))
            address = f.load("i64", place, FIELD_BYTES)
            last = f.add(address, f.sub(self._size, i64(1)))
            end = f.binary("lshr", last, self._shift)
            with f.loop(unit=f.binary("lshr", address, self._shift)) as units:
                self._need(units.unit, stamp, most)
                more = f.compare("ult", units.unit, end)
                units.again_if(more, unit=f.add(units.unit, i64(1)))
        cycles = f.resize(most.get(), 64)
        self.cycles.set(f.add(self.cycles.get(), cycles))
        self.conflicts.set(f.add(self.conflicts.get(), f.sub(cycles, i64(1))))

    def _need(self, unit: Value, stamp: Value, most: Variable) -> None:
        f = self._f
        entry = f.shift("shl", f.and_(unit, i64(LDS_UNITS - 1)), 3)
        seen = f.offset(f.offset(f.parameter("area"), SEEN_AT * FIELD_BYTES), entry)
        known = f.compare("eq", f.load("i64", seen, FIELD_BYTES), stamp)
        f.store(stamp, seen, FIELD_BYTES)
        is_shared = f.and_(known, f.not_(self._is_atomic))
        bank = f.and_(unit, f.sub(self._banks, i64(1)))
        place = f.offset(self._counts, f.shift("shl", bank, 2))
        count = f.add(f.load("i32", place, 4), f.select(is_shared, i32(0), i32(1)))
        f.store(count, place, 4)
        most.set_if(f.compare("ugt", count, most.get()), count)


def _access_text(size: int, order: LdsOrder, attributes: str) -> str:
    """Return `aj_count_l4(area, row, cursor, address, lanes, times)` and the like. times: as
    `layout.Place` has it."""
    parameters = [("ptr", "area"), ("ptr", "row"), ("ptr", "cursor"), *ADDRESS_PARAMETERS["l"]]
    parameters += [("i32", "exec"), ("i64", "times")]
    f = NativeFunction(lds_symbol(size, order), "void", parameters)
    place = new_place(f)
    offsets = f.add(f.parameter("offset"), f.splat(f.parameter("base")))
    step = Record(f, f.parameter("cursor")).get(Cursor.STEP)
    full = f.compare("eq", f.parameter("exec"), i32(-1))
    with f.if_(f.and_(full, f.compare("eq", step, i64(0)))):
        if size in (4, 8, 16) and order is LdsOrder.CONSECUTIVE:
            _try_strides(f, offsets, size)
        else:
            _try_neighbours(f, offsets, size, order)
        if size == 4:
            _try_halves(f, offsets)
    f.store(f.resize(offsets, 64), place.address, 64)
    flags = IN_LDS | order << ORDER_SHIFT
    count_place(
        f, place, lanes=f.parameter("exec"), size=i64(size), flags=flags, times=f.parameter("times")
    )
    return f.text(attributes)


def _try_strides(f: NativeFunction, offsets: Value, size: int) -> None:
    """Count an access in which each group of lanes goes from one aligned place to the next by the
    same distance; return from the function if it is one.

    Of a group of 2**n lanes, as many need one bank as the distance has factors of 2.
    """
    lanes = lanes_per_cycle(size)
    shift = size.bit_length() - 1
    stride = f.sub(f.extract(offsets, 1), f.extract(offsets, 0))
    firsts = f.shuffle(offsets, offsets, [lane // lanes * lanes for lane in range(_LANES)])
    steps = f.mul(f.splat(stride), sequence("i32", [lane % lanes for lane in range(_LANES)]))
    regular = _all(f, f.compare("eq", offsets, f.add(firsts, steps)))
    odd = f.mask(f.binary("or", offsets, f.splat(stride)), shift)
    aligned = _all(f, f.compare("eq", odd, f.const(odd, 0)))
    with f.if_(f.and_(regular, aligned)):
        units = f.resize(f.shift("ashr", stride, shift), 64)
        # Without a distance all lanes share a place.
        factor = f.and_(units, f.sub(i64(0), units))
        is_more = f.compare("ugt", factor, i64(lanes))
        shared = f.compare("eq", units, i64(0))
        cycles = f.select(shared, i64(1), f.select(is_more, i64(lanes), factor))
        groups = i64(_LANES // lanes)
        _add(f, size, f.mul(cycles, groups), f.mul(f.sub(cycles, i64(1)), groups))
        f.give()


def _try_neighbours(f: NativeFunction, offsets: Value, size: int, order: LdsOrder) -> None:
    """Count an access of neighbouring places, or of one; return from the function if it is one."""
    first = f.extract(offsets, 0)
    aligned = f.compare("eq", f.mask(first, 2 if size > 4 else size // 2), i32(0))
    one = _all(f, f.compare("eq", offsets, f.splat(first)))
    neighbours = f.and_(aligned, are_consecutive(f, offsets, size))
    with f.if_(f.or_(one, neighbours)):
        _add(f, size, i64(len(groups_of(size, order))), i64(0))
        f.give()


def _try_halves(f: NativeFunction, offsets: Value) -> None:
    """Count dwords of which each half of the wave needs a row, or a single one."""
    first, second = f.extract(offsets, 0), f.extract(offsets, _HALF)
    firsts = f.shuffle(offsets, offsets, [0] * _HALF + [_HALF] * _HALF)
    # Dwords from one half's first to the other's.
    distance = f.shift("ashr", f.sub(second, first), 2)
    aligned = f.compare("eq", f.mask(f.or_(first, second), 2), i32(0))
    with f.if_(f.and_(aligned, _all(f, f.compare("eq", offsets, firsts)))):
        same_bank = f.compare("eq", f.mask(distance, 5), i32(0))
        conflict = f.and_(same_bank, f.compare("ne", distance, i32(0)))
        _add_dwords(f, conflict)
    steps = sequence("i32", [4 * (lane % _HALF) for lane in range(_LANES)])
    with f.if_(f.and_(aligned, _all(f, f.compare("eq", offsets, f.add(firsts, steps))))):
        # Two rows that overlap or touch are one of at most 32 dwords; others need different banks.
        near = f.compare("ule", f.add(distance, i32(_HALF)), i32(2 * _HALF))
        apart = f.compare("eq", f.mask(distance, 5), i32(_HALF))
        _add_dwords(f, f.not_(f.or_(near, apart)))


def _add_dwords(f: NativeFunction, conflict: Value) -> None:
    """Count an access of dwords and return."""
    more = f.resize(conflict, 64)
    _add(f, 4, f.add(more, i64(1)), more)
    f.give()


def _all(f: NativeFunction, conditions: Value) -> Value:
    return f.compare("eq", f.mask_bits(conditions), i32(-1))


def _add(f: NativeFunction, size: int, cycles: Value, conflicts: Value) -> None:
    row, times = Record(f, f.parameter("row")), f.parameter("times")
    row.set(AccessField.REQUESTS, f.add(row.get(AccessField.REQUESTS), i64(1)))
    for field, amount in (
        (AccessField.BYTES, i64(_LANES * size)),
        (AccessField.LDS_CYCLES, cycles),
        (AccessField.LDS_CONFLICT_CYCLES, conflicts),
    ):
        row.set(field, f.add(row.get(field), f.mul(amount, times)))


def lds_sources() -> dict[str, Source]:
    """Return the makers of these functions by symbol."""
    functions: dict[str, Source] = {LDS_CYCLES.name: _cycles_text}
    for size in SIZES:
        for order in LdsOrder:
            functions[lds_symbol(size, order)] = partial(_access_text, size, order)
    return functions
