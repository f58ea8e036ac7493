"""Loads and stores of a wave: a fast path for contiguous addresses, gather and scatter for all
others.

An access that is not allowed is recorded as a fault and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from amdjit.emulator.host.builder import Builder, Value, constant, sequence, vector
from amdjit.emulator.host.function import V32, NativeFunction, i32, i64
from amdjit.emulator.instructions.memory.addresses_native import (
    block_address,
    checked_addresses,
    wide_addresses,
)
from amdjit.emulator.instructions.memory.spaces import ADDRESS_PARAMETERS, Access
from amdjit.emulator.layout import (
    PRIVATE_APERTURE_HIGH,
    SHARED_APERTURE_HIGH,
    VGPR_BYTES,
    Context,
)


def access_text(access: Access, attributes: str) -> str:
    """Return the definition of an access's native function.

    Parameters: context, site, the address parameters of its space, exec, then the data: up to 4
    bytes, a vector to store; above, a pointer to vectors, for loads as well. Loads of up to 4 bytes
    return the vector.
    """
    parameters = [
        ("ptr", "context"),
        ("i32", "site"),
        *ADDRESS_PARAMETERS[access.space],
        ("i32", "exec"),
    ]
    if access.by_pointer:
        parameters.append(("ptr", "data"))
    elif access.store:
        parameters.append((V32, "data"))
    result = "void" if access.store or access.by_pointer else V32
    function = NativeFunction(access.symbol, result, parameters)
    if access.space == "f":
        _finish(function, access, flat_access(function, access))
    else:
        _fast_or_slow(function, access)
    return function.text(attributes)


def _fast_or_slow(function: NativeFunction, access: Access) -> None:
    addresses = function.allocate("[32 x i64]")
    staging = function.allocate("[128 x i32]")
    if access.space == "p":
        function.branch("slow")
    else:
        pointer, good = block_address(function, access)
        halved = access.space == "l" and (
            access.size == 4 or (access.size > 4 and not access.store)
        )
        function.branch_if(good, "fast", "halves" if halved else "slow")
        function.label("fast")
        _finish(function, access, _transfer_block(function, access, pointer))
        if halved:
            _half_waves(function, access)
    function.label("slow")
    valid = checked_addresses(function, access, addresses)
    if access.store:
        _scatter(function, access, addresses, staging, valid)
    else:
        _gather(function, access, addresses, staging, valid)


def _half_waves(function: NativeFunction, access: Access) -> None:
    """Try the fast paths for the two halves of a wave; the next block is `slow`."""
    function.label("halves")
    offsets = function.add(function.parameter("offset"), function.splat(function.parameter("base")))
    if access.size == 4:
        function.branch_if(
            are_stepped(function, offsets, 4), "stepped", "slow" if access.store else "others"
        )
        function.label("stepped")
        if access.store:
            store_stepped(function, offsets, function.parameter("data"))
            function.give()
        else:
            _finish(function, access, [load_stepped(function, offsets)])
            function.label("others")
    if not access.store:
        function.branch_if(are_uniform(function, offsets, access.size), "uniform", "slow")
        function.label("uniform")
        _finish(function, access, load_uniform(function, offsets, access.size // 4))


def _finish(function: NativeFunction, access: Access, values: list[Value]) -> None:
    if access.store:
        function.give()
    elif access.by_pointer:
        data = function.parameter("data")
        for index, value in enumerate(values):
            function.store(value, function.offset(data, index * VGPR_BYTES), 64)
        function.give()
    else:
        function.give(values[0])


def _transfer_block(function: NativeFunction, access: Access, pointer: Value) -> list[Value]:
    if not access.store:
        return load_block(function, pointer, access.size)
    store_block(function, pointer, access.size, _data(function, access))
    return []


def _data(function: NativeFunction, access: Access) -> list[Value]:
    if not access.by_pointer:
        return [function.parameter("data")]
    data = function.parameter("data")
    return [
        function.load(V32, function.offset(data, index * VGPR_BYTES), 64)
        for index in range(access.size // 4)
    ]


def _chunk(size: int) -> str:
    return f"i{size * 8}" if size <= 8 else f"<{size // 4} x i32>"


def _gather(
    function: NativeFunction, access: Access, addresses: Value, staging: Value, valid: Value
) -> None:
    if access.size in (4, 8, 16):
        function.branch_if(function.compare("eq", valid, i32(-1)), "whole", "partial")
        function.label("whole")
        rows = GATHER_ROWS[access.size](function, addresses)
        _finish(function, access, rows_to_dwords(function, rows, access.size // 4))
        function.label("partial")
    _clear(function, access, staging)
    with function.each_lane(valid) as each:
        chunk = function.load(_chunk(access.size), lane_pointer(function, addresses, each.lane))
        slot = function.offset(staging, function.mul(each.lane, i64(access.size)))
        function.store(chunk, slot)
    _finish(function, access, load_block(function, staging, access.size))


def _clear(function: NativeFunction, access: Access, staging: Value) -> None:
    for start in range(0, 32 * access.size, 32):
        function.store(Value("<8 x i32>", "zeroinitializer"), function.offset(staging, start), 32)


def _scatter(
    function: NativeFunction, access: Access, addresses: Value, staging: Value, valid: Value
) -> None:
    store_block(function, staging, access.size, _data(function, access))
    with function.each_lane(valid) as each:
        slot = function.offset(staging, function.mul(each.lane, i64(access.size)))
        chunk = function.load(_chunk(access.size), slot)
        function.store(chunk, lane_pointer(function, addresses, each.lane))
    function.give()


# Loads of all lanes from addresses of their own, combined as if the elements had been consecutive
# in memory.


def lane_pointer(function: NativeFunction, addresses: Value, lane: Value | int) -> Value:
    """Return a lane's pointer from the array of addresses."""
    scaled = lane * 8 if isinstance(lane, int) else function.shift("shl", lane, 3)
    return function.load("ptr", function.offset(addresses, scaled), 8)


