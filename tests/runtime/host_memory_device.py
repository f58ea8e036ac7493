"""A device for tests of what is above a device: host memory, launches that only record what they
were given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.errors import BackendError
from amdjit.options import named_target
from amdjit.runtime.device import HostKind, Layout, PoolSource
from amdjit.runtime.hip.memory import FreeLists
from amdjit.target import Target


class Launch(NamedTuple):
    """The arguments of one launch."""

    function: Any
    shape: LaunchShape
    kernarg: bytes
    stream: Any


@dataclass(frozen=True)
class HostStream:
    """The handle of a stream, which nobody captures."""

    number: int
    capture: None = None


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
        return named_target("gfx1200")

    def allocate(self, nbytes: int) -> int:
        assert nbytes > 0
        block = np.full(nbytes + 256, 0xA5, np.uint8)
        address = -(-block.ctypes.data // 256) * 256
        self.allocations[address] = block[address - block.ctypes.data :][:nbytes]
        return address

    def allocate_zeros(self, nbytes: int, stream: Any = None) -> int:
        address = self.allocate(nbytes)
        self.fill(address, bytes(1), nbytes)
        return address

    def allocate_on_host(self, nbytes: int, kind: HostKind) -> tuple[int, int | None]:
        address = self.allocate(nbytes)
        return address, None if kind is HostKind.PINNED else address

    def free_on_host(self, address: int) -> None:
        self.free(address)

    @property
    def temporaries(self) -> None:
        return None

    def pool_source(self) -> PoolSource:
        return FreeLists(self)

    def free(self, address: int) -> None:
        del self.allocations[address]

    def memory(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        for start, block in self.allocations.items():
            if start <= address and address + nbytes <= start + block.size:
                return block[address - start :][:nbytes]
        raise BackendError(f"{nbytes} bytes at {address:#x} are outside every allocation")

    def copy_to_device(
        self, address: int, source: memoryview, stream: Any = None, wait: bool = True
    ) -> None:
        self.copied_bytes += source.nbytes
        self.memory(address, source.nbytes)[:] = np.frombuffer(source, np.uint8)

    def copy_to_host(
        self, destination: memoryview, address: int, stream: Any = None, wait: bool = True
    ) -> None:
        self.copied_bytes += destination.nbytes
        np.frombuffer(destination, np.uint8)[:] = self.memory(address, destination.nbytes)

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        self.memory(destination, nbytes)[:] = self.memory(source, nbytes)

    def copy_rows(
        self,
        destination: Layout,
        source: Layout,
        shape: tuple[int, ...],
        nbytes: int,
        stream: Any = None,
    ) -> bool:
        return False

    def fill(self, address: int, pattern: bytes, count: int, stream: Any = None) -> None:
        self.memory(address, len(pattern) * count)[:] = np.frombuffer(pattern * count, np.uint8)

    def load(self, code_object: bytes) -> Any:
        raise BackendError("this device runs no code")

    def launch(
        self,
        function: Any,
        shape: LaunchShape,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        self.launches.append(Launch(function, shape, bytes(kernarg), stream))

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        tell()

    def synchronize(self) -> None:
        self.synchronizations += 1

    @property
    def stream_priorities(self) -> tuple[int, int]:
        return 1, -1

    def create_stream(self, priority: int = 0, non_blocking: bool = False) -> Any:
        self._streams += 1
        return HostStream(self._streams)

    def external_stream(self, handle: int) -> Any:
        return HostStream(handle) if handle else None

    def stream_number(self, stream: Any) -> int:
        return 0

    def memory_info(self) -> tuple[int, int]:
        return 2**30, 2**30

    def gpu_of(self, address: int) -> int | None:
        return self.dlpack_device[1] if self.dlpack_device[0] == 10 else None

    def stream_priority(self, stream: Any) -> int:
        return 0

    def query_stream(self, stream: Any) -> bool:
        return True

    def call(self, function: Callable[[], object], stream: Any = None) -> None:
        function()

    def begin_capture(self, stream: Any) -> None:
        raise BackendError("this device captures nothing")

    def end_capture(self, stream: Any) -> Any:
        raise BackendError("this device captures nothing")

    def discard_capture(self, stream: Any) -> None:
        raise BackendError("this device captures nothing")

    def wait_event(self, stream: Any, event: Any) -> None:
        assert event in self._events

    def query_event(self, event: Any) -> bool:
        return True

    def share(self, address: int) -> None:
        pass

    def synchronize_stream(self, stream: Any) -> None:
        self.synchronizations += 1

    def create_event(self, timing: bool = True) -> Any:
        self._events[len(self._events)] = float("nan")
        return len(self._events) - 1

    def record_event(self, event: Any, stream: Any = None) -> None:
        self._events[event] = 1.5 * (event + 1)

    def synchronize_event(self, event: Any) -> None:
        assert self._events[event] == self._events[event], "the event was never recorded"

    def elapsed_milliseconds(self, start: Any, end: Any) -> float:
        return self._events[end] - self._events[start]
