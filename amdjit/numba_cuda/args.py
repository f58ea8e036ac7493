"""Hints for arguments: `In`, `Out` and `InOut` say which copies of a host array a launch makes.

Without a hint, a launch makes the copies that it needs: to the device, and back if the kernel
writes the array.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amdjit.diagnostics import PerformanceWarning
from amdjit.launching.launchers import ForAll, Launcher
from amdjit.numba_cuda import config
from amdjit.numba_cuda.arrays import (
    as_cuda_array,
    device_array,
    is_cuda_array,
    is_marked,
    to_device,
)

__all__ = ["ArgHint", "HintedForAll", "HintedLauncher", "In", "InOut", "Out", "wrap_arg"]

# Numba's number, below which it expects a GPU not to be full.
_FEW_BLOCKS = 128
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


def _three(extents: Any) -> tuple[int, ...]:
    given = extents if isinstance(extents, tuple) else (extents,)
    return (*given, 1, 1)[:3]


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


def warn_of_few_blocks(grid: int | tuple[int, ...]) -> None:
    """Warn of a grid of few blocks, as Numba does."""
    blocks = grid if isinstance(grid, int) else math.prod(grid)
    if blocks < _FEW_BLOCKS:
        warnings.warn(
            f"Grid size {blocks} will likely result in GPU under-utilization due to low occupancy.",
            PerformanceWarning,
            stacklevel=4,
        )


def _warn_of_copies(arguments: Sequence[Any]) -> None:
    """Warn of NumPy arrays that a launch copies, as Numba does."""
    for each in arguments:
        if _is_on_host(each):
            warnings.warn(
                "Host array used in CUDA kernel will incur copy overhead to/from device.",
                PerformanceWarning,
                stacklevel=4,
            )


def _has_hints(arguments: Sequence[Any]) -> bool:
    return any(isinstance(each, ArgHint) or is_marked(each) for each in arguments)


# Quick launches do not know hints, so such calls come here.


class HintedLauncher(Launcher):
    """A launch whose arguments may have hints, with Numba's names of its configuration."""

    __slots__ = ()

    @property
    def griddim(self) -> tuple[int, ...]:
        """The blocks along x, y and z."""
        return _three(self._grid)

    @property
    def blockdim(self) -> tuple[int, ...]:
        """The work-items of a block along x, y and z."""
        return _three(self._block)

    @property
    def stream(self) -> Any:
        """The stream; 0 for the default stream."""
        return 0 if self._stream is None else self._stream

    @property
    def sharedmem(self) -> int:
        """The bytes of dynamic LDS."""
        return self._dynamic_lds

    def _launch(self, arguments: tuple[Any, ...], keywords: dict[str, Any], learns: bool) -> None:
        if config.CUDA_WARN_ON_IMPLICIT_COPY:
            _warn_of_copies(arguments)
        if _has_hints(arguments):
            with_hints(super().__call__, arguments, self._stream, [])
        else:
            super()._launch(arguments, keywords, learns)


class HintedForAll(ForAll):
    """A launch over n work-items whose arguments may have hints."""

    __slots__ = ()

    def _launch(self, arguments: tuple[Any, ...], keywords: dict[str, Any], learns: bool) -> None:
        if config.CUDA_WARN_ON_IMPLICIT_COPY:
            _warn_of_copies(arguments)
        if _has_hints(arguments):
            with_hints(super().__call__, arguments, self._stream, [])
        else:
            super()._launch(arguments, keywords, learns)
