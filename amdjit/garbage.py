"""Python's garbage collector, kept from searching what a compilation is building."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for unreachable cycles, which walks all objects of the process as a
    compilation makes many.

    It took a third of the time of long kernels and found nothing. Reference counting goes on. Where
    two threads compile at once, the collector goes on when the first is done.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
