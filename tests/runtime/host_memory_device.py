"""A device for tests of what is above a device: host memory, launches that only record what they
were given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amdjit.diagnostics.errors import BackendError
from amdjit.runtime.device import Extent
from amdjit.target import EMULATED, Target


class Launch(NamedTuple):
    """The arguments of one launch."""

    function: Any
    grid: Extent
    block: Extent
    dynamic_lds: int
    kernarg: bytes
    stream: Any


class HostMemoryDevice:
    """Memory is NumPy's, one array an allocation; a copy that leaves its allocation is an error."""

    def __init__(
        self, name: str = "emulator:test", dlpack_device: tuple[int, int] = (1, 0)
    ) -> None:
        self.name = name
        self.dlpack_device = dlpack_device
        self.description = "memory for tests"
        self.allocations: dict[int, NDArray[np.uint8]] = {}
        self.launches: list[Launch] = []
        self.copied_bytes = 0
        self.synchronizations = 0
        self._streams = 0
        self._events: dict[int, float] = {}

    @property
    def target(self) -> Target:
        return EMULATED[1]

    def allocate(self, nbytes: int) -> int:
        assert nbytes > 0
        block = np.full(nbytes + 256, 0xA5, np.uint8)
        address = -(-block.ctypes.data // 256) * 256
        self.allocations[address] = block[address - block.ctypes.data :][:nbytes]
        return address

    def free(self, address: int) -> None:
        del self.allocations[address]

    def memory(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        for start, block in self.allocations.items():
            if start <= address and address + nbytes <= start + block.size:
                return block[address - start :][:nbytes]
        raise BackendError(f"{nbytes} bytes at {address:#x} are outside every allocation")

    def copy_to_device(self, address: int, source: memoryview, stream: Any = None) -> None:
        self.copied_bytes += source.nbytes
        self.memory(address, source.nbytes)[:] = np.frombuffer(source, np.uint8)

    def copy_to_host(self, destination: memoryview, address: int, stream: Any = None) -> None:
        self.copied_bytes += destination.nbytes
        np.frombuffer(destination, np.uint8)[:] = self.memory(address, destination.nbytes)

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        self.memory(destination, nbytes)[:] = self.memory(source, nbytes)

    def load(self, code_object: bytes) -> Any:
        raise BackendError("this device runs no code")

    def launch(
        self,
        function: Any,
        grid: Extent,
        block: Extent,
        dynamic_lds: int,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        self.launches.append(Launch(function, grid, block, dynamic_lds, bytes(kernarg), stream))

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        tell()

    def synchronize(self) -> None:
        self.synchronizations += 1

    def create_stream(self) -> Any:
        self._streams += 1
        return f"stream {self._streams}"

    def share(self, address: int) -> None:
        pass

    def synchronize_stream(self, stream: Any) -> None:
        self.synchronizations += 1

    def create_event(self) -> Any:
        self._events[len(self._events)] = float("nan")
        return len(self._events) - 1

    def record_event(self, event: Any, stream: Any = None) -> None:
        self._events[event] = 1.5 * (event + 1)

    def synchronize_event(self, event: Any) -> None:
        assert self._events[event] == self._events[event], "the event was never recorded"

    def elapsed_milliseconds(self, start: Any, end: Any) -> float:
        return self._events[end] - self._events[start]
