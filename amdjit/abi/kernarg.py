"""The explicit part of a kernel's kernarg segment: which machine values a parameter consists of,
and their order.

Addresses come first, in the order of the parameters, then everything else: neighbouring addresses
are fetched with one wide scalar load. An array is its address, then an extent for each axis, then
for strided arrays a stride for each axis; both count elements and have the array's `index_type`. A
scalar or vector is one value.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.types import Array, Type


def value_count(type: Type) -> int:
    """Return how many machine values a parameter of this type consists of."""
    if not isinstance(type, Array):
        return 1
    return 1 + type.ndim * (2 if type.layout.has_strides else 1)


def kernarg_order(types: Sequence[Type]) -> tuple[int, ...]:
    """Return the positions of the parameters' machine values, counted parameter by parameter, in
    kernarg order."""
    addresses: list[int] = []
    others: list[int] = []
    position = 0
    for type in types:
        count = value_count(type)
        values = range(position, position + count)
        if isinstance(type, Array):
            addresses.append(values[0])
            others += values[1:]
        else:
            others += values
        position += count
    return (*addresses, *others)
