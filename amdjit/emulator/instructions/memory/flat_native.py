"""Accesses of flat memory: the address of each lane tells which memory it is in."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import V32, NativeFunction, i32, i64
from amdjit.emulator.instructions.memory.addresses_native import wide_addresses
from amdjit.emulator.instructions.memory.spaces import Access
from amdjit.emulator.layout import (
    PRIVATE_APERTURE_HIGH,
    SHARED_APERTURE_HIGH,
    VGPR_BYTES,
)


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
        _flat_part(function, Access(space, access.size, access.store), arguments, mask, index, out)
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
