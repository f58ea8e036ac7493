"""Arrays of other libraries: PyTorch, CuPy, JAX, Numba, or whatever speaks their protocols.

Memory of a GPU is used where it is. Host memory is read as a NumPy array over the same memory.

Arrays that cannot be used raise BufferError, with a text that continues the array's name: "is
sparse: pass ...".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amdjit.runtime import dlpack, torch_tensors
from amdjit.runtime.arrays import DeviceArray, to_device
from amdjit.runtime.device import Device
from amdjit.runtime.elements import refuse_masked
from amdjit.runtime.strides import contiguous_strides

__all__ = [
    "NO_WAIT",
    "Borrowed",
    "EmulatorMark",
    "described",
    "device_array",
    "from_dlpack",
    "host_array",
    "is_foreign",
    "located",
    "marked_array",
    "place_of",
    "stream_of",
]

# The classes of most arguments, for which attributes need not be examined.
_KNOWN = (DeviceArray, np.ndarray, np.generic, int, float, complex, str, type, type(None))
_MAX_VERSION = (1, 1)
# DLPack's stream for consumers that synchronise themselves.
NO_WAIT = -1
# The CUDA array interface, "Synchronization": the legacy default stream, HIP's null stream.
_LEGACY_STREAM = 1


class Borrowed(NamedTuple):
    """The owner of memory that another library made."""

    keeps: object
    """The object that keeps that memory alive."""
    is_read_only: bool
    has_end: bool = True
    """Whether the array says how long the memory is: an address alone does not."""


@dataclass(frozen=True, repr=False, eq=False)
class EmulatorMark:
    """The mask in an array's CUDA array interface if its memory is the emulator's."""

    array: DeviceArray
    """The array that has the memory."""

    def __repr__(self) -> str:
        return f"<memory of {self.array.device.name}, which no GPU reads>"


def marked_array(value: object) -> DeviceArray | None:
    """Return a DeviceArray over the emulator's memory that an object describes by a CUDA array
    interface with an `EmulatorMark`; None for other objects."""
    if isinstance(value, (*_KNOWN, tuple)):
        return None
    described = getattr(value, "__cuda_array_interface__", None)
    mark = described.get("mask") if isinstance(described, dict) else None
    if not isinstance(described, dict) or not isinstance(mark, EmulatorMark):
        return None
    dtype, shape = np.dtype(described["typestr"]), tuple(described["shape"])
    strides = described.get("strides") or contiguous_strides(shape, dtype.itemsize)
    address, is_read_only = described["data"]
    owner = Borrowed((mark.array, value), bool(is_read_only))
    return DeviceArray(
        mark.array.device, address or mark.array.address, shape, dtype, tuple(strides), owner
    )


def is_foreign(value: object) -> bool:
    """Return whether a value is another library's array: not NumPy's, not amdjit's."""
    if isinstance(value, _KNOWN):
        return False
    return hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")


def place_of(array: Any) -> tuple[int, int] | None:
    """Return the DLPack device of an array, (1, 0) for all memory of the host; None for memory of a
    GPU that only its address reveals."""
    if torch_tensors.is_tensor(array):
        return torch_tensors.place_of(array)
    if not hasattr(array, "__dlpack_device__"):
        return None
    kind, index = array.__dlpack_device__()
    if kind in dlpack.HOST_MEMORY:
        return dlpack.CPU, 0
    if kind != dlpack.ROCM:
        raise BufferError(
            f"is on DLPack device {int(kind), int(index)}, which is neither the host nor an AMD "
            "GPU: copy it to the host first"
        )
    return dlpack.ROCM, int(index)


def located(array: Any, device: Device) -> tuple[int, int]:
    """Return the DLPack device of an array, as `place_of`, also where only its address tells the
    GPU. BufferError if no GPU that the device knows has that."""
    place = place_of(array)
    if place is not None:
        return place
    address = array.__cuda_array_interface__["data"][0] or 0
    index = device.gpu_of(address) if address else device.dlpack_device[1]
    if index is None:
        raise BufferError(
            f"lies at {address:#x}, which is in no memory of a GPU that {device.name} knows: "
            "launch on the GPU that has it"
        )
    return dlpack.ROCM, index


