"""The launchers of a kernel, kept for the next launch with the same grid."""

from __future__ import annotations

import sys
import warnings
import weakref
from opcode import opname
from typing import Any

from amdjit.diagnostics import LaunchError
from amdjit.diagnostics.performance import LaunchWarning
from amdjit.launching.launchers import ForAll, Launcher
from amdjit.launching.prepared import LaunchableKernel
from amdjit.launching.ready import Ready
from amdjit.runtime.streams import Stream

__all__ = ["Launchers", "warn_if_dropped"]

# Programs have few grids, or another one each time.
_MOST = 256
# How many of a kernel's first launches are looked at: programs repeat their lines.
_WATCHED = 64
# The instructions that end in a launcher, and the methods between them and here.
_MAKING = ("BINARY_SUBSCR", "BINARY_OP", "CALL", "CALL_FUNCTION", "CALL_FUNCTION_EX",
           "CALL_FUNCTION_KW", "CALL_KW", "CALL_METHOD")  # fmt: skip
_METHODS = ("__getitem__", "get", "watch", "launch", "forall")


class Launchers:
    """The launchers of one kernel by what is between the brackets of `kernel[...]`.

    Only those are kept whose grid and block consist of Python's own integers: 1, 1.0 and True would
    be the same key, and are not the same to a launch.
    """

    def __init__(
        self,
        kernel: LaunchableKernel,
        launcher: type[Launcher] = Launcher,
        for_all: type[ForAll] = ForAll,
    ) -> None:
        self._kernel, self._launcher, self._for_all = kernel, launcher, for_all
        self._by_grid: dict[tuple[Any, Any], Launcher] = {}
        self._by_size: dict[int, ForAll] = {}
        options = kernel.specialisations.options
        warns = options.environment.warnings and options.given.get("warnings", True)
        self._watched = _WATCHED if warns else 0
        # A launcher holds its stream, so that only its quick launches can be kept for a stream.
        self._on_streams: weakref.WeakKeyDictionary[Stream, dict[Any, list[Ready]]] = (
            weakref.WeakKeyDictionary()
        )

    def get(self, launch: Any) -> Launcher:
        """Return the launcher of `kernel[launch]`; LaunchError if it has no grid and block."""
        if self._watched:
            self.watch()
        try:
            launcher = self._by_grid[launch]
        except (KeyError, TypeError):  # new, or a list
            return self._make(launch)
        grid, block = launch
        if (grid.__class__ is int or _is_plain(grid)) and (
            block.__class__ is int or _is_plain(block)
        ):
            return launcher
        return self._make(launch)

    def watch(self) -> None:
        """Warn where the statement that configures one of the first launches ends there."""
        if self._watched:
            self._watched -= 1
            warn_if_dropped(self._kernel.signature.kernel)

    def over(self, n: Any) -> ForAll:
        """Return the launcher of `kernel.forall(n)`."""
        if n.__class__ is not int:
            return self._for_all(self._kernel, n)
        found = self._by_size.get(n)
        if found is None:
            if len(self._by_size) >= _MOST:
                self._by_size.clear()
            found = self._by_size[n] = self._for_all(self._kernel, n)
        return found

    def _make(self, launch: Any) -> Launcher:
        if not isinstance(launch, tuple) or not 2 <= len(launch) <= 4:
            name = self._kernel.signature.kernel
            raise LaunchError(
                f"{name}[{launch}]: write {name}[grid, block](...); a stream and the bytes of "
                "dynamic LDS may follow"
            )
        grid, block = launch[:2]
        stream = launch[2] if len(launch) > 2 else None
        dynamic_lds = launch[3] if len(launch) > 3 else 0
        if not (_is_plain(grid) and _is_plain(block) and dynamic_lds.__class__ is int):
            return self._launcher(self._kernel, grid, block, stream, dynamic_lds)
        if isinstance(stream, Stream):
            ready = self._ready_on(stream, (grid, block, dynamic_lds))
            return self._launcher(self._kernel, grid, block, stream, dynamic_lds, ready=ready)
        launcher = self._launcher(self._kernel, grid, block, stream, dynamic_lds)
        if len(launch) == 2:
            if len(self._by_grid) >= _MOST:
                self._by_grid.clear()
            self._by_grid[launch] = launcher
        return launcher

    def _ready_on(self, stream: Stream, key: Any) -> list[Ready]:
        by_grid = self._on_streams.get(stream)
        if by_grid is None:
            by_grid = self._on_streams.setdefault(stream, {})
        ready = by_grid.get(key)
        if ready is None:
            if len(by_grid) >= _MOST:
                by_grid.clear()
            ready = by_grid[key] = []
        return ready


def warn_if_dropped(kernel: str) -> None:
    """Warn where the statement that configures a launch ends there: its next instruction drops the
    launcher."""
    frame, depth = sys._getframe(1), 2
    method = ""
    while frame.f_code.co_name in _METHODS and frame.f_back is not None:
        method = frame.f_code.co_name
        frame, depth = frame.f_back, depth + 1
    code, at = frame.f_code.co_code, frame.f_lasti
    after = at + 2
    while opname[code[at]] == "CACHE":  # of the instruction before
        at -= 2
    while opname[code[after]] == "CACHE":
        after += 2
    if opname[code[at]] in _MAKING and opname[code[after]] == "POP_TOP":
        written = f"{kernel}.{method}(...)" if method != "__getitem__" else f"{kernel}[grid, block]"
        warnings.warn(
            f"{written} alone launches nothing: call it with the arguments, {written}(...)",
            LaunchWarning,
            stacklevel=depth,
        )


def _is_plain(extent: Any) -> bool:
    """Whether a grid or block is one of Python's integers, or a tuple of them."""
    return extent.__class__ is int or (
        extent.__class__ is tuple and all(entry.__class__ is int for entry in extent)
    )
