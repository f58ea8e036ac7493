"""Let these tests import their own modules; launch on the emulator."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import amdjit

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def emulator() -> Iterator[None]:
    """Launch on the emulator."""
    with amdjit.use("emulator:gfx1201"):
        yield
