"""Python's garbage collector, paused while modules are loaded and compilations build values."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for unreachable cycles, which walks all objects of the process.

    During a compilation that search took a third of the time of long kernels and found nothing, and
    a sixth of the time in which the compiler is loaded.
    Reference counting goes on. If two threads compile at the same time, the collector resumes when
    the first is done.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
