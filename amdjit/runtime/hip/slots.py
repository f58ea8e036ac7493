"""Launches on an AMD GPU that wait for their arguments: all else is converted for C already."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from amdjit.abi.launch_shape import LaunchShape
from amdjit.forking import when_forked
from amdjit.runtime.hip.calls import call, hip_error, hip_library
from amdjit.runtime.hip.direct import direct
from amdjit.runtime.hip.forked import is_forked, refusal
from amdjit.runtime.hip.modules import HipFunction
from amdjit.runtime.hip_errors import HipError

# hip_runtime_api.h: the tags of hipModuleLaunchKernel's `extra` array.
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3
# A launch packet: the size of kernarg, the five words of `extra`, two of which are addresses in the
# packet, and kernarg.
_HEADER = struct.Struct("<Q5Q")


class HipSlot:
    """A launch of a kernel: `amdjit.runtime.device_launches.LaunchSlot`.

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
