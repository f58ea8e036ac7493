"""Checks with two GPUs, one of a processor that amdjit does not know when STANDIN_HIP_ARCH says
so."""

from __future__ import annotations

import os
import struct
from functools import partial

import code_objects
import numpy as np
import pytest
import standin

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.errors import BackendError
from amdjit.runtime import arrays, hip
from amdjit.runtime.hip.calls import hip_library
from amdjit.runtime.streams import Stream

UNKNOWN = os.environ.get("STANDIN_HIP_ARCH", "gfx1201") == "gfx902:xnack-"


@pytest.mark.skipif(UNKNOWN, reason="needs GPUs that amdjit knows")
def test_each_device_gets_its_own_work() -> None:
    (first, second), reason = hip.discover()
    assert (first.name, second.name, reason) == ("hip:0", "hip:1", "")
    kernels = [
        device.load(code_objects.doubling_kernel()).function("double_value")
        for device in (first, second)
    ]
    outs = [arrays.zeros(device, 64, np.uint8) for device in (first, second)]
    streams = [device.create_stream() for device in (first, second)]
    for device, kernel, out, stream in [
        *zip((first, second), kernels, outs, streams, strict=True)
    ] * 2:
        kernarg = bytearray(struct.pack("<Q", out.address))
        device.launch(
            kernel, LaunchShape((1, 1, 1), (1, 1, 1)), kernarg, stream
        )  # the stand-in refuses another device's
        device.synchronize_stream(stream)
        assert standin.library().standin_device_of(out.address) == device.index
        assert hip_library().hipGetDevice()[1] == 0  # other libraries' current device is as it was


@pytest.mark.skipif(UNKNOWN, reason="needs GPUs that amdjit knows")
def test_streams_wait_for_events_of_another_gpu() -> None:
    devices, _ = hip.discover()
    first, second = (Stream(device) for device in devices)
    for how in ("event", "stream"):
        seen: list[str] = []
        first.call(partial(seen.append, "first"))
        second.wait(first.record() if how == "event" else first)
        second.call(partial(seen.append, "second"))
        assert hip_library().hipGetDevice()[1] == 0
        second.synchronize()
        assert seen == ["first", "second"]
    first.call(partial(seen.append, "late"))
    second.synchronize()
    assert seen[-1] == "second"  # without a wait the stand-in leaves other streams alone
    first.synchronize()


@pytest.mark.skipif(not UNKNOWN, reason="needs GPUs that amdjit does not know")
def test_unknown_processors_are_left_out_and_named() -> None:
    devices, reason = hip.discover()
    assert devices == []
    assert (
        "hip:0 is a gfx902:xnack-, for which amdjit does not compile; it has gfx906, "
        "gfx908, gfx90a" in reason
    )
    assert "hip:1 is a gfx902" in reason
    with pytest.raises(BackendError):
        hip.HipDevice(1)
