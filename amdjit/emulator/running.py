"""Run a kernel of any code object on NumPy arrays, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import CodeObject, Kernel
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.kernarg import Extent
from amdjit.target import find_target

Argument = NDArray[Any] | np.generic


def run(
    code_object: bytes,
    kernel: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Argument],
    dynamic_lds: int = 0,
    *,
    device: EmulatorDevice | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
) -> None:
    """Run a kernel on the emulator.

    grid: workgroups; block: work-items a workgroup; up to 3 extents each. args: C-contiguous arrays, passed as
    pointers and updated in place, and NumPy scalars, laid out as the code object's metadata says.
    LaunchError for arguments that do not fit, KernelFault for what the kernel does wrong.
    """
    target = find_target(CodeObject.read(code_object).target_name)
    assert target is not None
    device = device or EmulatorDevice(target, threads, time_limit)
    function = device.load(code_object).function(kernel)
    places: list[tuple[int, NDArray[Any]]] = []
    try:
        kernarg = _pack(device, function.kernel, args, places)
        device.launch(function, _extent(grid), _extent(block), dynamic_lds, kernarg)
        for address, array in places:
            if array.flags.writeable:
                device.copy_to_host(_bytes_of(array), address)
    finally:
        for address, _ in places:
            device.free(address)


def _pack(
    device: EmulatorDevice, kernel: Kernel, args: Sequence[Argument], places: list[tuple[int, NDArray[Any]]]
) -> bytearray:
    wanted = kernel.metadata.explicit_arguments
    if len(wanted) != len(args):
        raise LaunchError(f"{kernel.name}: takes {len(wanted)} arguments, {len(args)} were given")
    end = max((argument.offset + argument.size for argument in wanted), default=0)
    kernarg = bytearray(end)
    for argument, value in zip(wanted, args, strict=True):
        data = _argument_bytes(device, value, places)
        if len(data) != argument.size:
            name = argument.name or f"at offset {argument.offset}"
            raise LaunchError(f"{kernel.name}: argument {name} has {argument.size} bytes, {len(data)} were given")
        kernarg[argument.offset : argument.offset + argument.size] = data
    return kernarg


def _argument_bytes(device: EmulatorDevice, value: Argument, places: list[tuple[int, NDArray[Any]]]) -> bytes:
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise LaunchError("arrays must be C-contiguous")
        address = device.allocate(value.nbytes)
        places.append((address, value))
        device.copy_to_device(address, _bytes_of(value))
        return address.to_bytes(8, "little")
    if isinstance(value, np.generic):
        return value.tobytes()
    raise LaunchError(f"arguments must be NumPy arrays or scalars, not {type(value).__name__}")


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _extent(value: int | Sequence[int]) -> Extent:
    sizes = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"an extent has one to three sizes, not {len(sizes)}")
    x, y, z = (*(int(size) for size in sizes), 1, 1)[:3]
    return x, y, z
