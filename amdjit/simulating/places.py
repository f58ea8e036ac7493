"""Where a simulated work-item is in its program, as Python's frames say."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

from amdjit.diagnostics.notebooks import shown_file
from amdjit.frontend.source.plain_python import Loop, PlainCode
from amdjit.frontend.source.reading import is_library

__all__ = ["Places"]


class Places:
    """The code of a launch's functions, by which their frames are told from others."""

    def __init__(self) -> None:
        self._loops: dict[types.CodeType, tuple[tuple[Loop, int], ...]] = {}
        self._library: set[types.CodeType] = set()

    def note(self, function: types.FunctionType, plain: PlainCode) -> None:
        """Note the code of a function, with that of the functions within it."""
        for code in (plain.code, *_inner(plain.code)):
            self._loops[code] = tuple((loop, _offset(code, loop)) for loop in plain.loops)
            if is_library(function):
                self._library.add(code)

    def position(self) -> tuple[Any, ...]:
        """Return where the caller is, such that what a wave does first is less.

        Of two work-items in the same loop the one in the earlier round is first, and of two others
        the one at the earlier place in the function; those beyond a loop wait for those within it,
        as lanes do that have left a loop.
        """
        position: list[tuple[int, int]] = []
        for frame in reversed(list(self._frames())):
            for loop, offset in self._loops[frame.f_code]:
                if loop.first <= frame.f_lineno <= loop.last:
                    position.append((offset, frame.f_locals.get(loop.counter, 0)))
            position.append((frame.f_lasti, 0))
        return tuple(position)

    def path(self) -> tuple[Any, ...]:
        """Return the calls that lead to the caller, in whichever round of a loop."""
        return tuple((frame.f_code, frame.f_lasti) for frame in self._frames())

    def line(self) -> str:
        """Return the file and line of the user's code that the caller is in."""
        own = [frame for frame in self._frames() if frame.f_code not in self._library]
        return f"{shown_file(own[0].f_code.co_filename)}:{own[0].f_lineno}" if own else "?"

    def innermost(self, traceback: types.TracebackType | None) -> tuple[str, int] | None:
        """Return the file and line of the user's code where an exception was raised."""
        found = None
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code in self._loops and code not in self._library:
                found = code.co_filename, traceback.tb_lineno
            traceback = traceback.tb_next
        return found

    def _frames(self) -> Iterator[types.FrameType]:
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code in self._loops:
                yield frame
            frame = frame.f_back


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner(constant)


def _offset(code: types.CodeType, loop: Loop) -> int:
    """Return where the loop begins in the code."""
    starts = [
        start
        for start, _, line in code.co_lines()
        if line is not None and loop.first <= line <= loop.last
    ]
    return min(starts, default=0)
