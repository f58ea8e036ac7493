"""Which element of which array an address is: faults and reports say `x[40]`, not 0x7f...a0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_BELOW_4_GIB = 1 << 32


class ArrayArgument(NamedTuple):
    """An array that a launch was given: its parameter, address, shape, strides in bytes, bytes and
    type of an element.

    written: whether the kernel may write it; where it may not, a store there comes from another
    array's index. in_lds: it is one of the kernel's own, and the address counts from the beginning
    of the workgroup's LDS.
    """

    name: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    dtype: str
    written: bool = True
    in_lds: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """The first byte and one past the last."""
        if not all(self.shape):
            return self.address, self.address
        ends = [
            (extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=True)
        ]
        low = self.address + sum(end for end in ends if end < 0)
        return low, self.address + sum(end for end in ends if end > 0) + self.itemsize


class Place(NamedTuple):
    """An element: the array's name, its index there (which may be none of the array's), the array's
    shape."""

    array: str
    indices: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def text(self) -> str:
        """As Python writes it, such as `x[3, 7]`."""
        return f"{self.array}[{', '.join(map(str, self.indices))}]"

    @property
    def is_inside(self) -> bool:
        """Whether the array has this element."""
        return all(0 <= i < extent for i, extent in zip(self.indices, self.shape, strict=True))


def place_of(arguments: Iterable[ArrayArgument], address: int, base: int = 0) -> Place | None:
    """Return the element at an address, or what an index out of bounds would call it; None if no
    array is near.

    base: the address that the instruction adds an unsigned 32-bit offset to, 0 if there is none.
    The machine code of an index -1 adds 4 GiB - 4 to it: the offset is taken as signed where that
    leads nearer to the array of the base.
    """
    known = [argument for argument in arguments if not argument.in_lds]
    home = _nearest(known, base) if base else None
    if home is not None and _BELOW_4_GIB // 2 <= address - base < _BELOW_4_GIB:
        return Place(home.name, _index(home, address - _BELOW_4_GIB), home.shape)
    array = _containing(known, address) or home or _nearest(known, address)
    return None if array is None else Place(array.name, _index(array, address), array.shape)


def place_in_lds(arguments: Iterable[ArrayArgument], address: int) -> Place | None:
    """Return the element at a byte of the workgroup's LDS, or what an index out of bounds would
    call it."""
    known = [argument for argument in arguments if argument.in_lds]
    array = _containing(known, address) or _nearest(known, address)
    return None if array is None else Place(array.name, _index(array, address), array.shape)


def signed_offset(address: int) -> int:
    """An LDS or private address is 32 bits: one below 0 looks like a large one."""
    return address - (1 << 32) if 1 << 31 <= address < 1 << 32 else address


# Allocations are this much apart on the emulator: what is farther away is no neighbour.
_NEAR = 4096


def _containing(arguments: Sequence[ArrayArgument], address: int) -> ArrayArgument | None:
    spans = ((argument.span, argument) for argument in arguments)
    return next((argument for (low, high), argument in spans if low <= address < high), None)


def _nearest(arguments: Sequence[ArrayArgument], address: int) -> ArrayArgument | None:
    def distance(argument: ArrayArgument) -> int:
        low, high = argument.span
        return max(low - address, address - high, 0)

    best = min(arguments, key=distance, default=None)
    return best if best is not None and distance(best) < _NEAR else None


def _index(array: ArrayArgument, address: int) -> tuple[int, ...]:
    """Return the index of the element that holds a byte; the axis of the longest stride takes what
    is too far."""
    rest = address - array.address
    strides = array.strides
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    index = [0] * len(strides)
    for position, axis in enumerate(order):
        stride = strides[axis]
        if stride == 0:
            continue
        if position == len(order) - 1 or stride < 0:
            index[axis] = math.floor(rest / stride) if abs(rest) < 1 << 50 else rest // stride
        else:
            index[axis] = rest // stride
        rest -= index[axis] * stride
    return tuple(index)
