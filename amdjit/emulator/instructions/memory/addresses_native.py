"""The addresses of a wave's access: one block if the lanes are consecutive, otherwise one address
for each lane, checked against the allocations."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value, sequence
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.memory.spaces import Access
from amdjit.emulator.layout import (
    FIELD_BYTES,
    Context,
)


def block_address(function: NativeFunction, access: Access) -> tuple[Value, Value]:
    """Return lane 0's pointer and an i1: whether EXEC is full, the lanes are consecutive and the
    whole block is allowed."""
    full = function.compare("eq", function.parameter("exec"), i32(-1))
    width = 32 * access.size
    if access.space == "l":
        offsets = function.add(
            function.parameter("offset"), function.splat(function.parameter("base"))
        )
        start = function.resize(function.extract(offsets, 0), 64)
        lo, span = i64(0), function.context(Context.LDS_SIZE)
        stepped = are_consecutive(function, offsets, access.size)
        pointer = function.offset(function.context_pointer(Context.LDS), start)
    else:
        start, stepped = consecutive_global(function, access)
        row = function.site_row()
        lo, span = (
            function.load("i64", row, 8),
            function.load("i64", function.offset(row, FIELD_BYTES), 8),
        )
        pointer = function.pointer(start)
    distance = function.sub(start, lo)
    inside = function.compare("ult", distance, span)
    fits = function.compare("uge", function.sub(span, distance), i64(width))
    good = function.and_(function.and_(full, stepped), function.and_(inside, fits))
    return pointer, good


def consecutive_global(function: NativeFunction, access: Access) -> tuple[Value, Value]:
    """Return lane 0's address and an i1: whether the lanes' addresses are consecutive."""
    base = function.parameter("base")
    limit = i32(-32 * access.size)
    if access.space == "s":
        offsets = function.parameter("offset")
        first = function.extract(offsets, 0)
        start = function.add(base, function.resize(first, 64))
        stepped = are_consecutive(function, offsets, access.size)
    else:
        low, high = function.parameter("low"), function.parameter("high")
        first = function.extract(low, 0)
        first_high = function.extract(high, 0)
        start = function.add(base, function.concat_bits(first, first_high))
        same = _all(function, function.compare("eq", high, function.splat(first_high)))
        stepped = function.and_(same, are_consecutive(function, low, access.size))
    unwrapped = function.compare("ule", first, limit)
    return start, function.and_(stepped, unwrapped)


def are_consecutive(function: NativeFunction, offsets: Value, size: int) -> Value:
    """Return an i1: whether every lane's offset is lane 0's plus lane * size."""
    first = function.splat(function.extract(offsets, 0))
    steps = sequence("i32", range(0, 32 * size, size))
    return _all(function, function.compare("eq", offsets, function.add(first, steps)))


def _all(function: NativeFunction, conditions: Value) -> Value:
    return function.compare("eq", function.mask_bits(conditions), i32(-1))


def wide_addresses(function: NativeFunction, access: Access) -> Value:
    """Return the addresses of all lanes as i64."""
    base = function.splat(function.parameter("base"))
    if access.space == "s":
        return function.add(base, function.resize(function.parameter("offset"), 64))
    joined = function.concat_bits(function.parameter("low"), function.parameter("high"))
    return function.add(base, joined)


def checked_addresses(function: NativeFunction, access: Access, addresses: Value) -> Value:
    """Write the addresses of all lanes to the array `addresses`; return the mask of lanes whose
    access is allowed."""
    execution = function.parameter("exec")
    if access.space in ("l", "p"):
        return _checked_local(function, access, addresses, execution)
    wide = wide_addresses(function, access)
    function.store(wide, addresses, 64)
    row = function.site_row()
    lo, span = (
        function.load("i64", row, 8),
        function.load("i64", function.offset(row, FIELD_BYTES), 8),
    )
    distance = function.sub(wide, function.splat(lo))
    spans = function.splat(span)
    inside = function.compare("ult", distance, spans)
    fits = function.compare("uge", function.sub(spans, distance), function.splat(i64(access.size)))
    good = function.mask_bits(function.and_(inside, fits))
    bad = function.and_(execution, function.not_(good))
    function.branch_if(function.compare("eq", bad, i32(0)), "checked", "search")
    function.label("search")
    base = function.parameter("base") if access.space == "s" else i64(0)
    function.store(base, function.context_field(Context.OFFSET_BASE), 8)
    found = function.call(
        "aj_resolve",
        "i32",
        [
            function.parameter("context"),
            function.parameter("site"),
            addresses,
            execution,
            i32(access.size),
            i32(access.fault),
        ],
    )
    function.branch("checked")
    function.label("checked")
    return function.phi("i32", (execution, "slow"), (found, "search"))


def _checked_local(
    function: NativeFunction, access: Access, addresses: Value, execution: Value
) -> Value:
    offsets = function.add(function.parameter("offset"), function.splat(function.parameter("base")))
    lds = access.space == "l"
    size = function.context(Context.LDS_SIZE if lds else Context.SCRATCH_LANE_BYTES)
    wide = function.resize(offsets, 64)
    room = function.sub(function.splat(size), function.splat(i64(access.size)))
    good = function.mask_bits(function.compare("sle", wide, room))
    base = function.splat(function.context(Context.LDS if lds else Context.SCRATCH))
    if not lds:
        lanes = function.mul(function.splat(size), sequence("i64", range(32)))
        base = function.add(base, lanes)
    function.store(function.add(base, wide), addresses, 64)
    bad = function.and_(execution, function.not_(good))
    function.branch_if(function.compare("eq", bad, i32(0)), "checked", "refuse")
    function.label("refuse")
    lane = function.resize(function.intrinsic("cttz", bad, flags=[Value("i1", "true")]), 64)
    address = function.extract(wide, lane)
    function.call_void(
        "aj_fault",
        [
            function.parameter("context"),
            i32(access.fault),
            function.parameter("site"),
            lane,
            address,
            i32(access.size),
        ],
    )
    allowed = function.and_(execution, good)
    function.branch("checked")
    function.label("checked")
    return function.phi("i32", (execution, "slow"), (allowed, "refuse"))
