"""Streams and events over a device's handles."""

from __future__ import annotations

import math

import pytest

from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime.streams import Event, Stream, handle_of
from tests.runtime.host_memory_device import HostMemoryDevice


def test_events_time_a_stream(device: HostMemoryDevice) -> None:
    stream = Stream(device)
    start = stream.record()
    end = Event(device)
    assert stream.record(end) is end
    end.synchronize()
    stream.synchronize()
    assert math.isclose(start.elapsed_milliseconds(end), 1.5)
    assert device.synchronizations == 1


def test_a_stream_has_a_handle_on_its_own_device_only(
    device: HostMemoryDevice, other_device: HostMemoryDevice
) -> None:
    stream = Stream(device)
    assert handle_of(stream, device) == stream.handle
    assert handle_of(None, device) is None
    assert handle_of(0, device) is None  # type: ignore[arg-type]
    with pytest.raises(LaunchError, match="a str"):
        handle_of("default", device)  # type: ignore[arg-type]
    with pytest.raises(LaunchError, match=r'with amdjit\.use\("emulator:other"\)'):
        handle_of(stream, other_device)
