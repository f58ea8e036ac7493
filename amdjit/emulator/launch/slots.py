"""Launches that wait for their arguments."""

from __future__ import annotations

import weakref
from typing import Any, NoReturn, Protocol

from amdjit.abi.launch_shape import LaunchShape


class _Device(Protocol):
    def launch(
        self, function: Any, shape: LaunchShape, kernarg: bytearray, stream: Any = None
    ) -> None: ...


class EmulatedSlot:
    """A launch of a kernel: `amdjit.runtime.device_launches.LaunchSlot`."""

    __slots__ = ("_device", "_function", "_shape", "_stream", "kernarg", "offset")

    def __init__(
        self, device: _Device, function: Any, shape: LaunchShape, nbytes: int, stream: Any
    ) -> None:
        self.kernarg = bytearray(nbytes)
        self.offset = 0
        self._device = weakref.ref(device)
        self._function, self._shape, self._stream = function, shape, stream

    def start(self) -> int:
        """Run the kernel to its end; KernelFault for what it does wrong."""
        device = self._device()
        assert device is not None, "the caller holds the device"
        device.launch(self._function, self._shape, self.kernarg, self._stream)
        return 0

    def fail(self, code: int) -> NoReturn:
        """Never called: `start` raises."""
        raise AssertionError(code)
