"""The explicit part of a kernel's kernarg segment: its machine values and their order.

Addresses come first, in the order of the parameters, then all other values: neighbouring addresses
are fetched with one wide scalar load. An array consists of its address, an extent for each axis
and, if it is strided, a stride for each axis. Extents and strides count elements and have the
array's `index_type`. A scalar or vector is one value.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.types import Array, Type


def value_count(type: Type) -> int:
    """Return the number of machine values that a parameter of this type consists of."""
    if not isinstance(type, Array):
        return 1
    return 1 + type.ndim * (2 if type.layout.has_strides else 1)


def kernarg_order(types: Sequence[Type]) -> tuple[int, ...]:
    """Return the machine values in kernarg order, each as its number counted by parameters."""
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
