"""HIP objects that are destroyed with their last reference."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from amdjit.runtime.hip.calls import is_forked

# hip_runtime_api.h: hipStreamLegacy, which is the default stream.
_LEGACY = 1


class Handle:
    """A HIP object that is destroyed with its last reference."""

    def __init__(self, native: Any, destroy: Callable[[Any], Any]) -> None:
        self.native = native
        finalizer = weakref.finalize(self, _destroy, destroy, native)
        # The end of the process destroys its HIP objects, and the HIP runtime may end before Python
        # does.
        finalizer.atexit = False


class HipStream(Handle):
    """A HIP stream."""

    capture: Any = None
    """The `captures.HipCapture` that records its work now; None if its work is done."""

    def __int__(self) -> int:
        """HIP's handle."""
        return int(self.native)


def _destroy(destroy: Callable[[Any], Any], native: Any) -> None:
    if not is_forked():  # the object is the other process's
        destroy(native)


class HipEvent(Handle):
    """A HIP event, and what to report when the work before it is done."""

    told_by: tuple[Any, ...] = ()
    capture: Any = None
    """The capture in which it was recorded."""


class ExternalStream:
    """A HIP stream that others have made and will destroy."""

    capture: Any = None

    def __init__(self, native: int) -> None:
        self.native = native


class ExternalStreams:
    """The external streams that are in use. One HIP stream has one object, so that what waits for
    it is found again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: weakref.WeakValueDictionary[int, ExternalStream] = (
            weakref.WeakValueDictionary()
        )

    def find(self, handle: int) -> ExternalStream | None:
        """Return the stream of a handle; None for the default stream."""
        if handle in (0, _LEGACY):
            return None
        with self._lock:
            stream = self._streams.get(handle)
            if stream is None:
                stream = self._streams[handle] = ExternalStream(handle)
            return stream


def native_of(stream: Handle | ExternalStream | None) -> Any:
    return None if stream is None else stream.native
