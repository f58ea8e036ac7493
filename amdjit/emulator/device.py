"""The emulated device, on which the rest of amdjit launches if there is no AMD GPU."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amdjit.checking.profiling import PROFILES
from amdjit.checking.sanitizing import is_on
from amdjit.diagnostics.errors import LaunchError
from amdjit.disk_cache import DiskCache, source_version
from amdjit.emulator.checks.init.written_memory import WrittenMemory
from amdjit.emulator.checks.memory.quarantine import WIDE_GAP, Quarantine
from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.launch.dispatch import Dispatcher
from amdjit.emulator.launch.kernarg import Extent, Geometry
from amdjit.emulator.launch.loader import EmulatedModule
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.native_sources import ROOMS
from amdjit.emulator.tiers.compilation import Host
from amdjit.emulator.tiers.operation_library import OperationLibrary
from amdjit.late import late
from amdjit.options import Environment, read_environment
from amdjit.target import Target

# The checks and counters take milliseconds to import, which launches without them should not pay
# for.
if TYPE_CHECKING:
    from amdjit.checking.settings import Request
    from amdjit.diagnostics.errors import KernelFault
    from amdjit.diagnostics.sanitizer import SanitizerReport
    from amdjit.emulator.checks import session
    from amdjit.emulator.checks.memory import leaks
    from amdjit.emulator.counting import session as counting
else:
    session = late("amdjit.emulator.checks.session")
    leaks = late("amdjit.emulator.checks.memory.leaks")
    counting = late("amdjit.emulator.counting.session")


@dataclass
class EmulatedEvent:
    """A point in time. Launches are done when they return: an event is reached when it is
    recorded."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class EmulatedStream:
    """A stream. It has no state: all work is done in the order of the calls."""


@dataclass
class _Machine:
    """What the first launch needs. It is made late because LLVM takes time to start."""

    host: Host
    dispatcher: Dispatcher


@dataclass
class _Lazy:
    lock: threading.Lock = field(default_factory=threading.Lock)
    machine: _Machine | None = None
    counters: counting.Counters | None = None


