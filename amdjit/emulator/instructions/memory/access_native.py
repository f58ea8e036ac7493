"""Loads and stores of a wave: a fast path for contiguous addresses, gather and scatter for all
others.

An access that is not allowed is recorded as a fault and left out.
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import V32, NativeFunction, i32, i64
from amdjit.emulator.instructions.memory.addresses_native import block_address, checked_addresses
from amdjit.emulator.instructions.memory.contiguous import load_block, rows_to_dwords, store_block
from amdjit.emulator.instructions.memory.flat_native import flat_access
from amdjit.emulator.instructions.memory.gather import GATHER_ROWS, lane_pointer
from amdjit.emulator.instructions.memory.half_waves import (
    are_stepped,
    are_uniform,
    load_stepped,
    load_uniform,
    store_stepped,
)
from amdjit.emulator.instructions.memory.spaces import ADDRESS_PARAMETERS, Access
from amdjit.emulator.layout import (
    VGPR_BYTES,
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
