"""Run a kernel of any code object on NumPy arrays, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import Extent, LaunchShape
from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.sanitizing import ACTIVE
from amdjit.checking.settings import launch_checked
from amdjit.code_object import Kernel, KernelArgument
from amdjit.code_object.bundles import Bundle, read_bundle
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.target import EMULATED, Target, emulated_for, most_specific

Argument = NDArray[Any] | np.generic | int | None
# An array's address on the device, the array, and the argument's name.
_Place = tuple[int, NDArray[Any], str]
_Call = tuple[EmulatedFunction, LaunchShape, bytearray]


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
    cooperative: bool = False,
) -> None:
    """Run a kernel on the emulator.

    code_object: a linked one, or a bundle, of which `device` takes its code; without one, the first
    that can be emulated is run. grid: workgroups; block: work-items of a workgroup; up to 3 extents
    each. args: one for each argument in the code object's metadata: a C-contiguous array, which is
    passed as a pointer and updated in place; None (or 0) for a null pointer; or a NumPy scalar, of
    a structured type for a structure by value. cooperative: all workgroups are under way at the
    same time. LaunchError for
    arguments that do not fit, KernelFault for what the kernel does wrong, SanitizerError for what
    checks find if `amdjit.sanitize` or AMDJIT_SANITIZE asks for them.
    """
    bundle = read_bundle(code_object)
    target = _target_of(bundle, device)
    device = device or EmulatorDevice(emulated_for(target) or target, threads, time_limit)
    chosen = next(each.code_object for each in bundle.members if each.target is target)
    function = device.load(chosen.data).function(kernel)
    places: list[_Place] = []
    try:
        kernarg = _pack(device, function.kernel, args, places)
        shape = LaunchShape(_extent(grid), _extent(block), dynamic_lds, cooperative)
        _launch(device, (function, shape, kernarg), places)
        for address, array, _ in places:
            if array.flags.writeable:
                device.copy_to_host(_bytes_of(array), address)
    finally:
        for address, *_ in places:
            device.free(address)


def _target_of(bundle: Bundle, device: EmulatorDevice | None) -> Target:
    """Return the target of a bundle's code that a device takes, or of its first that can be
    emulated. A code object that stands alone is for the one that it is for."""
    targets = [each.target for each in bundle.members]
    if len(targets) == 1:
        return targets[0]
    if device is not None:
        found = most_specific(targets, device.target)
    else:
        found = next((each for each in targets if emulated_for(each) is not None), None)
    if found is None:
        there = ", ".join(target.id for target in targets)
        wanted = "no emulator" if device is None else f"not {device.name}"
        others = [device.target] if device is not None else EMULATED
        raise LaunchError(
            f"the bundle is for {there}, and {wanted}: compile it for "
            f"{' or '.join(target.id for target in others)}, too"
        )
    return found


def _launch(device: EmulatorDevice, call: _Call, places: Sequence[_Place]) -> None:
    if not (ACTIVE.get() or device.environment.sanitize):
        device.launch(*call)
        return
    arrays = [
        ArrayArgument(
            name,
            address,
            shape=array.shape,
            strides=array.strides,
            itemsize=array.itemsize,
            dtype=str(array.dtype),
            written=array.flags.writeable,
        )
        for address, array, name in places
    ]
    launch_checked(
        lambda request: device.launch_sanitized(*call, request._replace(promises_alignment=False)),
        (),
        device.environment,
        arrays,
    )


def _pack(
    device: EmulatorDevice, kernel: Kernel, args: Sequence[Argument], places: list[_Place]
) -> bytearray:
    wanted = kernel.metadata.explicit_arguments
    if len(wanted) != len(args):
        raise LaunchError(f"{kernel.name}: takes {len(wanted)} arguments, {len(args)} were given")
    end = max((argument.offset + argument.size for argument in wanted), default=0)
    kernarg = bytearray(end)
    for number, (argument, value) in enumerate(zip(wanted, args, strict=True), 1):
        try:
            data = _argument_bytes(
                device, argument, value, argument.name or f"args[{number - 1}]", places
            )
        except LaunchError as error:
            name = f"{number} ({argument.name})" if argument.name else str(number)
            raise LaunchError(f"{kernel.name}: argument {name} {error}") from None
        kernarg[argument.offset : argument.offset + argument.size] = data
    return kernarg


def _argument_bytes(
    device: EmulatorDevice,
    argument: KernelArgument,
    value: Argument,
    label: str,
    places: list[_Place],
) -> bytes:
    """Return an argument's bytes in the kernarg segment. LaunchError: what is wrong, without the
    argument's name."""
    if argument.value_kind == "by_value":
        return _value_bytes(argument, value)
    if value is None or (type(value) is int and value == 0):
        return bytes(argument.size)
    if not isinstance(value, np.ndarray):
        raise LaunchError(
            "is a pointer: give it an array, or None for a null pointer, not "
            f"{type(value).__name__}"
        )
    if not value.flags.c_contiguous:
        raise LaunchError("must be C-contiguous: numpy.ascontiguousarray copies")
    address = device.allocate(value.nbytes)
    places.append((address, value, label))
    device.copy_to_device(address, _bytes_of(value))
    return address.to_bytes(8, "little")


def _value_bytes(argument: KernelArgument, value: Argument) -> bytes:
    if isinstance(value, np.ndarray):
        raise LaunchError(
            f"is a value of {argument.size} bytes: give it a NumPy scalar; array[()] makes one of "
            "an array"
        )
    if not isinstance(value, np.generic):
        raise LaunchError(
            f"must be a NumPy scalar, not {type(value).__name__}: it has {argument.size} bytes, "
            "as np.int32(3) has 4"
        )
    if value.nbytes != argument.size:
        raise LaunchError(f"has {argument.size} bytes, {value.dtype} has {value.nbytes}")
    return value.tobytes()


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _extent(value: int | Sequence[int]) -> Extent:
    sizes = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"an extent has one to three sizes, not {len(sizes)}")
    x, y, z = (*(int(size) for size in sizes), 1, 1)[:3]
    return x, y, z