class EmulatorDevice:
    """A processor emulated on the CPU. Calls are synchronous: `launch` returns when the kernel has
    ended.

    threads: host threads a launch may use. time_limit: seconds a launch may take, None for no
    limit. memory: bytes that allocations may take. They default to AMDJIT_EMULATOR_THREADS,
    AMDJIT_EMULATOR_TIME_LIMIT and AMDJIT_EMULATOR_MEMORY, then to all processors, no limit and the
    host's memory. compiler: makes the host code; by default for this CPU.
    """

    def __init__(
        self,
        target: Target,
        threads: int | None = None,
        time_limit: float | None = None,
        environment: Environment | None = None,
        compiler: HostCompiler | None = None,
        memory: int | None = None,
    ) -> None:
        settings = environment or read_environment(os.environ)
        self._target = target
        self._threads = threads or settings.emulator_threads or os.cpu_count() or 1
        self.time_limit = time_limit if time_limit is not None else settings.emulator_time_limit
        self._cache = DiskCache(settings.cache_dir, source_version(Path(__file__).parent))
        self._memory = DeviceMemory(memory or settings.emulator_memory or _physical_memory())
        # These two must see everything from the beginning; others come with a checked launch.
        self._memory.observer(WrittenMemory)
        self._memory.observer(Quarantine)
        self._environment = settings
        self._tracks_memory = "memory" in settings.sanitize
        self._lazy = _Lazy()
        self._compiler = compiler

    @property
    def name(self) -> str:
        """`emulator:` and the processor."""
        return f"emulator:{self._target}"

    @property
    def target(self) -> Target:
        """The processor that code objects must be compiled for."""
        return self._target

    @property
    def environment(self) -> Environment:
        """The settings of the environment variables when the device was made."""
        return self._environment

    @property
    def description(self) -> str:
        """The device in one line, for people."""
        limit = self._memory.limit
        room = f", {limit / 2**30:.1f} GiB" if limit is not None else ""
        matrix = "" if self.matrix == "silicon" else f", matrix={self.matrix}"
        return (
            f"{self._target} machine code, emulated on the CPU with {self._threads} "
            f"thread(s){room}{matrix}"
        )

    @property
    def matrix(self) -> str:
        """How matrix and dot products of floats are rounded: "silicon" or "fma"."""
        return self._environment.emulator_matrix

    @property
    def memory_used(self) -> int:
        """Bytes of all allocations: arrays, code objects, arguments of kernels."""
        return self._memory.used

    @property
    def memory_limit(self) -> int | None:
        """Bytes that allocations may take, None if only the host limits them."""
        return self._memory.limit

    @property
    def dlpack_device(self) -> tuple[int, int]:
        """DLPack's kDLCPU: addresses are the host's own."""
        return 1, 0

    def _machine(self) -> _Machine:
        with self._lazy.lock:
            if self._lazy.machine is None:
                compiler = self._compiler or HostCompiler()
                library = NativeLibrary(
                    compiler, self._cache, ROOMS, self._environment.emulator_matrix
                )
                dispatcher = Dispatcher(self._memory, self._target, self._threads, library)
                operations = OperationLibrary(compiler, self._cache, library)
                host = Host(
                    compiler, library, operations, self._cache, self._environment.emulator_tier
                )
                self._lazy.machine = _Machine(host, dispatcher)
            return self._lazy.machine

    def _counters(self) -> counting.Counters:
        machine = self._machine()
        with self._lazy.lock:
            if self._lazy.counters is None:
                self._lazy.counters = counting.Counters(machine.dispatcher)
            return self._lazy.counters

    def allocate(self, nbytes: int) -> int:
        """Allocate memory, 256-byte aligned; BackendError when out of memory."""
        if not (self._tracks_memory or is_on("memory")):
            return self._memory.allocate(nbytes)
        address = self._memory.allocate(nbytes, gap=WIDE_GAP)
        leaks.watch(self._memory, address, self._environment)
        return address

    def share(self, address: int) -> None:
        """Count the allocation that holds `address` as written: others may write it unobserved
        from now on."""
        self._memory.share(address)

    def free(self, address: int) -> None:
        """Free an allocation. BackendError if none starts at that address."""
        self._memory.free(address)

    def copy_to_device(self, address: int, source: memoryview, stream: Any = None) -> None:
        """Copy contiguous host bytes to the device."""
        self._memory.write(address, source)

    def copy_to_host(self, destination: memoryview, address: int, stream: Any = None) -> None:
        """Copy device bytes to contiguous, writable host memory."""
        self._memory.read(destination, address)

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes between two places of this device."""
        self._memory.copy(destination, source, nbytes)

    def load(self, code_object: bytes) -> EmulatedModule:
        """Load a linked code object; BackendError if it is broken or for another processor."""
        return EmulatedModule(self._machine().host, self._memory, code_object, self._target.name)

    def launch(
        self,
        function: Any,
        grid: Extent,
        block: Extent,
        dynamic_lds: int,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        """Run a kernel to its end. `grid` counts workgroups; `kernarg` holds the explicit
        arguments.

        Inside `amdjit.profile` it counts what it does. LaunchError if it cannot start, KernelFault
        for what it does wrong, which leaves other memory intact.
        """
        geometry = Geometry(grid, block, dynamic_lds)
        blocks = PROFILES.get()
        if blocks:
            counters = self._counters()
            counters.launch(function, geometry, bytes(kernarg), self.time_limit, blocks)
            return
        self._machine().dispatcher.launch(function, geometry, bytes(kernarg), self.time_limit)

    def launch_sanitized(
        self,
        function: Any,
        grid: Extent,
        block: Extent,
        dynamic_lds: int,
        kernarg: bytearray,
        request: Request,
        stream: Any = None,
    ) -> tuple[tuple[SanitizerReport, ...], KernelFault | None]:
        """Run a kernel as `launch` does, with checks.

        Return their reports, and what stopped the launch if something did. LaunchError inside
        `amdjit.profile`: checks would be counted, too.
        """
        if PROFILES.get():
            checks = ", ".join(sorted(request.checks))
            raise LaunchError(
                f"{function.name}: a launch cannot be checked ({checks}) and counted "
                "(amdjit.profile) at the same time: launch it twice, once without `sanitize` and "
                "AMDJIT_SANITIZE"
            )
        dispatcher = self._machine().dispatcher
        geometry = Geometry(grid, block, dynamic_lds)
        return session.run_checked(
            dispatcher, function, geometry, bytes(kernarg), self.time_limit, request
        )

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` immediately: all work is done."""
        tell()

    def synchronize(self) -> None:
        """Return immediately: all work is done."""

    def create_stream(self) -> EmulatedStream:
        """Make a stream."""
        return EmulatedStream()

    def synchronize_stream(self, stream: Any) -> None:
        """Return immediately: all work is done."""

    def create_event(self) -> EmulatedEvent:
        """Make an event."""
        return EmulatedEvent()

    def record_event(self, event: EmulatedEvent, stream: Any = None) -> None:
        """Record the time."""
        event.seconds = time.perf_counter()

    def synchronize_event(self, event: EmulatedEvent) -> None:
        """Return immediately: a recorded event is reached."""

    def elapsed_milliseconds(self, start: EmulatedEvent, end: EmulatedEvent) -> float:
        """Return the time between two recorded events; ValueError if one is not recorded."""
        if start.seconds is None or end.seconds is None:
            raise ValueError("an event has not been recorded")
        return (end.seconds - start.seconds) * 1e3


def _physical_memory() -> int | None:
    """Return the bytes of the host's memory, None if Python does not know them."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
