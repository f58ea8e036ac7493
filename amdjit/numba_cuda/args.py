"""Hints for arguments: `In`, `Out` and `InOut` say which copies of a host array a launch makes.

Without a hint, a launch makes the copies that it needs: to the device, and back if the kernel
writes the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amdjit.launching.launchers import ForAll, Launcher
from amdjit.numba_cuda.arrays import (
    as_cuda_array,
    device_array,
    is_cuda_array,
    is_marked,
    to_device,
)

__all__ = ["ArgHint", "HintedForAll", "HintedLauncher", "In", "InOut", "Out", "wrap_arg"]

Finish = list[Callable[[], Any]]


class ArgHint:
    """An argument with a hint. value: what the kernel gets."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def to_device(self, retr: Finish, stream: Any = 0) -> Any:
        """Return what to launch with. Functions to call after the launch are appended to `retr`."""
        raise NotImplementedError


class In(ArgHint):
    """A host array that is only copied to the device, and not changed."""

    def to_device(self, retr: Finish, stream: Any = 0) -> Any:
        """Return a copy on the device; for a record, a copy of it."""
        if isinstance(self.value, np.void):
            return self.value.copy()
        return to_device(self.value, stream) if _is_on_host(self.value) else self.value


class Out(ArgHint):
    """A host array that is only copied back, from device memory of arbitrary contents."""

    def to_device(self, retr: Finish, stream: Any = 0) -> Any:
        """Return an array of arbitrary contents, which is copied back after the launch."""
        host = self.value
        if not _is_on_host(host):
            return host
        is_f = host.flags.f_contiguous and not host.flags.c_contiguous
        made = device_array(host.shape, host.dtype, order="F" if is_f else "C")

        def copy_back() -> None:
            host[...] = made.copy_to_host(stream=stream)

        retr.append(copy_back)
        return made


class InOut(ArgHint):
    """A host array that is copied in both directions, as without a hint."""

    def to_device(self, retr: Finish, stream: Any = 0) -> Any:
        """Return the array."""
        return self.value


def wrap_arg(value: Any, default: type[ArgHint] = InOut) -> ArgHint:
    """Return an argument with a hint: its own, or `default`."""
    return value if isinstance(value, ArgHint) else default(value)


def _is_on_host(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not is_cuda_array(value)


def with_hints(
    launch: Callable[..., Any], arguments: Sequence[Any], stream: Any, finish: Finish
) -> None:
    """Launch as the hints among the arguments say, then call the functions that finish the
    launch."""
    stream = 0 if stream is None else stream
    launch(
        *(
            each.to_device(finish, stream)
            if isinstance(each, ArgHint)
            else as_cuda_array(each)
            if is_marked(each)
            else each
            for each in arguments
        )
    )
    for each in finish:
        each()


def _has_hints(arguments: Sequence[Any]) -> bool:
    return any(isinstance(each, ArgHint) or is_marked(each) for each in arguments)


# Quick launches do not know hints, so such calls come here.


class HintedLauncher(Launcher):
    """A launch whose arguments may have hints."""

    __slots__ = ()

    def _launch(self, arguments: tuple[Any, ...], keywords: dict[str, Any], learns: bool) -> None:
        if _has_hints(arguments):
            with_hints(super().__call__, arguments, self._stream, [])
        else:
            super()._launch(arguments, keywords, learns)


class HintedForAll(ForAll):
    """A launch over n work-items whose arguments may have hints."""

    __slots__ = ()

    def _launch(self, arguments: tuple[Any, ...], keywords: dict[str, Any], learns: bool) -> None:
        if _has_hints(arguments):
            with_hints(super().__call__, arguments, self._stream, [])
        else:
            super()._launch(arguments, keywords, learns)