def host_array(array: Any) -> NDArray[Any]:
    """Return a NumPy array over an array in host memory, read-only if that is."""
    if torch_tensors.is_tensor(array):
        return torch_tensors.host_array(array)
    return dlpack.host_array(dlpack.consume(_capsule(array)))


def device_array(array: Any, device: Device, stream: int) -> DeviceArray:
    """Return a DeviceArray over an array in the memory of a GPU.

    stream: the handle of the stream that will use it. A DLPack producer makes it wait for its own
    work; other producers do not: see `stream_of`.
    """
    if torch_tensors.is_tensor(array):
        found = torch_tensors.memory(array)
    elif hasattr(array, "__dlpack__"):
        found = dlpack.consume(_capsule(array, stream=stream))
    else:
        found = _interface(array, device.dlpack_device)
    if found.device != device.dlpack_device:
        raise BufferError(f"is on DLPack device {found.device}, {device.name} is another one")
    strides = found.strides
    if strides is None:
        strides = contiguous_strides(found.shape, found.dtype.itemsize)
    owner = Borrowed(found.owner, found.read_only)
    return DeviceArray(
        device, found.address, shape=found.shape, dtype=found.dtype, strides=strides, owner=owner
    )


def described(array: Any, device: Device) -> DeviceArray | NDArray[Any]:
    """Return an array over another library's array only to describe it: the elements will not be
    read, so that nothing is synchronised."""
    if located(array, device) == (dlpack.CPU, 0):
        return host_array(array)
    return device_array(array, device, NO_WAIT)


def stream_of(array: Any, index: int) -> int | None:
    """Return the handle of the stream that an array in a GPU's memory belongs to; None if its
    library does not say."""
    if torch_tensors.is_tensor(array):
        return torch_tensors.current_stream(index)
    interface = getattr(array, "__cuda_array_interface__", {})
    stream = interface.get("stream") if interface.get("version", 0) >= 3 else None
    if stream is None:
        return None
    if stream == 0:
        raise BufferError(
            "names stream 0, which the CUDA array interface does not allow: 1 is the default stream"
        )
    return 0 if stream == _LEGACY_STREAM else int(stream)


def _capsule(array: Any, **stream: int) -> object:
    try:
        return array.__dlpack__(max_version=_MAX_VERSION, **stream)
    except TypeError:
        return array.__dlpack__(**stream)  # a producer of before DLPack 1.0


def _interface(array: Any, device: tuple[int, int]) -> dlpack.Tensor:
    """Read the CUDA array interface."""
    described = array.__cuda_array_interface__
    if described.get("mask") is not None:
        raise BufferError("has a mask, which would be lost: fill it, or pass data and mask apart")
    dtype = np.dtype(described["typestr"])
    if dtype.kind in "VO":
        raise BufferError(
            f"has elements of {described['typestr']}, a type that amdjit does not have"
        )
    address, is_read_only = described["data"]
    strides = described.get("strides")
    return dlpack.Tensor(
        address or 0,
        device,
        dtype=dtype,
        shape=tuple(described["shape"]),
        strides=None if strides is None else tuple(strides),
        owner=array,
        read_only=bool(is_read_only),
    )


def from_dlpack(
    device: Device, tensor: Any, copy: bool | None = None, handle: Any = None
) -> DeviceArray:
    """Return a DeviceArray over another library's tensor, or with its contents.

    Memory of the same GPU is shared. Host memory is copied to the device, also to the emulator,
    which runs only on its own allocations. handle: of the stream that will use the array.
    BufferError if `copy=False` and a copy is needed, and for memory of another device.
    """
    refuse_masked(tensor, "the tensor")
    if isinstance(tensor, DeviceArray) and tensor.device is device:
        return tensor.copy() if copy else tensor[...]
    try:
        place = located(tensor, device)
        if place == (dlpack.CPU, 0):
            if copy is False:
                raise BufferError(
                    f"is in host memory and must be copied to {device.name}: leave out copy=False"
                )
            return to_device(device, host_array(tensor))
        if place != device.dlpack_device:
            raise BufferError(
                f"is on DLPack device {place}, {device.name} is {device.dlpack_device}"
            )
        array = device_array(tensor, device, device.stream_number(handle))
        theirs = stream_of(tensor, device.dlpack_device[1])
    except BufferError as error:
        raise BufferError(f"the tensor {error}") from None
    if theirs or (theirs == 0 and handle is not None):
        device.synchronize()
    return array.copy() if copy else array
