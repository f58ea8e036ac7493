"""Code objects and launches on an AMD GPU."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import refuse_profiles
from amdjit.diagnostics.errors import LaunchError
from amdjit.forking import when_forked
from amdjit.late import late
from amdjit.runtime.device import Function
from amdjit.runtime.hip.calls import (
    HipCalls,
    call,
    direct,
    hip_error,
    hip_library,
    is_forked,
    refusal,
    version_text,
)
from amdjit.runtime.hip.captures import ThreadCaptures
from amdjit.runtime.hip.handles import Handle, native_of
from amdjit.runtime.hip_errors import (
    FIRST_WITH_VERSION_6,
    UPDATE_ROCM,
    WITHOUT_VERSION_6,
    HipError,
)
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit import code_object
    from amdjit.checking.settings import Request
else:
    # Only cooperative launches ask where the arguments are.
    code_object = late("amdjit.code_object")


class HipLaunches(HipCalls):
    """Launches on an AMD GPU: `amdjit.runtime.device.LaunchDevice`."""

    target: Target
    thread_captures: ThreadCaptures

    def load(self, code_object: bytes) -> HipModule:
        """Load a linked code object; HipError if it is for another processor."""
        # Not a method: the module is not to keep the device alive.
        return HipModule(code_object, self.here, partial(_unload, self.thread_captures))

    def launch(
        self,
        function: Function,
        shape: LaunchShape,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        """Start a kernel. HIP fills in the hidden arguments, and copies `kernarg` before this
        returns."""
        refuse_profiles(function.name, self.name, self.target.name)
        if shape.cooperative:
            self._launch_together(function, shape, kernarg, stream)
            return
        slot = self.slot(function, shape, len(kernarg), stream)
        slot.kernarg[slot.offset :] = kernarg
        code = slot.start()
        if code:
            slot.fail(code)

    def _launch_together(
        self, function: Function, shape: LaunchShape, kernarg: bytearray, stream: Any
    ) -> None:
        """Start a cooperative launch, for which HIP wants a pointer to each argument."""
        assert isinstance(function, HipFunction)
        launch = self.hip.hipModuleLaunchCooperativeKernel
        try:
            with function.lock:
                parameters = function.fill_parameters(kernarg)
                native = native_of(stream)
                words = shape_words(shape)
                self.here(function.doing, launch, function.native, *words, native, parameters)
        except HipError as error:
            raise error.with_detail(shape_text(shape)) from None

    def slot(
        self,
        function: Function,
        shape: LaunchShape,
        nbytes: int,
        stream: Any = None,
    ) -> HipSlot:
        """Make a launch that waits for its arguments."""
        assert isinstance(function, HipFunction)
        index = None if self.is_only_one else self.index
        return HipSlot(function, shape, nbytes, native_of(stream), index)

    def launch_sanitized(
        self,
        function: Function,
        shape: LaunchShape,
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


def _unload(captures: ThreadCaptures, native: Any) -> None:
    captures.free(partial(hip_library().hipModuleUnload, native))


# Code objects that a GPU has loaded, and their kernels.

# HIP's errors for code objects that it cannot load: hipErrorInvalidDeviceFunction, InvalidImage,
# NoBinaryForGpu, SharedObjectInitFailed.
_REFUSED_CODE = frozenset({98, 200, 209, 303})


class HipFunction:
    """A kernel of a loaded code object."""

    def __init__(self, name: str, module: HipModule, native: Any) -> None:
        self.name = name
        self.doing = f"launch {name}"
        self.native = native
        self._module = module
        self._parameters = bytearray()
        self._parameters_address = 0
        self.lock = threading.Lock()

    def fill_parameters(self, kernarg: bytearray) -> int:
        """Return the address of `kernelParams` for this kernarg: a pointer to each argument. Hold
        `lock` until HIP has read it."""
        if not self._parameters:
            self._make_parameters(len(kernarg))
        self._parameters[len(self._parameters) - len(kernarg) :] = kernarg
        return self._parameters_address

    def _make_parameters(self, nbytes: int) -> None:
        offsets = self._module.argument_offsets(self.name)
        places = 8 * len(offsets)
        parameters = bytearray(places + nbytes)
        self._pinned_parameters = (ctypes.c_char * len(parameters)).from_buffer(parameters)
        self._parameters_address = ctypes.addressof(self._pinned_parameters)
        first = self._parameters_address + places
        pointers = (first + offset for offset in offsets)
        struct.pack_into(f"<{len(offsets)}Q", parameters, 0, *pointers)
        self._parameters = parameters


class HipModule:
    """A code object that one GPU has loaded."""

    def __init__(
        self, code_object: bytes, caller: Callable[..., Any], unload: Callable[[Any], None]
    ) -> None:
        # HIP does not copy the image, and may read it when a kernel is first looked up.
        self._image = code_object
        doing = f"load a code object of {len(code_object)} bytes"
        try:
            native = caller(doing, hip_library().hipModuleLoadData, code_object)
        except HipError as error:
            raise _explained(error) from None
        self._handle = Handle(native, unload)

    def argument_offsets(self, name: str) -> list[int]:
        """Return where each explicit argument of a kernel is, in bytes."""
        kernel = code_object.CodeObject.read(self._image).kernels[name]
        return [argument.offset for argument in kernel.metadata.explicit_arguments]

    def function(self, name: str) -> HipFunction:
        """Return the kernel of this symbol name; HipError if there is none."""
        doing = f"find the kernel {name} in its code object"
        native = call(doing, hip_library().hipModuleGetFunction, self._handle.native, name.encode())
        return HipFunction(name, self, native)


def _explained(error: HipError) -> HipError:
    """Return why HIP refused a code object. What looks like another processor's code may be code of
    a format that this HIP does not read yet."""
    if error.code not in _REFUSED_CODE:
        return error
    number = call("read the runtime's version", hip_library().hipRuntimeGetVersion)
    found = f"This is HIP {version_text(number)}"
    if number >= FIRST_WITH_VERSION_6:
        return error.with_detail(f"{found}.")
    return error.with_detail(f"{found}, {WITHOUT_VERSION_6}.", UPDATE_ROCM)


# Launches on an AMD GPU that wait for their arguments: all else is converted for C already.

# hip_runtime_api.h: the tags of hipModuleLaunchKernel's `extra` array.
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3
# A launch packet: the size of kernarg, the five words of `extra`, two of which are addresses in the
# packet, and kernarg.
_HEADER = struct.Struct("<Q5Q")


class HipSlot:
    """A launch of a kernel: `amdjit.runtime.device.LaunchSlot`.

    stream: HIP's handle, 0 for the default one. index: the GPU, None if there is only one.
    """

    __slots__ = ("_function", "_pinned", "_shape", "kernarg", "offset", "start")

    def __init__(
        self,
        function: HipFunction,
        shape: LaunchShape,
        nbytes: int,
        stream: Any,
        index: int | None,
    ) -> None:
        self.kernarg = packet = bytearray(_HEADER.size + nbytes)
        self.offset = _HEADER.size
        # The exported buffer keeps the bytes where they are.
        self._pinned = (ctypes.c_char * len(packet)).from_buffer(packet)
        address = ctypes.addressof(self._pinned)
        extra = (_BUFFER_POINTER, address + _HEADER.size, _BUFFER_SIZE, address, _END)
        _HEADER.pack_into(packet, 0, nbytes, *extra)
        self._function, self._shape = function, shape
        launch = _launcher(function.native, shape, stream, address + 8)
        self.start: Callable[[], int] = launch if index is None else _on(index, launch)

    def fail(self, code: int) -> NoReturn:
        """Raise what `start` returned as HipError."""
        raise _error(self._function.doing, code).with_detail(shape_text(self._shape))


def _refuse_when_forked() -> None:
    """Refuse all launches of a forked process. Slots are from before the fork, and asking at each
    launch would cost time."""
    if is_forked():
        type.__setattr__(HipSlot, "start", property(_refused, _refused))


def _refused(*_: object) -> NoReturn:
    raise refusal()


when_forked(_refuse_when_forked)


def shape_text(shape: LaunchShape) -> str:
    """Return the shape of a launch for the message of an error."""
    return (
        f"It was launched with grid {shape.grid}, block {shape.block}, {shape.dynamic_lds} bytes "
        "of dynamic LDS."
    )


def shape_words(shape: LaunchShape) -> tuple[int, ...]:
    """Return the shape as hipModuleLaunchKernel takes it."""
    return (*shape.grid, *shape.block, shape.dynamic_lds)


def _launcher(native: Any, shape: LaunchShape, stream: Any, extra: int) -> Callable[[], int]:
    launch, words = direct("hipModuleLaunchKernel"), shape_words(shape)
    if launch is None:
        checked = hip_library().hipModuleLaunchKernel
        return lambda: int(checked(native, *words, stream, None, extra)[0])
    pointer = ctypes.c_void_p
    handle = None if stream is None else pointer(int(stream))
    return partial(launch, pointer(int(native)), *words, handle, None, pointer(extra))


def _on(index: int, launch: Callable[[], int]) -> Callable[[], int]:
    """Return a launch that makes a GPU HIP's current device where it is not, and puts back the
    one that was: the current device is per thread and shared with other libraries."""
    get, change = direct("hipGetDevice"), direct("hipSetDevice")
    if get is None or change is None:
        return partial(_on_checked, index, launch)

    def start() -> int:
        number = ctypes.c_int()
        code = get(ctypes.byref(number))
        if code or number.value == index:
            return code or launch()
        before = number.value
        code = change(index)
        if code:
            return code
        try:
            return launch()
        finally:
            change(before)

    return start


def _on_checked(index: int, launch: Callable[[], int]) -> int:
    library = hip_library()
    before = call("ask for the current device", library.hipGetDevice)
    call(f"switch to hip:{index}", library.hipSetDevice, index)
    try:
        return launch()
    finally:
        call(f"switch back from hip:{index}", library.hipSetDevice, before)


def _error(doing: str, code: int) -> HipError:
    try:
        return hip_error(doing, hip_library().hipError_t(code))
    except ValueError as error:  # a code that this hip-python does not know yet
        return HipError(doing, code, "an unknown error", str(error))
