"""Ctrl-C while native threads run: noted at once, raised when they have stopped."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any


class DeferredInterrupt:
    """Within a `with` block SIGINT only sets `requested`; what it does otherwise happens when the
    block has ended.

    An exception in the middle of a launch could free memory that native threads still use. Python
    runs signal handlers in the main thread only, so in other threads there is nothing to do.
    """

    def __init__(self) -> None:
        self.requested = False
        self._frame: FrameType | None = None
        self._handler: Any = None

    def __enter__(self) -> DeferredInterrupt:
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            try:
                signal.signal(signal.SIGINT, self._note)
                self._handler = handler
            except ValueError:  # not the main thread
                self._handler = None
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.requested, self._frame = True, frame

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handler is None:
            return
        signal.signal(signal.SIGINT, self._handler)
        if self.requested:
            self._handler(signal.SIGINT, self._frame)
