"""Where random programs run: on the emulator of the processor that the tests ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

import pytest

import amdjit
from amdjit.runtime.device import Device

_PROCESSOR: ContextVar[str] = ContextVar("processor", default="gfx1201")
# Tests for processors of other families: RDNA 3 and CDNA 3; the latter not in every run.
OLDER = pytest.mark.parametrize("cpu", ["gfx1100", "gfx942"])
SOME_OLDER = pytest.mark.parametrize(
    "cpu", ["gfx1100", pytest.param("gfx942", marks=pytest.mark.exhaustive)]
)


@contextmanager
def processor(name: str) -> Iterator[None]:
    """Run the programs of a block on that processor."""
    token = _PROCESSOR.set(name)
    try:
        yield
    finally:
        _PROCESSOR.reset(token)


def has_wide_waves() -> bool:
    """Return whether the processor has waves of 64 lanes only."""
    return _PROCESSOR.get().startswith("gfx9")


def emulator() -> AbstractContextManager[Device]:
    """Make the processor's emulator the current device."""
    return amdjit.use(f"emulator:{_PROCESSOR.get()}")
