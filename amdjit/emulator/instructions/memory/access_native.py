"""Loads and stores of a wave: bounds check, contiguous fast path, gather and scatter.

Spaces: `s` global, scalar base + unsigned 32-bit offsets; `v` global, 64-bit addresses as two
dwords + offset; `l` LDS; `p` private (scratch), lane-major; `f` flat. An access that is not allowed
is recorded and left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.host.builder import Value, sequence
from amdjit.emulator.host.function import V32, V64, NativeFunction, i32, i64
from amdjit.emulator.instructions.memory.blocks import load_block, rows_to_dwords, store_block
from amdjit.emulator.instructions.memory.half_waves import (
    are_stepped,
    are_uniform,
    load_stepped,
    load_uniform,
    store_stepped,
)
from amdjit.emulator.instructions.memory.lane_rows import GATHER_ROWS, lane_pointer
from amdjit.emulator.layout import (
    FIELD_BYTES,
    PRIVATE_APERTURE_HIGH,
    SHARED_APERTURE_HIGH,
    VGPR_BYTES,
    Context,
    FaultKind,
)

SIZES = (1, 2, 4, 8, 12, 16)
ADDRESS_PARAMETERS = {
    "s": (("i64", "base"), (V32, "offset")),
    "v": ((V32, "low"), (V32, "high"), ("i64", "base")),
    "l": ((V32, "offset"), ("i32", "base")),
    "p": ((V32, "offset"), ("i32", "base")),
    "f": ((V32, "low"), (V32, "high"), ("i64", "base")),
}
SPACES = tuple(ADDRESS_PARAMETERS)


@dataclass(frozen=True, slots=True)
class Access:
    """One kind of access: where, how many bytes a lane, which way."""

    space: str
    size: int
    store: bool

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_{'store' if self.store else 'load'}_{self.space}{self.size}"

    @property
    def by_pointer(self) -> bool:
        """Tell whether the data are passed in memory, one vector for each dword."""
        return self.size > 4

    @property
    def fault(self) -> FaultKind:
        """The kind of fault of a refused lane."""
        if self.space in ("l", "p"):
            return FaultKind.LDS if self.space == "l" else FaultKind.SCRATCH
        return FaultKind.GLOBAL_STORE if self.store else FaultKind.GLOBAL_LOAD


def access_text(access: Access, attributes: str) -> str:
    """Return the definition of an access's native function.

    Parameters: context, site, the address as its space has it, exec, then the data: a vector to
    store for up to 4 bytes, else a pointer to vectors (also for loads; loads up to 4 bytes return
    the vector).
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
        _flat(function, access)
    else:
        _fast_or_slow(function, access)
    return function.text(attributes)


def _fast_or_slow(function: NativeFunction, access: Access) -> None:
    addresses = function.allocate("[32 x i64]")
    staging = function.allocate("[128 x i32]")
    if access.space == "p":
        function.branch("slow")
    else:
        pointer, good = _fast_address(function, access)
        halved = access.space == "l" and (
            access.size == 4 or (access.size > 4 and not access.store)
        )
        function.branch_if(good, "fast", "halves" if halved else "slow")
        function.label("fast")
        _finish(function, access, _transfer_block(function, access, pointer))
        if halved:
            _half_waves(function, access)
    function.label("slow")
    valid = _checked_addresses(function, access, addresses)
    if access.store:
        _scatter(function, access, addresses, staging, valid)
    else:
        _gather(function, access, addresses, staging, valid)


def _half_waves(function: NativeFunction, access: Access) -> None:
    """Try what is quick with the two halves of a wave; the next block is `slow`."""
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


def _stepped(function: NativeFunction, offsets: Value, size: int) -> Value:
    """Return an i1: every lane's offset is lane 0's plus lane * size."""
    first = function.splat(function.extract(offsets, 0))
    steps = sequence("i32", range(0, 32 * size, size))
    return _all(function, function.compare("eq", offsets, function.add(first, steps)))


