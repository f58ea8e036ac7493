"""Named ranges of the host's time, which ROCm's profilers show above what the GPU does.

They are rocTX's (roctx.h): in librocprofiler-sdk-roctx.so of ROCm 6.2 and newer, before that in
libroctx64.so.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from amdjit.options import read_environment

__all__ = ["announce_missing", "named_range"]

_LOGGER = logging.getLogger("amdjit")
# The first one that exists is used. Names with versions exist without -dev packages, too.
_LIBRARIES = (
    "librocprofiler-sdk-roctx.so",
    "librocprofiler-sdk-roctx.so.1",
    "librocprofiler-sdk-roctx.so.0",
    "libroctx64.so",
    "libroctx64.so.4",
)


@contextlib.contextmanager
def named_range(name: str) -> Iterator[None]:
    """Name what the host does in a `with` block, in traces of ROCm's profilers.

    `rocprofv3 --marker-trace` and others show it. Ranges nest, for each thread. Nothing happens
    where rocTX is not installed. AMDJIT_ROCTX=1 also names each launch after its kernel.
    """
    library = _library()
    if library is None:
        yield
        return
    library.roctxRangePushA(name.encode())
    try:
        yield
    finally:
        library.roctxRangePop()


@functools.cache
def announce_missing() -> None:
    """Warn once if AMDJIT_ROCTX is set and rocTX is not installed."""
    if _library() is None:
        _LOGGER.warning(
            "AMDJIT_ROCTX=1: rocTX is not installed (%s), so launches have no names in traces. "
            "Install ROCm's rocprofiler-sdk-roctx or roctracer package, or set ROCM_PATH.",
            ", ".join(_LIBRARIES),
        )


@functools.cache
def _library() -> ctypes.CDLL | None:
    """Return rocTX, None if it is not installed."""
    root = read_environment(os.environ).rocm_path
    folders = [] if root is None else [str(root / "lib")]
    # By name alone first: a profiler has loaded it into the process, or the system finds it.
    for folder in ("", *folders):
        for name in _LIBRARIES:
            try:
                library = ctypes.CDLL(str(Path(folder) / name) if folder else name)
                library.roctxRangePushA.argtypes = [ctypes.c_char_p]
                library.roctxRangePop.argtypes = []
            except (OSError, AttributeError):
                continue
            return library
    return None
