"""AMD GPUs through HIP. The only module that calls hip-python (6 and newer)."""

from __future__ import annotations

import ctypes
import functools
import importlib
import re
import struct
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from amdjit.checking.profiling import refuse_profiles
from amdjit.diagnostics.errors import BackendError, LaunchError
from amdjit.runtime import dlpack
from amdjit.runtime.device import Extent, Function
from amdjit.runtime.hip_errors import HipError, HipUnavailableError
from amdjit.runtime.pending import Pending
from amdjit.target import TARGETS, Target, find_target

if TYPE_CHECKING:
    from amdjit.checking.settings import Request

# hip_runtime_api.h: the tags of hipModuleLaunchKernel's `extra` array.
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3
# A launch packet: the size of kernarg, the five words of `extra`, two of which are addresses in the
# packet, and kernarg.
_HEADER = struct.Struct("<Q5Q")
# Each holds a record in device memory.
_MOST_PENDING = 64
_OUT_OF_MEMORY, _UNKNOWN_ERROR = 2, 999
# hip-python prints names of libraries as Python's bytes: 'b'libamdhip64.so''.
_BYTES = re.compile(r"b'([^']*)'")


@functools.cache
def _hip() -> Any:
    """Return hip-python's module of HIP functions; HipUnavailableError if it is not installed."""
    # hip-python is loaded when HIP devices are first asked for: importing it takes 45 ms, a third
    # of the time that `import amdjit` may take, and most processes on machines without an AMD GPU
    # never need it.
    try:
        package = importlib.import_module("hip")
        return package.hip
    except (ImportError, AttributeError) as error:
        raise HipUnavailableError(
            f"hip-python is not installed ({error}): pip install hip-python"
        ) from error


