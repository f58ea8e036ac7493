"""What the tests of kernels share: the modules of this folder, and the emulator as the device."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import amdjit

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def emulator() -> Iterator[None]:
    with amdjit.use("emulator:gfx1201"):
        yield
