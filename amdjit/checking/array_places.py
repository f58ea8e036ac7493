"""Which element of which array an address is: faults and reports say `x[40]`, not 0x7f...a0."""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_BELOW_4_GIB = 1 << 32


class ArrayArgument(NamedTuple):
    """An array of a launch."""

    name: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Strides in bytes."""
    itemsize: int
    """Bytes of an element."""
    dtype: str
    """The name of an element's type."""
    written: bool = True
    """Whether the kernel may write it; if not, a store to it comes from an index of another
    array."""
    in_lds: bool = False
    """Whether it is the kernel's own array in LDS, and the address an offset there."""

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
    """An element: the array's name and shape, and an index, which may be out of bounds."""

    array: str
    indices: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def text(self) -> str:
        """The element as Python writes it, such as `x[3, 7]`."""
        return f"{self.array}[{', '.join(map(str, self.indices))}]"

    @property
    def is_inside(self) -> bool:
        """Whether the array has this element."""
        return all(0 <= i < extent for i, extent in zip(self.indices, self.shape, strict=True))


def negative_index_note(indices: Sequence[int] | None, shape: Sequence[int] | None) -> str:
    """Return the option that lets negative indices count from the end, if an index would then be
    inside."""
    axes = zip(indices or (), shape or (), strict=False)
    if not any(-extent <= index < 0 for index, extent in axes):
        return ""
    return "\n  negative indices count from the end with `wraparound=True`"


def line_note(
    file: str | None, line: int | None, place: Place | None = None, is_store: bool | None = None
) -> str:
    """Return the source line of a fault, the element underlined if it is known, and the `if` that
    keeps the index inside; "" if the line cannot be read.

    is_store: whether it is the element that the line assigns to, None if that is not known.
    """
    text = linecache.getline(file, line).rstrip().expandtabs(4) if file and line else ""
    if not text.strip():
        return ""
    found = [] if place is None else _subscripts(text, place.array, is_store)
    start, end = found[0] if len(found) == 1 else (len(text) - len(text.lstrip()), len(text))
    gutter = " " * len(str(line))
    note = f"\n{gutter} |\n{line} | {text}\n{gutter} | {' ' * start}{'^' * (end - start)}"
    written = {text[first:last] for first, last in found}
    guard = "" if place is None else _guard(place, written.pop() if len(written) == 1 else "")
    return f"{note}\n  help: guard the access, `{guard}`" if guard else note


def _subscripts(text: str, array: str, is_store: bool | None) -> list[tuple[int, int]]:
    """Return where a line indexes an array: left of its assignment, right of it, or both."""
    found = []
    for match in re.finditer(rf"(?<![\w.]){re.escape(array)}\[", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += (text[end] in "[(") - (text[end] in "])")
            end += 1
        found.append((match.start(), end))
    assignment = re.search(r"(?<![<>=!:])=(?!=)", text)
    at = assignment.start() if assignment else 0
    is_augmented = assignment is not None and text[at - 1] in "+-*/%&|^@"
    sides = [each for each in found if (each[0] < at) == is_store]
    return found if is_augmented or is_store is None or not sides else sides


def _guard(place: Place, written: str) -> str:
    """Return the condition that holds for indices inside the array, as an `if`; "" if the element
    is inside."""
    indices, depth = [""], 0
    for character in written[len(place.array) + 1 : -1]:
        depth += (character in "[(") - (character in "])")
        if character == "," and not depth:
            indices.append("")
        else:
            indices[-1] += character
    names = [each.strip() for each in indices]
    if len(names) != len(place.shape) or not all(names):
        names = ["index"] * len(place.shape)  # the line indexes the array in several ways
    conditions = [
        f"{name} >= 0" if index < 0 else f"{name} < {place.array}.shape[{axis}]"
        for axis, (name, index, extent) in enumerate(
            zip(names, place.indices, place.shape, strict=False)
        )
        if not 0 <= index < extent
    ]
    return f"if {' and '.join(conditions)}:" if conditions else ""


def place_of(arguments: Iterable[ArrayArgument], address: int, base: int = 0) -> Place | None:
    """Return the element at an address, by an index out of bounds if it is outside the array.

    None if no array is near. base: the address to which the instruction adds an unsigned 32-bit
    offset, 0 if it adds none. For an index of -1 the machine code adds 4 GiB - 4: an offset of
    2 GiB or more is taken as negative.
    """
    known = [argument for argument in arguments if not argument.in_lds]
    home = _nearest(known, base) if base else None
    if home is not None and _BELOW_4_GIB // 2 <= address - base < _BELOW_4_GIB:
        return Place(home.name, _index(home, address - _BELOW_4_GIB), home.shape)
    array = _containing(known, address) or home or _nearest(known, address)
    return None if array is None else Place(array.name, _index(array, address), array.shape)


def place_in_lds(arguments: Iterable[ArrayArgument], address: int) -> Place | None:
    """Return the element at a byte of the workgroup's LDS, as `place_of` does."""
    known = [argument for argument in arguments if argument.in_lds]
    array = _containing(known, address) or _nearest(known, address)
    return None if array is None else Place(array.name, _index(array, address), array.shape)


def signed_offset(address: int) -> int:
    """Return an LDS or private address, which has 32 bits, as a signed number."""
    return address - (1 << 32) if 1 << 31 <= address < 1 << 32 else address


# The distance between allocations of the emulator: addresses farther away are not near an array.
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
    """Return the index of the element that holds a byte.

    Outside the array, the index along the axis of the longest stride is out of bounds.
    """
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