def _gather_rows_1(function: NativeFunction, addresses: Value) -> list[Value]:
    rows = []
    for first in (0, 16):
        row = Value(ROW_TYPE, "poison")
        for slot in range(16):
            item = function.load("i32", lane_pointer(function, addresses, first + slot))
            row = function.insert(row, item, slot)
        rows.append(row)
    return rows


def _gather_rows_2(function: NativeFunction, addresses: Value) -> list[Value]:
    rows = []
    for first in range(0, 32, 8):
        row = Value("<8 x i64>", "poison")
        for slot in range(8):
            item = function.load("i64", lane_pointer(function, addresses, first + slot))
            row = function.insert(row, item, slot)
        rows.append(function.cast("bitcast", row, ROW_TYPE))
    return rows


def _gather_rows_4(function: NativeFunction, addresses: Value) -> list[Value]:
    rows = []
    for first in range(0, 32, 4):
        items = [
            function.load("<4 x i32>", lane_pointer(function, addresses, first + slot))
            for slot in range(4)
        ]
        left = function.shuffle(items[0], items[1], range(8))
        right = function.shuffle(items[2], items[3], range(8))
        rows.append(function.shuffle(left, right, range(16)))
    return rows


# By the bytes of a lane's element.
GATHER_ROWS: Mapping[int, Callable[[NativeFunction, Value], list[Value]]] = {
    4: _gather_rows_1,
    8: _gather_rows_2,
    16: _gather_rows_4,
}


# Accesses of flat memory: the address of each lane tells which memory it is in.