def _all(function: NativeFunction, conditions: Value) -> Value:
    return function.compare("eq", function.mask_bits(conditions), i32(-1))


def _fast_address(function: NativeFunction, access: Access) -> tuple[Value, Value]:
    """Return lane 0's pointer and an i1: EXEC is full, lanes are consecutive and the whole block is
    allowed."""
    full = function.compare("eq", function.parameter("exec"), i32(-1))
    width = 32 * access.size
    if access.space == "l":
        offsets = function.add(
            function.parameter("offset"), function.splat(function.parameter("base"))
        )
        start = function.resize(function.extract(offsets, 0), 64)
        lo, span = i64(0), function.context(Context.LDS_SIZE)
        stepped = _stepped(function, offsets, access.size)
        pointer = function.offset(function.context_pointer(Context.LDS), start)
    else:
        start, stepped = _fast_global(function, access)
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


def _fast_global(function: NativeFunction, access: Access) -> tuple[Value, Value]:
    base = function.parameter("base")
    limit = i32(-32 * access.size)
    if access.space == "s":
        offsets = function.parameter("offset")
        first = function.extract(offsets, 0)
        start = function.add(base, function.resize(first, 64))
        stepped = _stepped(function, offsets, access.size)
    else:
        low, high = function.parameter("low"), function.parameter("high")
        first = function.extract(low, 0)
        first_high = function.extract(high, 0)
        start = function.add(base, function.concat_bits(first, first_high))
        same = _all(function, function.compare("eq", high, function.splat(first_high)))
        stepped = function.and_(same, _stepped(function, low, access.size))
    unwrapped = function.compare("ule", first, limit)
    return start, function.and_(stepped, unwrapped)


def _wide_addresses(function: NativeFunction, access: Access) -> Value:
    base = function.splat(function.parameter("base"))
    if access.space == "s":
        return function.add(base, function.resize(function.parameter("offset"), 64))
    joined = function.concat_bits(function.parameter("low"), function.parameter("high"))
    return function.add(base, joined)


def _checked_addresses(function: NativeFunction, access: Access, addresses: Value) -> Value:
    """Write all lanes' addresses to the array `addresses`; return the mask of lanes that may
    access."""
    execution = function.parameter("exec")
    if access.space in ("l", "p"):
        return _checked_local(function, access, addresses, execution)
    wide = _wide_addresses(function, access)
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
        before = "partial"
    else:
        before = "checked"
    _clear(function, access, staging)
    loop = function.each_lane(valid, before)
    chunk = function.load(_chunk(access.size), lane_pointer(function, addresses, loop.lane))
    slot = function.offset(staging, function.mul(loop.lane, i64(access.size)))
    function.store(chunk, slot)
    loop.close()
    _finish(function, access, load_block(function, staging, access.size))


def _clear(function: NativeFunction, access: Access, staging: Value) -> None:
    for start in range(0, 32 * access.size, 32):
        function.store(Value("<8 x i32>", "zeroinitializer"), function.offset(staging, start), 32)


def _scatter(
    function: NativeFunction, access: Access, addresses: Value, staging: Value, valid: Value
) -> None:
    store_block(function, staging, access.size, _data(function, access))
    loop = function.each_lane(valid, "checked")
    slot = function.offset(staging, function.mul(loop.lane, i64(access.size)))
    chunk = function.load(_chunk(access.size), slot)
    function.store(chunk, lane_pointer(function, addresses, loop.lane))
    loop.close()
    function.give()


def _flat(function: NativeFunction, access: Access) -> None:
    """LDS and private memory through their apertures, lane by lane; global memory otherwise."""
    out = function.allocate("[16 x <32 x i32>]")
    address = _wide_addresses(function, access)
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
    for index, (space, arguments, mask) in enumerate(parts):
        _flat_part(function, Access(space, access.size, access.store), arguments, mask, index, out)
    _finish(function, access, _flat_result(function, access, masks, out))


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


__all__ = ["SIZES", "SPACES", "V64", "Access", "access_text"]
