"""Copies between two GPUs, which the stand-in emulates; test_hip.py runs them in a process of
their own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import standin

import amdjit
from amdjit.emulator.device import EmulatorDevice
from amdjit.runtime.hip.calls import hip_library
from amdjit.target import find_target

TARGET = find_target("gfx1201")
assert TARGET is not None
GPU = standin.EmulatedGpu(EmulatorDevice(TARGET))
GPU.install()
HERE, THERE = "hip:0", "hip:1"


@pytest.fixture(autouse=True)
def devices() -> Iterator[None]:
    standin.set_failures()
    with amdjit.use(HERE):
        yield
    assert hip_library().hipGetDevice()[1] == 0  # other libraries' current device is as it was


@amdjit.kernel
def double(x):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] *= 2


NUMBERS = np.arange(100, dtype=np.float32)


def test_an_array_of_another_gpu_is_copied_by_hip() -> None:
    x = amdjit.to_device(NUMBERS, device=THERE)
    launches = standin.library().standin_waits()
    y = amdjit.to_device(x)
    assert y.device.name == HERE
    assert standin.library().standin_waits() == launches  # nobody waited, nothing came to the host
    assert np.array_equal(y, NUMBERS)
    assert standin.library().standin_device_of(y.address) == 0


@pytest.mark.parametrize("is_theirs_first", [False, True])
def test_a_copy_comes_after_earlier_work_of_both_gpus_and_before_later(
    is_theirs_first: bool,
) -> None:
    ours = amdjit.Stream(non_blocking=True)
    with amdjit.use(THERE):
        theirs = amdjit.Stream(non_blocking=True)
        x = amdjit.to_device(NUMBERS)
    with ours:
        y = amdjit.zeros(100)
    amdjit.synchronize()
    with theirs:
        double[1, 128](x)
        with ours:
            double[1, 128](y)
        # The current stream of the other GPU is `theirs`.
        y.assign(x, stream=ours)
        double[1, 128](x)
    with ours:
        double[1, 128](y)
    # The stand-in does the work of a stream when somebody waits for it.
    for stream in (theirs, ours) if is_theirs_first else (ours, theirs):
        stream.synchronize()
    assert np.array_equal(y, 4 * NUMBERS)
    assert np.array_equal(x, 4 * NUMBERS)


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[::-1], np.s_[10:20]])
def test_views_and_types_come_over(part: slice) -> None:
    x = amdjit.to_device(NUMBERS, device=THERE)
    y = amdjit.zeros(NUMBERS[part].shape, np.float64)
    y[...] = x[part]
    assert np.array_equal(y, NUMBERS[part])
    target = amdjit.zeros(100)
    target[part] = x[part]
    expected = np.zeros(100, np.float32)
    expected[part] = NUMBERS[part]
    assert np.array_equal(target, expected)


def test_a_copy_between_devices_is_refused_in_a_capture() -> None:
    x = amdjit.to_device(NUMBERS, device=THERE)
    y = amdjit.zeros(100)
    stream = amdjit.Stream()
    with pytest.raises(amdjit.LaunchError, match="a graph is of one device"), stream.capture():
        y.assign(x, stream=stream)
    assert np.array_equal(y, np.zeros(100))
