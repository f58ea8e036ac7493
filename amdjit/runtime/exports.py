"""What a DeviceArray shows to other libraries: DLPack and the CUDA array interface."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from amdjit.runtime import dlpack
from amdjit.runtime.device import Device
from amdjit.runtime.place import handle_of

# The array API standard, `__dlpack__`: on ROCm 0 is the default stream; 1 and 2, CUDA's numbers for
# its legacy and its per-thread default stream, mean nothing.
_NO_WAIT, _CUDA_ONLY = -1, (1, 2)
# The CUDA array interface, "Synchronization": 0 would be ambiguous, 1 is the legacy default stream.
_LEGACY_STREAM = 1


class Shown(Protocol):
    """A DeviceArray. lender: what keeps its memory alive for another library."""

    device: Device
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]

    @property
    def is_contiguous(self) -> bool: ...

    @property
    def is_read_only(self) -> bool: ...

    @property
    def size(self) -> int: ...

    def lender(self) -> object: ...

    def copy_to_host(self) -> NDArray[Any]: ...

    def copy(self) -> Shown: ...


class Wish(NamedTuple):
    """What a consumer asks of `__dlpack__`."""

    stream: int | None
    max_version: tuple[int, int] | None
    dl_device: tuple[int, int] | None
    copy: bool | None


def cuda_array_interface(array: Shown) -> dict[str, Any]:
    """Return the CUDA array interface, version 3. AttributeError where an array has none."""
    if array.device.dlpack_device[0] != dlpack.ROCM:
        raise AttributeError(
            f"the memory of {array.device.name} is the host's: use numpy.from_dlpack or "
            "copy_to_host()"
        )
    # 2: a type of ml_dtypes, of which NumPy gives some a name that others would misread.
    if array.dtype.kind == "V" or array.dtype.isbuiltin == 2:
        raise AttributeError(f"the CUDA array interface has no name for {array.dtype}: use DLPack")
    array.device.share(array.address)
    return {
        "shape": array.shape,
        "typestr": array.dtype.str,
        "data": (array.address if array.size else 0, array.is_read_only),
        "strides": None if array.is_contiguous else array.strides,
        "stream": _LEGACY_STREAM,
        "version": 3,
    }


def capsule(array: Shown, wish: Wish) -> object:
    """Return a DLPack capsule over the memory of an array, or over a copy.

    BufferError where that cannot be done, or not without a copy that the consumer forbids.
    """
    here = array.device.dlpack_device
    wanted = here
    if wish.dl_device is not None:
        wanted = int(wish.dl_device[0]), int(wish.dl_device[1])
    if wanted == here and not wish.copy:
        _let_wait(array.device, wish.stream)
        array.device.share(array.address)
        return dlpack.export(_described(array, is_copy=False), wish.max_version)
    if wish.copy is False:
        raise BufferError(
            f"the memory is on DLPack device {here}, not on {wanted}: leave out copy=False"
        )
    if wanted == (dlpack.CPU, 0):
        host = array.copy_to_host()
        copied = dlpack.Tensor(
            dlpack.address_of(host), wanted, host.dtype, host.shape, host.strides, host, False, True
        )
        return dlpack.export(copied, wish.max_version)
    if wanted != here:
        raise BufferError(
            f"the memory is on DLPack device {here}; amdjit copies it to the host, (1, 0), not to "
            f"{wanted}"
        )
    duplicate = array.copy()
    _let_wait(array.device, wish.stream)
    return dlpack.export(_described(duplicate, is_copy=True), wish.max_version)


def _described(array: Shown, is_copy: bool) -> dlpack.Tensor:
    return dlpack.Tensor(
        array.address if array.size else 0,
        array.device.dlpack_device,
        array.dtype,
        array.shape,
        array.strides,
        array.lender(),
        array.is_read_only and not is_copy,
        is_copy,
    )


def _let_wait(device: Device, stream: int | None) -> None:
    """Let later work of a consumer's stream come after the work of the current stream, of the
    default stream, and of the streams that this waits for."""
    if stream is not None and (not isinstance(stream, int) or isinstance(stream, bool)):
        raise TypeError(f"a DLPack stream is an integer or None, not {stream!r}")
    if stream == _NO_WAIT:
        return
    if device.dlpack_device[0] != dlpack.ROCM:
        if stream is not None:
            raise BufferError(f"{device.name} has no streams of others: give stream=None")
        return
    if stream in _CUDA_ONLY or (stream or 0) < 0:
        raise BufferError(
            f"stream={stream} means nothing on ROCm: give 0 or None for the default stream, -1 for "
            "no wait, or the handle of a stream"
        )
    later = device.external_stream(stream or 0)
    # Not a set: handles need not be hashable. The default stream is None.
    for earlier in (None, handle_of(None, device)):
        if earlier is not later:
            event = device.create_event(timing=False)
            device.record_event(event, earlier)
            device.wait_event(later, event)
