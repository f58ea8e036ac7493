"""The time of launches, and of copies between host and device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

import amdjit
from amdjit.probe.case import Measurement
from amdjit.probe.timing.experiment import Effort, median_of, seconds_of
from amdjit.runtime.device import Device

__all__ = ["launch_measurements"]

_BACK_TO_BACK = 200
_COPIES = (4 << 10, 1 << 20, 64 << 20)


@amdjit.kernel
def nothing(x):  # type: ignore[no-untyped-def]
    pass


@dataclass(frozen=True)
class _Way:
    """A way to launch an empty kernel several times."""

    name: str
    launch: Callable[[], object]
    """Launches it `launches` times."""
    launches: int


def launch_measurements(device: Device, effort: Effort) -> Iterator[Measurement]:
    """Yield the nanoseconds of an empty kernel, on the device and in the host's program, and the
    speed of copies."""
    for way in _ways():
        way.launch()
        device.synchronize()
        on_device, on_host = [], []
        for _ in range(effort.samples):
            on_device.append(seconds_of(way.launch, device) / way.launches * 1e9)
            on_host.append(_host_seconds(way.launch, device) / way.launches * 1e9)
        yield median_of(f"empty kernel, {way.name}, on the device", "ns", on_device)
        yield median_of(f"empty kernel, {way.name}, until it is done", "ns", on_host)
    for nbytes in _COPIES:
        yield from _copies(nbytes, device, effort)


def _ways() -> Iterator[_Way]:
    x = amdjit.zeros(1, np.float32)
    bound = nothing[1, 32].bind(x)
    yield _Way("called", _repeated(lambda: nothing[1, 32](x)), _BACK_TO_BACK)
    yield _Way("bound", _repeated(bound), _BACK_TO_BACK)
    stream = amdjit.Stream()
    captured = nothing[1, 32, stream]
    with stream.capture() as graph:
        _repeated(lambda: captured(x))()
    executable = graph.instantiate()
    yield _Way("in a graph", executable.launch, _BACK_TO_BACK)
    yield _Way("alone", bound, 1)


def _repeated(launch: Callable[[], object]) -> Callable[[], object]:
    return lambda: [launch() for _ in range(_BACK_TO_BACK)]


def _host_seconds(launch: Callable[[], object], device: Device) -> float:
    """Return the seconds until the launches are done, as the host's program sees it."""
    start = perf_counter()
    launch()
    device.synchronize()
    return perf_counter() - start


def _copies(nbytes: int, device: Device, effort: Effort) -> Iterator[Measurement]:
    host, array = amdjit.pinned_empty(nbytes, np.uint8), amdjit.zeros(nbytes, np.uint8)
    host[:] = 1
    for what, copy in (
        ("to the device", lambda: array.copy_from_host(host)),
        ("to the host", lambda: array.copy_to_host(host)),
    ):
        copy()
        rates = []
        for _ in range(effort.samples):
            start = perf_counter()
            copy()
            device.synchronize()
            rates.append(nbytes / (perf_counter() - start) / 1e9)
        yield median_of(f"copy of {nbytes >> 10} KiB {what}, pinned", "GB/s", rates)