def flat_access(function: NativeFunction, access: Access) -> list[Value]:
    """Access LDS and private memory through their apertures, and global memory otherwise; return
    the loaded values, a vector for each dword."""
    out = function.allocate("[16 x <32 x i32>]")
    address = wide_addresses(function, access)
    low, high = function.split_bits(address)
    execution = function.parameter("exec")
    masks = []
    for aperture in (SHARED_APERTURE_HIGH, PRIVATE_APERTURE_HIGH):
        hit = function.compare("eq", high, function.splat(i32(aperture)))
        masks.append(function.and_(execution, function.mask_bits(hit)))
    rest = function.and_(execution, function.not_(function.or_(masks[0], masks[1])))
    parts = (
        ("v", [low, high, i64(0)], rest),
        ("l", [low, i32(0)], masks[0]),
        ("p", [low, i32(0)], masks[1]),
    )
    if not access.store:
        # What a buffer does not hold is in no memory, and reads as 0.
        for dword in range(max(1, access.size // 4)):
            function.store(constant(V32, 0), function.offset(out, dword * VGPR_BYTES), 64)
    for index, (space, arguments, mask) in enumerate(parts):
        _flat_part(
            function,
            Access(space, access.size, access.store),
            arguments=arguments,
            mask=mask,
            index=index,
            out=out,
        )
    return _flat_result(function, access, masks, out)


def _flat_part(
    function: NativeFunction,
    part: Access,
    arguments: list[Value],
    mask: Value,
    index: int,
    out: Value,
) -> None:
    label = f"part{index}"
    function.branch_if(function.compare("eq", mask, i32(0)), f"{label}.done", label)
    function.label(label)
    place = function.offset(out, index * 4 * VGPR_BYTES)
    everything = [function.parameter("context"), function.parameter("site"), *arguments, mask]
    if part.by_pointer:
        everything.append(function.parameter("data") if part.store else place)
        function.call_void(part.symbol, everything)
    elif part.store:
        function.call_void(part.symbol, [*everything, function.parameter("data")])
    else:
        function.store(function.call(part.symbol, V32, everything), place, 64)
    function.branch(f"{label}.done")
    function.label(f"{label}.done")


def _flat_result(
    function: NativeFunction, access: Access, masks: list[Value], out: Value
) -> list[Value]:
    if access.store:
        return []
    values = []
    for dword in range(max(1, access.size // 4)):
        parts = [
            function.load(V32, function.offset(out, (index * 4 + dword) * VGPR_BYTES), 64)
            for index in range(3)
        ]
        value = function.select(function.lane_mask(masks[0]), parts[1], parts[0])
        values.append(function.select(function.lane_mask(masks[1]), parts[2], value))
    return values


# Accesses of LDS in which each half of the wave (16 lanes) follows a pattern that whole waves
# often follow.
#
# Tiles with 16 columns are read this way: each half reads a row, or all its lanes the same element.

HALF = 16
_FIRSTS = [0] * HALF + [HALF] * HALF


def full_and_equal(function: NativeFunction, left: Value, right: Value) -> Value:
    """Return an i1: whether EXEC is full and the lanes of two vectors are equal."""
    same = function.compare("eq", function.mask_bits(function.compare("eq", left, right)), i32(-1))
    return function.and_(same, function.compare("eq", function.parameter("exec"), i32(-1)))


def are_stepped(function: NativeFunction, offsets: Value, size: int) -> Value:
    """Return an i1: whether the lanes of each half access consecutive elements of `size` bytes, all
    within LDS."""
    steps = sequence("i32", [lane * size for _ in range(2) for lane in range(HALF)])
    expected = function.add(function.shuffle(offsets, offsets, _FIRSTS), steps)
    return function.and_(
        full_and_equal(function, offsets, expected), _fit(function, offsets, HALF * size)
    )


def are_uniform(function: NativeFunction, offsets: Value, size: int) -> Value:
    """Return an i1: whether all lanes of each half access the same element of `size` bytes, within
    LDS."""
    firsts = function.shuffle(offsets, offsets, _FIRSTS)
    return function.and_(full_and_equal(function, offsets, firsts), _fit(function, offsets, size))


def _fit(function: NativeFunction, offsets: Value, width: int) -> Value:
    room = function.sub(function.context(Context.LDS_SIZE), i64(width))
    low, high = (function.resize(function.extract(offsets, lane), 64) for lane in (0, HALF))
    return function.and_(function.compare("sle", low, room), function.compare("sle", high, room))


def _pointers(function: NativeFunction, offsets: Value) -> tuple[Value, Value]:
    base = function.context_pointer(Context.LDS)
    low, high = (function.resize(function.extract(offsets, lane), 64) for lane in (0, HALF))
    return function.offset(base, low), function.offset(base, high)


def load_stepped(function: NativeFunction, offsets: Value) -> Value:
    """Load a dword for each lane where `are_stepped` holds."""
    halves = [function.load(f"<{HALF} x i32>", pointer) for pointer in _pointers(function, offsets)]
    return function.shuffle(halves[0], halves[1], range(2 * HALF))


def store_stepped(function: NativeFunction, offsets: Value, value: Value) -> None:
    """Store a dword of each lane where `are_stepped` holds; the upper lanes win where the halves
    overlap."""
    for first, pointer in zip((0, HALF), _pointers(function, offsets), strict=True):
        function.store(function.shuffle(value, value, range(first, first + HALF)), pointer)


def load_uniform(function: NativeFunction, offsets: Value, dwords: int) -> list[Value]:
    """Load dwords for each lane where `are_uniform` holds."""
    low, high = _pointers(function, offsets)
    values = []
    for dword in range(dwords):
        pair = constant("<2 x i32>", 0)
        for index, pointer in enumerate((low, high)):
            pair = function.insert(
                pair, function.load("i32", function.offset(pointer, 4 * dword)), index
            )
        values.append(function.shuffle(pair, pair, [0] * HALF + [1] * HALF))
    return values


# A wave's 32 consecutive elements in memory as vectors, one for each dword of the element, and
# back.


ROW = 16
ROW_TYPE = vector("i32", ROW)
WAVE = range(32)


def join_halves(builder: Builder, low: Value, high: Value) -> Value:
    """Concatenate two vectors."""
    lanes = int(low.type[1 : low.type.index(" ")])
    return builder.shuffle(low, high, range(2 * lanes))


def rows_to_dwords(builder: Builder, rows: Sequence[Value], dwords: int) -> list[Value]:
    """Deinterleave vectors of 16 dwords in memory order; each result holds one dword of 32
    lanes."""
    half = len(rows) // 2
    low = _SPLIT[dwords](builder, rows[:half])
    high = _SPLIT[dwords](builder, rows[half:])
    return [join_halves(builder, left, right) for left, right in zip(low, high, strict=True)]


def dwords_to_rows(builder: Builder, values: Sequence[Value]) -> list[Value]:
    """Interleave: the inverse of `rows_to_dwords`."""
    rows: list[Value] = []
    for first in (0, ROW):
        halves = [builder.shuffle(value, value, range(first, first + ROW)) for value in values]
        rows += _MERGE[len(values)](builder, halves)
    return rows


def _split_1(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    return list(rows)


def _split_2(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    return [builder.shuffle(rows[0], rows[1], range(part, 32, 2)) for part in (0, 1)]


def _split_3(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    results = []
    for part in range(3):
        places = [3 * lane + part for lane in range(ROW)]
        start = builder.shuffle(rows[0], rows[1], [place if place < 32 else -1 for place in places])
        final = [lane if place < 32 else ROW + place - 32 for lane, place in enumerate(places)]
        results.append(builder.shuffle(start, rows[2], final))
    return results


def _split_4(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    results = []
    for part in (0, 2):
        order = [*range(part, 32, 4), *range(part + 1, 32, 4)]
        left = builder.shuffle(rows[0], rows[1], order)
        right = builder.shuffle(rows[2], rows[3], order)
        results.append(builder.shuffle(left, right, [*range(8), *range(16, 24)]))
        results.append(builder.shuffle(left, right, [*range(8, 16), *range(24, 32)]))
    return results


def _merge_1(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    return list(halves)


def _merge_2(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    order = [part * ROW + lane for lane in range(ROW) for part in (0, 1)]
    return [builder.shuffle(halves[0], halves[1], order[start : start + ROW]) for start in (0, ROW)]


def _merge_3(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    rows = []
    for row in range(3):
        places = [divmod(row * ROW + slot, 3) for slot in range(ROW)]
        start = [part * ROW + lane if part < 2 else -1 for lane, part in places]
        pair = builder.shuffle(halves[0], halves[1], start)
        final = [slot if part < 2 else ROW + lane for slot, (lane, part) in enumerate(places)]
        rows.append(builder.shuffle(pair, halves[2], final))
    return rows


def _merge_4(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    pairs = [_merge_2(builder, halves[:2]), _merge_2(builder, halves[2:])]
    order = [place + 2 * lane for lane in range(8) for place in (0, 1, 16, 17)]
    rows = []
    for part in (0, 1):
        rows += [
            builder.shuffle(pairs[0][part], pairs[1][part], order[start : start + ROW])
            for start in (0, ROW)
        ]
    return rows


_SPLIT = {1: _split_1, 2: _split_2, 3: _split_3, 4: _split_4}
_MERGE = {1: _merge_1, 2: _merge_2, 3: _merge_3, 4: _merge_4}


def load_block(builder: Builder, pointer: Value, size: int) -> list[Value]:
    """Load 32 consecutive elements of `size` bytes; elements below a dword are zero-extended."""
    if size < 4:
        narrow = builder.load(vector(f"i{size * 8}"), pointer)
        return [builder.resize(narrow, 32)]
    rows = [
        builder.load(ROW_TYPE, builder.offset(pointer, row * ROW * 4))
        for row in range(2 * (size // 4))
    ]
    return rows_to_dwords(builder, rows, size // 4)


def store_block(builder: Builder, pointer: Value, size: int, values: Sequence[Value]) -> None:
    """Store 32 consecutive elements of `size` bytes."""
    if size < 4:
        builder.store(builder.resize(values[0], size * 8), pointer)
        return
    for row, value in enumerate(dwords_to_rows(builder, values)):
        builder.store(value, builder.offset(pointer, row * ROW * 4))
