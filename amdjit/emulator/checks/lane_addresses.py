"""The addresses of an access as 64-bit vectors, and which lanes of a flat one go where."""

from __future__ import annotations

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.wave.frame import MemoryAccess


def lane_addresses(builder: Builder, access: MemoryAccess) -> Value:
    """Return the address of each lane; of LDS, from its start."""
    b, parts = builder, access.address
    if access.space == "k":
        return b.splat(parts[0])
    if access.space == "l":
        return b.resize(b.add(parts[0], b.splat(parts[1])), 64)
    if access.space == "s":
        return b.add(b.splat(parts[0]), b.resize(parts[1], 64))
    return b.add(b.splat(parts[2]), b.concat_bits(parts[0], parts[1]))


def lanes_in(builder: Builder, addresses: Value, aperture: int) -> Value:
    """Return the lanes whose flat address is in an aperture, named by its high dword."""
    high = builder.split_bits(addresses)[1]
    return builder.mask_bits(builder.compare("eq", high, builder.splat(constant("i32", aperture))))
