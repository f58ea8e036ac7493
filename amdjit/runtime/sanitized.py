"""Launches with the emulator's checks, and the array element that a fault concerns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from amdjit.checking.array_places import (
    ArrayArgument,
    line_note,
    negative_index_note,
    place_in_lds,
    place_of,
    signed_offset,
)
from amdjit.diagnostics.errors import KernelFault
from amdjit.runtime.arrays import DeviceArray
from amdjit.tree.lds_arrays import lds_arrays
from amdjit.tree.nodes import Program


def array_arguments(
    names: Sequence[str], values: Sequence[Any], written: Sequence[bool]
) -> list[ArrayArgument]:
    """Return the arrays among a launch's arguments."""
    return [
        ArrayArgument(
            name,
            value.address,
            shape=value.shape,
            strides=value.strides,
            itemsize=value.itemsize,
            dtype=_text(value.dtype),
            written=may,
        )
        for name, value, may in zip(names, values, written, strict=True)
        if isinstance(value, DeviceArray)
    ]


@lru_cache(256)
def _text(dtype: object) -> str:
    return str(dtype)  # NumPy takes 10 us for the name


def shared_arrays(program: Program, llvm: str) -> list[ArrayArgument]:
    """Return a kernel's static LDS arrays; none if LLVM chose their addresses, which the IR does
    not show then."""
    if "!absolute_symbol" not in llvm:
        return []
    found = []
    for array in lds_arrays(program):
        shape, itemsize = array.type.shape or (), array.type.element.nbytes
        strides = tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
        dtype = str(array.type.element)
        found.append(
            ArrayArgument(
                array.name,
                array.offset,
                shape=shape,
                strides=strides,
                itemsize=itemsize,
                dtype=dtype,
                in_lds=True,
            )
        )
    return found


def locate(fault: KernelFault, arrays: Sequence[ArrayArgument]) -> None:
    """Add the element of the launch's arrays to a fault, if it can be found."""
    if fault.array is not None or fault.address is None:
        return
    if fault.nearest_allocation is not None:
        place = place_of(arrays, fault.address, fault.offset_base)
    else:
        in_lds = (fault.instruction or "").startswith("ds_")
        place = place_in_lds(arrays, signed_offset(fault.address)) if in_lds else None
    note = ""
    if place is not None:
        fault.array, fault.index, fault.shape = place
        note = f"\n  it is {place.text} of shape {place.shape}"
        note += negative_index_note(place.indices, place.shape)
    note += line_note(fault.source_file, fault.source_line, place, " store of " in fault.message)
    fault.message += note
    fault.text += note
    fault.args = (fault.message,)
