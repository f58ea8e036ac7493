"""Launches with the emulator's checks: run them, hand out what they found. Also: which element a fault was about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amdjit.array_places import ArrayArgument, place_of
from amdjit.check_settings import launch_checked
from amdjit.diagnostics.errors import KernelFault
from amdjit.options import Environment
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device, Extent, Function

# Function, grid, block, bytes of dynamic LDS, kernarg.
Call = tuple[Function, Extent, Extent, int, bytearray]


def launch(
    device: Device,
    call: Call,
    option: Sequence[str],
    environment: Environment,
    arrays: list[ArrayArgument],
    handle: Any,
) -> None:
    """Run a kernel with checks. SanitizerError if they find errors, KernelFault for what stopped the launch."""
    launch_checked(lambda request: device.launch_sanitized(*call, request, handle), option, environment, arrays)


def array_arguments(names: Sequence[str], values: Sequence[Any], written: Sequence[bool]) -> list[ArrayArgument]:
    """Return the arrays among a launch's arguments."""
    return [
        ArrayArgument(name, value.address, value.shape, value.strides, value.itemsize, str(value.dtype), may)
        for name, value, may in zip(names, values, written, strict=True)
        if isinstance(value, DeviceArray)
    ]


def locate(fault: KernelFault, arrays: Sequence[ArrayArgument]) -> None:
    """Name the element of the launch's arrays that a wrong access of global memory was for, where it can be told."""
    if fault.array is not None or fault.address is None or fault.nearest_allocation is None:
        return
    place = place_of(arrays, fault.address, fault.offset_base)
    if place is not None:
        fault.array, fault.index, fault.shape = place
        fault.message += f"\n  it is {place.text} of shape {place.shape}"
        fault.args = (fault.message,)
