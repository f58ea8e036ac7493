"""What the tests of kernels share: the emulator as the device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import amdjit


@pytest.fixture
def emulator() -> Iterator[None]:
    with amdjit.use("emulator:gfx1201"):
        yield
