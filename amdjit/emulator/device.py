"""The emulated device, on which kernels run if there is no AMD GPU."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import PROFILES
from amdjit.diagnostics.errors import LaunchError
from amdjit.disk_cache import DiskCache, source_version
from amdjit.emulator.checks.init.written_memory import WrittenMemory
from amdjit.emulator.checks.memory.quarantine import Quarantine
from amdjit.emulator.device_memory import EmulatedMemory
from amdjit.emulator.device_streams import EmulatedStreams
from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.host.native_library import NativeLibrary, variant_for
from amdjit.emulator.launch.dispatch import Dispatcher
from amdjit.emulator.launch.loader import EmulatedModule
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.native_sources import ROOMS
from amdjit.emulator.queues import Captures, KernelCall, StreamState
from amdjit.emulator.tiers.compilation import Host
from amdjit.emulator.tiers.operation_library import OperationLibrary
from amdjit.forking import Lock
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
class _Machine:
    """What launches need, created by the first one: LLVM takes time to start."""

    host: Host
    dispatcher: Dispatcher


@dataclass
class _Lazy:
    lock: Lock = field(default_factory=Lock)
    machine: _Machine | None = None
    counters: counting.Counters | None = None


class EmulatorDevice(EmulatedMemory, EmulatedStreams):
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
        here = Path(__file__).parent
        # What instructions compute is in `isa`.
        version = source_version(here, here.parent / "isa")
        self._cache = DiskCache(settings.cache_dir, version)
        self._memory = DeviceMemory(memory or settings.emulator_memory or _physical_memory())
        # These two must observe all allocations from the beginning; the other checks begin with a
        # checked launch.
        self._memory.observer(WrittenMemory)
        self._memory.observer(Quarantine)
        self._environment = settings
        self._tracks_memory = "memory" in settings.sanitize
        self._lazy = _Lazy()
        self.idle_records: dict[int, list[Any]] = {}
        self._streams = StreamState()
        self._captures = Captures()
        self._compiler = compiler

    def __repr__(self) -> str:
        return f"<EmulatorDevice {self.name}>"

    @property
    def name(self) -> str:
        """`emulator:` and the processor."""
        return f"emulator:{self._target}"

    @property
    def target(self) -> Target:
        """The processor for which code objects must be compiled."""
        return self._target

    @property
    def multiprocessor_count(self) -> int:
        """Workgroup processors of the largest product with this processor."""
        return self._target.multiprocessors

    @property
    def environment(self) -> Environment:
        """The settings of the environment variables when the device was made."""
        return self._environment

    @property
    def description(self) -> str:
        """The device in one line, for people."""
        limit = self._memory.limit
        room = f", {limit / 2**30:.1f} GiB" if limit is not None else ""
        chosen = {"matrix": self.matrix, "math": self.math}
        arithmetic = "".join(f", {k}={v}" for k, v in chosen.items() if v != "silicon")
        return (
            f"{self._target} machine code, emulated on the CPU with {self._threads} "
            f"thread(s){room}{arithmetic}"
        )

    @property
    def matrix(self) -> str:
        """How matrix and dot products of floats are rounded: "silicon" or "fma"."""
        return self._environment.emulator_matrix

    @property
    def math(self) -> str:
        """How v_exp, v_log, v_rcp, v_rsq, v_sqrt, v_sin and v_cos are computed: "silicon" or
        "fast"."""
        return self._environment.emulator_math

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

    def prepare(self) -> None:
        """Start LLVM, as the first launch does otherwise."""
        self._machine()

    def _machine(self) -> _Machine:
        with self._lazy.lock:
            if self._lazy.machine is None:
                compiler = self._compiler or HostCompiler()
                variant = variant_for(compiler, self.matrix, self.math)
                library = NativeLibrary(compiler, self._cache, ROOMS, variant)
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

    def load(self, code_object: bytes) -> EmulatedModule:
        """Load a linked code object; BackendError if it is broken or for another processor."""
        return EmulatedModule(self._machine().host, self._memory, code_object, self._target)

    def launch(
        self,
        function: Any,
        shape: LaunchShape,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        """Run a kernel to its end. `kernarg` holds the explicit arguments.

        Inside `amdjit.profile` the launch is counted; in a captured stream it is recorded.
        LaunchError if it cannot start; KernelFault for what the kernel does wrong, which leaves
        other memory intact.
        """
        if shape.cooperative:
            self._captures.refuse_waits(stream, f"launch {function.name} cooperatively")
        capture = self._captures.recording(stream, f"launch {function.name}")
        if capture is None:
            self._run(function, shape, bytes(kernarg))
            return
        work = KernelCall(self._run, function, shape, bytes(kernarg))
        capture.add(stream, "kernel", work, function.name)

    def _run(self, function: Any, shape: LaunchShape, kernarg: bytes) -> None:
        blocks = PROFILES.get()
        if blocks:
            self._counters().launch(function, shape, kernarg, self.time_limit, blocks)
            return
        self._machine().dispatcher.launch(function, shape, kernarg, self.time_limit)

    def slot(
        self, function: Any, shape: LaunchShape, nbytes: int, stream: Any = None
    ) -> EmulatedSlot:
        """Prepare a launch that gets its arguments later."""
        return EmulatedSlot(self, function, shape, nbytes, stream)

    def launch_sanitized(
        self,
        function: Any,
        shape: LaunchShape,
        kernarg: bytearray,
        request: Request,
        stream: Any = None,
    ) -> tuple[tuple[SanitizerReport, ...], KernelFault | None]:
        """Run a kernel as `launch` does, with checks.

        Return their reports, and the fault that stopped the launch, if any. LaunchError inside
        `amdjit.profile`, because the counts would include those of the checks.
        """
        if PROFILES.get():
            checks = ", ".join(sorted(request.checks))
            raise LaunchError(
                f"{function.name}: a launch cannot be checked ({checks}) and counted "
                "(amdjit.profile) at the same time: launch it twice, once without `sanitize` and "
                "AMDJIT_SANITIZE"
            )
        self._captures.refuse_waits(stream, f"check a launch of {function.name}")
        dispatcher = self._machine().dispatcher
        return session.run_checked(
            dispatcher,
            function,
            geometry=shape,
            kernarg=bytes(kernarg),
            time_limit=self.time_limit,
            request=request,
        )


def _physical_memory() -> int | None:
    """Return the size of the host's memory in bytes, None if Python does not know it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


# Prepared launches, which get their arguments later.


class EmulatedSlot:
    """A launch of a kernel: `amdjit.runtime.device.LaunchSlot`."""

    __slots__ = ("_device", "_function", "_shape", "_stream", "kernarg", "offset")

    def __init__(
        self, device: EmulatorDevice, function: Any, shape: LaunchShape, nbytes: int, stream: Any
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
