"""Devices of host memory for tests of the layers above a device."""

from __future__ import annotations

import pytest

from amdjit.runtime.device import Device
from tests.runtime.host_memory_device import HostMemoryDevice


@pytest.fixture
def device() -> HostMemoryDevice:
    made = HostMemoryDevice()
    checked: Device = made  # mypy proves that the Protocol is satisfied
    assert checked is made
    return made


@pytest.fixture
def other_device() -> HostMemoryDevice:
    return HostMemoryDevice("emulator:other")
