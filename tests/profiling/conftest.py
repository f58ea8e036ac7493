"""These tests launch on the emulator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import amdjit


@pytest.fixture(autouse=True)
def emulator() -> Iterator[None]:
    """Launch on the emulator."""
    with amdjit.use("emulator:gfx1201"):
        yield
