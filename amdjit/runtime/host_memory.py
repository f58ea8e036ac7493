"""Host memory that a device uses in place, under NumPy arrays."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.diagnostics.errors import AmdjitError
from amdjit.runtime.device import Device, HostKind

_LOGGER = logging.getLogger("amdjit")


class HostBlock:
    """Host memory that a device allocated, which is freed with the last NumPy array over it.

    device_address: where kernels see it, None if they do not. NumPy makes arrays over it as over
    any object with an array interface, and keeps it as their `base`.
    """

    __slots__ = ("__weakref__", "address", "device", "device_address", "nbytes")

    def __init__(self, device: Device, nbytes: int, kind: HostKind) -> None:
        self.address = 0
        self.device = device
        self.nbytes = nbytes
        self.address, self.device_address = device.allocate_on_host(max(nbytes, 1), kind)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False),
                "version": 3}  # fmt: skip

    def __del__(self) -> None:
        if not self.address or sys.is_finalizing():
            return
        # Nobody could catch what a finalizer raises.
        try:
            self.device.free_on_host(self.address)
        except AmdjitError as error:
            _LOGGER.warning("host memory of %s could not be freed: %s", self.device.name, error)


def host_array(
    device: Device, shape: tuple[int, ...], dtype: np.dtype[Any], kind: HostKind
) -> NDArray[Any]:
    """Return a NumPy array of arbitrary contents in host memory of the device."""
    nbytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    block: Any = HostBlock(device, nbytes, kind)
    array: NDArray[Any] = np.asarray(block).view(dtype).reshape(shape)
    return array


def block_of(array: NDArray[Any]) -> HostBlock | None:
    """Return the block that contains an array, None for memory that no device allocated."""
    base: object = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, HostBlock) else None


def place_on(device: Device, array: NDArray[Any]) -> int | None:
    """Return the address at which a device's kernels see a host array, None if they do not."""
    if array.base is None:
        return None
    block = block_of(array)
    if block is None or block.device is not device or block.device_address is None:
        return None
    address: int = array.__array_interface__["data"][0]
    return block.device_address + address - block.address


def is_pinned(device: Device, array: NDArray[Any]) -> bool:
    """Whether copies between a device and a host array need not wait."""
    if array.base is None:
        return False
    block = block_of(array)
    return block is not None and block.device is device
