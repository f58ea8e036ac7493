"""The emulated device, on which kernels run if there is no AMD GPU."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import PROFILES
from amdjit.diagnostics.errors import BackendError, LaunchError
from amdjit.disk_cache import DiskCache, source_version
from amdjit.emulator.checks.init.written_memory import WrittenMemory
from amdjit.emulator.checks.memory.quarantine import Quarantine
from amdjit.emulator.device_memory import EmulatedMemory, physical_memory
from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.host.native_library import NativeLibrary, variant_for
from amdjit.emulator.launch.dispatch import Dispatcher
from amdjit.emulator.launch.loader import EmulatedModule
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.queues import (
    Captures,
    EmulatedEvent,
    EmulatedGraph,
    EmulatedStream,
    Failure,
    KernelCall,
    StreamState,
)
from amdjit.emulator.tiers.compilation import Host
from amdjit.emulator.tiers.operation_library import OperationLibrary
from amdjit.forking import Lock
from amdjit.late import late
from amdjit.late_methods import dataclass, field
from amdjit.options import Environment, read_environment
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.checking.settings import Request
    from amdjit.diagnostics.errors import KernelFault
    from amdjit.diagnostics.sanitizer import SanitizerReport
    from amdjit.emulator import native_sources
    from amdjit.emulator.checks import session
    from amdjit.emulator.checks.memory import leaks
    from amdjit.emulator.counting import session as counting
    from amdjit.emulator.stepping import launch as stepping
else:
    native_sources = late("amdjit.emulator.native_sources")
    session = late("amdjit.emulator.checks.session")
    leaks = late("amdjit.emulator.checks.memory.leaks")
    counting = late("amdjit.emulator.counting.session")
    stepping = late("amdjit.emulator.stepping.launch")

# Streams and events of the emulated device.


# HIP's: hipStreamLegacy is the default stream, hipStreamPerThread each thread's own.
_LEGACY, _PER_THREAD = 1, 2


class EmulatedStreams:
    """Streams of the emulator, which does all work in the order of the calls."""

    _streams: StreamState
    _captures: Captures

    @property
    def stream_priorities(self) -> tuple[int, int]:
        """The priorities of AMD GPUs: 1, the least, to -1, the greatest."""
        return 1, -1

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` immediately: all work is done."""
        tell()

    def synchronize(self) -> None:
        """Raise what a function raised that a stream called; all work is done."""
        self._captures.refuse_anywhere("finish the work of a device")
        self._streams.tell(tuple(self._streams.failures))

    def create_stream(self, priority: int = 0, non_blocking: bool = False) -> EmulatedStream:
        """Make a stream. All streams wait for each other, which HIP allows for any."""
        stream = EmulatedStream(priority, non_blocking)
        self._streams.made[int(stream)] = stream
        return stream

    def external_stream(self, handle: int) -> EmulatedStream | None:
        """Return the default stream, this thread's own, or one that was made here, by its number;
        LaunchError for other handles."""
        if handle in (0, _LEGACY):
            return None
        made = self._streams.made.get(handle)
        if made is not None:
            return made
        if handle != _PER_THREAD:
            raise LaunchError(
                f"the emulator has no HIP stream {handle:#x}: there only 0 and 1, the default "
                "stream, 2, the thread's own, and the numbers of its own streams are handles. Make "
                "an amdjit.Stream()."
            )
        own = self._streams.of_thread
        if not hasattr(own, "stream"):
            own.stream = EmulatedStream()
        stream: EmulatedStream = own.stream
        return stream

    def stream_number(self, stream: EmulatedStream | None) -> int:
        """Return the number of a stream, by which `external_stream` finds it; 0 for the default
        stream."""
        return 0 if stream is None else int(stream)

    def stream_priority(self, stream: EmulatedStream | None) -> int:
        """Return the priority that the stream was made with."""
        return 0 if stream is None else stream.priority

    def query_stream(self, stream: EmulatedStream | None) -> bool:
        """Return True: all work is done."""
        self._captures.refuse_waits(stream, "ask a stream whether it is done")
        return True

    def synchronize_stream(self, stream: EmulatedStream | None) -> None:
        """Raise what a function raised that the stream called; all work is done."""
        self._captures.refuse_waits(stream, "finish the work of a stream")
        self._streams.tell_stream(stream)

    def call(self, function: Callable[[], object], stream: EmulatedStream | None = None) -> None:
        """Call a function now; the next wait raises what it raises."""
        capture = self._captures.recording(stream, "call a function")
        if capture is None:
            self._call(function, stream)
        elif stream is not None:
            capture.add(stream, "host", partial(self._call, function))

    def _call(self, function: Callable[[], object], stream: EmulatedStream | None) -> None:
        try:
            function()
        except BaseException as error:  # HIP's thread catches all, too
            with self._streams.lock:
                self._streams.failures.append(Failure(stream, error))

    def create_event(self, timing: bool = True) -> EmulatedEvent:
        """Make an event."""
        return EmulatedEvent()

    def record_event(self, event: EmulatedEvent, stream: EmulatedStream | None = None) -> None:
        """Record the time."""
        if self._captures.active and self._captures.record(event, stream):
            return
        event.capture = None
        event.seconds = time.perf_counter()
        event.failures = self._streams.of(stream)

    def wait_event(self, stream: EmulatedStream | None, event: EmulatedEvent) -> None:
        """Return immediately: a recorded event is reached."""
        if self._captures.active:
            self._captures.wait(stream, event)

    def query_event(self, event: EmulatedEvent) -> bool:
        """Return True: a recorded event is reached."""
        doing = "ask an event whether it is done"
        self._captures.refuse_event(event, doing)
        self._captures.refuse_in_thread(doing)
        return True

    def synchronize_event(self, event: EmulatedEvent) -> None:
        """Raise what a function raised that a stream called before; the event is reached."""
        self._captures.refuse_event(event, "wait for an event")
        if event.failures:
            self._streams.tell(event.failures)

    def elapsed_milliseconds(self, start: EmulatedEvent, end: EmulatedEvent) -> float:
        """Return the time between two events; BackendError if one was recorded in a capture."""
        if start.seconds is None or end.seconds is None:
            raise BackendError(
                "the emulator could not time two events: hipErrorInvalidHandle (400), one of them "
                "was recorded in a captured stream, which gives it no time"
            )
        return (end.seconds - start.seconds) * 1e3

    def begin_capture(self, stream: EmulatedStream | None) -> None:
        """Record the work of a stream from now on, instead of doing it."""
        self._captures.begin(stream)

    def end_capture(self, stream: EmulatedStream) -> EmulatedGraph:
        """Return what the stream recorded; StreamCaptureError if the capture is spoilt."""
        return self._captures.end(stream)

    def discard_capture(self, stream: EmulatedStream) -> None:
        """End a capture and drop what it recorded."""
        self._captures.end(stream, check=False)


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
        self._memory = DeviceMemory(memory or settings.emulator_memory or physical_memory())
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

    def allocation_at(self, address: int) -> tuple[int, int] | None:
        """Return the start and the bytes of the allocation that has an address, None if none
        does."""
        found = self._memory.holding(address)
        return None if found is None else (found.start, found.end - found.start)

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
                library = NativeLibrary(
                    compiler, self._cache, lambda: native_sources.ROOMS, variant
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

    def step(
        self,
        function: Any,
        shape: LaunchShape,
        kernarg: bytes,
        *,
        lines: Callable[[int], int],
        schedule: str | int = "in-order",
    ) -> stepping.SteppedLaunch:
        """Begin a launch that goes on in single steps, as `SteppedLaunch` says."""
        machine = self._machine()
        return stepping.SteppedLaunch(
            function,
            shape,
            kernarg,
            memory=self._memory,
            target=self._target,
            library=machine.host.library,
            lines=lines,
            schedule=schedule,
        )

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
