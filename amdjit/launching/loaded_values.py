"""Arguments of a kernel of any code object as bytes, checked against the code object's metadata."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from amdjit.code_object import Kernel, KernelArgument
from amdjit.diagnostics import LaunchError
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device

__all__ = ["packed", "signature"]

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_POINTERS = ("global_buffer", "dynamic_shared_pointer")


def signature(kernel: Kernel) -> str:
    """Return the arguments of a kernel as text: names, if the compiler kept them, and kinds."""
    parts = [
        (argument.name + ": " if argument.name else "") + _kind(argument)
        for argument in kernel.metadata.explicit_arguments
    ]
    return f"{kernel.name}({', '.join(parts)})"


def _kind(argument: KernelArgument) -> str:
    if argument.value_kind in _POINTERS:
        return "pointer" if argument.value_kind == "global_buffer" else "LDS pointer"
    text = "value" if argument.value_kind == "by_value" else argument.value_kind
    return f"{text} of {argument.size} bytes"


def packed(kernel: Kernel, values: Sequence[Any], device: Device) -> bytearray:
    """Return the explicit kernarg bytes of a launch; LaunchError for values that do not fit."""
    wanted = kernel.metadata.explicit_arguments
    if len(wanted) != len(values):
        were = "was" if len(values) == 1 else "were"
        raise LaunchError(
            f"{signature(kernel)} takes {len(wanted)} arguments, but {len(values)} {were} given"
        )
    size = max((argument.offset + argument.size for argument in wanted), default=0)
    kernarg = bytearray(size)
    for number, (argument, value) in enumerate(zip(wanted, values, strict=True), 1):
        try:
            data = _bytes(argument, value, device)
        except LaunchError as error:
            name = f"{number} ({argument.name})" if argument.name else str(number)
            raise LaunchError(f"{kernel.name}: argument {name} {error}") from None
        kernarg[argument.offset : argument.offset + argument.size] = data
    return kernarg


def _bytes(argument: KernelArgument, value: Any, device: Device) -> bytes:
    if argument.value_kind == "by_value":
        return _value(argument.size, value)
    if argument.value_kind not in _POINTERS or argument.size not in (4, 8):
        raise LaunchError(f"is of the kind {argument.value_kind}, which launches cannot pass")
    return _pointer(value, device).to_bytes(argument.size, "little")


def _pointer(value: Any, device: Device) -> int:
    if value is None:
        return 0
    if isinstance(value, DeviceArray):
        if value.device is not device:
            raise LaunchError(
                f"is on {value.device.name}, the launch on {device.name}: launch inside "
                f'`with amdjit.use("{value.device.name}"):`, or copy the array'
            )
        return value.address
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if not 0 <= value < 1 << 64:
            raise LaunchError(f"is a pointer: {value} is not an address")
        return int(value)
    if isinstance(value, np.ndarray):
        raise LaunchError(
            "is a pointer, and a NumPy array is in the host's memory: pass "
            "amdjit.to_device(array), and copy it back afterwards"
        )
    raise LaunchError(
        "is a pointer: pass a DeviceArray, a device address, or None for a null pointer, not a "
        f"{type(value).__name__}"
    )


def _value(size: int, value: Any) -> bytes:
    if isinstance(value, np.generic):
        data = value.tobytes()
    elif isinstance(value, (bytes, bytearray)):
        data = bytes(value)
    elif isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        data = bytes(memoryview(value).cast("B"))
    elif isinstance(value, (bool, int)):
        return _integer(size, value)
    elif isinstance(value, float):
        if size not in _FLOATS:
            raise LaunchError(f"has {size} bytes, which no Python float can fill")
        return _float(size, value)
    else:
        raise LaunchError(
            f"is a value of {size} bytes: pass a NumPy scalar, a ctypes value, bytes or a number, "
            f"not a {type(value).__name__}"
        )
    if len(data) != size:
        raise LaunchError(f"has {size} bytes, and {value!r} has {len(data)}")
    return data


def _integer(size: int, value: int) -> bytes:
    """Return the bytes of a Python integer, signed or unsigned: metadata do not say which."""
    bits = 8 * size
    if size not in (1, 2, 4, 8):
        raise LaunchError(f"has {size} bytes, which no Python integer fills: pass bytes")
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise LaunchError(f"has {size} bytes, and {value} needs more")
    return (value % (1 << bits)).to_bytes(size, "little")


def _float(size: int, value: float) -> bytes:
    try:
        return struct.pack(_FLOATS[size], value)
    except OverflowError:
        raise LaunchError(
            f"has {size} bytes, and {value} does not fit a float of that size"
        ) from None
