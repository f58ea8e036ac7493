"""Ctrl-C while native threads run: noted immediately, raised when they have stopped."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any


class DeferredInterrupt:
    """Inside its `with` block, SIGINT only sets `requested`. The usual handler runs at the end of
    the block.

    An exception in the middle of a launch could free memory that native threads still use. Python
    runs signal handlers only in the main thread, so there is nothing to do in other threads.
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