def _call(doing: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a HIP function and return its results other than the error code; HipError if it
    fails."""
    try:
        code, *values = function(*arguments)
    except RuntimeError as error:
        if not str(error).startswith(
            "failed to dl"
        ):  # hip-python's error if dlopen or dlsym found nothing
            raise
        words = _BYTES.sub(r"\1", str(error))
        raise HipUnavailableError(
            f"the HIP runtime cannot {doing}: {words}. Install ROCm's HIP runtime."
        ) from error
    except ValueError as error:  # a code that this hip-python does not know yet
        raise HipError(doing, _UNKNOWN_ERROR, "an unknown error", str(error)) from error
    if code:
        raise _error(doing, code)
    return values[0] if len(values) == 1 else tuple(values)


def _error(doing: str, code: Any) -> HipError:
    return HipError(doing, int(code), code.name, _text(_hip().hipGetErrorString(code)))


def _text(value: Any) -> str:
    """Read a C string: bytes up to hip-python 7, (hipSuccess, CStr) from 10 on."""
    if isinstance(value, tuple):
        value = value[-1]
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")


def _properties(index: int) -> Any:
    hip = _hip()
    doing = f"read the properties of device {index}"
    try:
        return _call(doing, hip.hipGetDeviceProperties, index)
    except TypeError:  # up to hip-python 7 the caller brings the structure
        properties = hip.hipDeviceProp_t()
        _call(doing, hip.hipGetDeviceProperties, properties, index)
        return properties


class _Handle:
    """A HIP object that is destroyed with its last reference."""

    def __init__(self, native: Any, destroy: Callable[[Any], Any]) -> None:
        self.native = native
        finalizer = weakref.finalize(self, destroy, native)
        # The end of the process destroys its HIP objects, and the HIP runtime may end before Python
        # does.
        finalizer.atexit = False


class _Event(_Handle):
    """A HIP event, and what to report when the work before it is done."""

    told_by: tuple[Any, ...] = ()


def _native(stream: _Handle | None) -> Any:
    return None if stream is None else stream.native


class HipFunction:
    """A kernel of a loaded code object."""

    def __init__(self, name: str, module: HipModule, native: Any) -> None:
        self.name = name
        self.doing = f"launch {name}"
        self.native = native
        self.lock = threading.Lock()
        self._module = module
        self._packet = bytearray()
        self._address = 0

    def fill_packet(self, kernarg: bytearray) -> int:
        """Return the address of `extra` for this kernarg. Hold `lock` until HIP has read it."""
        if len(self._packet) != _HEADER.size + len(kernarg):
            self._make_packet(len(kernarg))
        self._packet[_HEADER.size :] = kernarg
        return self._address + 8

    def _make_packet(self, nbytes: int) -> None:
        packet = bytearray(_HEADER.size + nbytes)
        # The exported buffer keeps the bytes where they are.
        self._pinned = (ctypes.c_char * len(packet)).from_buffer(packet)
        self._address = ctypes.addressof(self._pinned)
        kernarg_address = self._address + _HEADER.size
        _HEADER.pack_into(
            packet, 0, nbytes, _BUFFER_POINTER, kernarg_address, _BUFFER_SIZE, self._address, _END
        )
        self._packet = packet


class HipModule:
    """A code object that one GPU has loaded."""

    def __init__(self, code_object: bytes, call: Callable[..., Any]) -> None:
        hip = _hip()
        # HIP does not copy the image, and may read it when a kernel is first looked up.
        self._image = code_object
        doing = f"load a code object of {len(code_object)} bytes"
        self._handle = _Handle(call(doing, hip.hipModuleLoadData, code_object), hip.hipModuleUnload)

    def function(self, name: str) -> HipFunction:
        """Return the kernel of this symbol name; HipError if there is none."""
        doing = f"find the kernel {name} in its code object"
        native = _call(doing, _hip().hipModuleGetFunction, self._handle.native, name.encode())
        return HipFunction(name, self, native)


class HipDevice:
    """An AMD GPU. BackendError if its processor is not in amdjit's table of targets."""

    def __init__(self, index: int) -> None:
        hip = _hip()
        self._hip = hip
        self.index = index
        self.name = f"hip:{index}"
        self.dlpack_device = (dlpack.ROCM, index)
        self._is_only_one = _call("count the devices", hip.hipGetDeviceCount) == 1
        properties = _properties(index)
        architecture = _text(properties.gcnArchName)
        self.target = _target_of(self.name, architecture)
        memory = properties.totalGlobalMem / 2**30
        self._pending = Pending()
        version = _version(_call("read the runtime's version", hip.hipRuntimeGetVersion))
        self.description = (
            f"{_text(properties.name)} ({architecture}, {memory:.1f} GiB, HIP {version})"
        )

    def __repr__(self) -> str:
        return f"<HipDevice {self.name}: {self.description}>"

    def allocate(self, nbytes: int) -> int:
        """Allocate device memory; HipError with the free memory if there is not enough."""
        try:
            return int(
                self._here(
                    f"allocate {nbytes} bytes on {self.name}", self._hip.hipMalloc, max(nbytes, 1)
                )
            )
        except HipError as error:
            if error.code == _OUT_OF_MEMORY:
                raise error.with_detail(self._free_memory()) from None
            raise

    def share(self, address: int) -> None:
        """Do nothing: this device does not track who writes to memory."""

    def free(self, address: int) -> None:
        """Free an allocation. HIP waits for the work of the device first."""
        _call("free memory", self._hip.hipFree, address)

    def copy_to_device(self, address: int, source: memoryview, stream: Any = None) -> None:
        """Copy contiguous host bytes to the device and wait for it."""
        self._copy(
            address,
            source,
            source.nbytes,
            self._hip.hipMemcpyKind.hipMemcpyHostToDevice,
            stream,
            wait=True,
        )

    def copy_to_host(self, destination: memoryview, address: int, stream: Any = None) -> None:
        """Copy device bytes to contiguous host memory and wait for it."""
        if destination.readonly:
            raise ValueError("the destination of a copy to the host is read-only")
        kind = self._hip.hipMemcpyKind.hipMemcpyDeviceToHost
        self._copy(destination, address, destination.nbytes, kind, stream, wait=True)
        self._pending.tell_stream(stream)

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes between two places of this device that do not overlap."""
        kind = self._hip.hipMemcpyKind.hipMemcpyDeviceToDevice
        self._copy(destination, source, nbytes, kind, stream, wait=False)

    def load(self, code_object: bytes) -> HipModule:
        """Load a linked code object; HipError if it is for another processor."""
        return HipModule(code_object, self._here)

    def launch(
        self,
        function: Function,
        grid: Extent,
        block: Extent,
        dynamic_lds: int,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        """Start a kernel. HIP fills in the hidden arguments, and copies `kernarg` before this
        returns."""
        assert isinstance(function, HipFunction)
        refuse_profiles(function.name, self.name, self.target.name)
        shape = (*grid, *block, dynamic_lds)
        try:
            with function.lock:
                extra = function.fill_packet(kernarg)
                launch = self._hip.hipModuleLaunchKernel
                self._here(
                    function.doing, launch, function.native, *shape, _native(stream), None, extra
                )
        except HipError as error:
            detail = (
                f"It was launched with grid {grid}, block {block}, {dynamic_lds} bytes of "
                "dynamic LDS."
            )
            raise error.with_detail(detail) from None

    def launch_sanitized(
        self,
        function: Function,
        grid: Extent,
        block: Extent,
        dynamic_lds: int,
        kernarg: bytearray,
        request: Request,
        stream: Any = None,
    ) -> NoReturn:
        """Raise LaunchError: only the emulator checks launches."""
        checks = ", ".join(sorted(request.checks))
        raise LaunchError(
            f"{function.name}: {self.name} cannot check launches ({checks}); the emulator can: "
            "launch inside "
            f'`with amdjit.use("emulator:{self.target}"):`, or without `sanitize` and '
            "AMDJIT_SANITIZE"
        )

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` at the next wait for the stream; too many pending calls cause a wait."""
        if self._pending.add(tell, stream) >= _MOST_PENDING:
            self.synchronize()

    def synchronize(self) -> None:
        """Wait for all work of this device; HipError if some failed, KernelFault if a kernel
        reports one."""
        self._here(f"finish the work on {self.name}", self._hip.hipDeviceSynchronize)
        self._pending.tell_all()

    def create_stream(self) -> _Handle:
        """Make a stream; it is destroyed with its last reference."""
        native = self._here(f"create a stream on {self.name}", self._hip.hipStreamCreate)
        return _Handle(native, self._hip.hipStreamDestroy)

    def synchronize_stream(self, stream: Any) -> None:
        """Wait for all work of a stream; HipError if some failed, KernelFault if a kernel reports
        one."""
        self._wait_for(stream)
        self._pending.tell_stream(stream)

    def _wait_for(self, stream: Any) -> None:
        self._here(
            f"finish the work of a stream on {self.name}",
            self._hip.hipStreamSynchronize,
            _native(stream),
        )

    def create_event(self) -> _Event:
        """Make an event that can be timed; it is destroyed with its last reference."""
        native = self._here(f"create an event on {self.name}", self._hip.hipEventCreate)
        return _Event(native, self._hip.hipEventDestroy)

    def record_event(self, event: Any, stream: Any = None) -> None:
        """Put the event after the work that the stream has now."""
        event.told_by = self._pending.of(stream)
        self._here("record an event", self._hip.hipEventRecord, event.native, _native(stream))

    def synchronize_event(self, event: Any) -> None:
        """Wait until the event is reached."""
        _call("wait for an event", self._hip.hipEventSynchronize, event.native)
        self._pending.tell(event.told_by)

    def elapsed_milliseconds(self, start: Any, end: Any) -> float:
        """Return the time between two events that have been reached, to about 1 us."""
        return float(
            _call("time two events", self._hip.hipEventElapsedTime, start.native, end.native)
        )

    def _here(self, doing: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a HIP function with this device as HIP's current one."""
        if self._is_only_one:
            return _call(doing, function, *arguments)
        # HIP's current device is per thread and shared with other libraries, so it is put back.
        before = _call("ask for the current device", self._hip.hipGetDevice)
        _call(f"switch to {self.name}", self._hip.hipSetDevice, self.index)
        try:
            return _call(doing, function, *arguments)
        finally:
            _call(f"switch back from {self.name}", self._hip.hipSetDevice, before)

    def _copy(
        self, destination: Any, source: Any, nbytes: int, kind: Any, stream: Any, wait: bool
    ) -> None:
        if nbytes == 0:
            return
        doing = f"copy {nbytes} bytes ({kind.name.removeprefix('hipMemcpy')}) on {self.name}"
        if stream is None:
            self._here(doing, self._hip.hipMemcpy, destination, source, nbytes, kind)
            return
        self._here(
            doing, self._hip.hipMemcpyAsync, destination, source, nbytes, kind, _native(stream)
        )
        if wait:
            # HIP may still read or write pageable host memory when hipMemcpyAsync has returned.
            self._wait_for(stream)

    def _free_memory(self) -> str:
        free, total = self._here("ask for free memory", self._hip.hipMemGetInfo)
        return f"{free} bytes are free of {total}."


def _target_of(name: str, architecture: str) -> Target:
    target = find_target(architecture)
    if target is None:
        known = ", ".join(str(target) for target in TARGETS)
        raise BackendError(
            f"{name} is a {architecture}, for which amdjit does not compile; it has {known}"
        )
    return target


def _version(number: int) -> str:
    """HIP's version number is major * 10^7 + minor * 10^5 + patch."""
    return f"{number // 10**7}.{number // 10**5 % 100}.{number % 10**5}"


def discover() -> tuple[list[HipDevice], str]:
    """Return the GPUs that can be used, and why others cannot; empty if all of them can.

    Never raises on a machine without ROCm, without a GPU or with GPUs that amdjit does not know.
    """
    try:
        count = _call("count the devices", _hip().hipGetDeviceCount)
    except BackendError as error:
        return [], str(error)
    if count == 0:
        return [], "HIP works, but sees no GPU"
    devices, reasons = [], []
    for index in range(count):
        try:
            devices.append(HipDevice(index))
        except BackendError as error:
            reasons.append(str(error))
    return devices, "; ".join(reasons)
