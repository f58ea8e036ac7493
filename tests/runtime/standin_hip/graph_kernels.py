"""What checks of graphs share: both devices, and kernels whose order shows in their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from emulated_gpu import GPU

import amdjit
from amdjit.runtime.device import Device

assert GPU.device.name == "emulator:gfx1201"


@pytest.fixture(params=["hip:0", "emulator:gfx1201"])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with amdjit.use(request.param) as chosen:
        yield chosen
    chosen.synchronize()


@amdjit.kernel
def append(x, value):
    # What came first stands in front: 12 is 1, then 2.
    i = amdjit.threadIdx.x
    x[i] = x[i] * 10 + value


@amdjit.kernel
def add(x, y, out):
    i = amdjit.threadIdx.x
    out[i] = x[i] + y[i]


def numbers(*values: int) -> amdjit.DeviceArray:
    return amdjit.to_device(np.array(values or (0, 0, 0, 0), np.int64))


def captured(stream: amdjit.Stream, work: Callable[[Any], object]) -> Any:
    """Return the graph of what `work` does, which is given the graph."""
    with stream.capture() as graph:
        work(graph)
    return graph
