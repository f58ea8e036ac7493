"""Launches on two GPUs of one processor, which the stand-in emulates; test_hip.py runs them in a
process of their own."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import code_objects
import numpy as np
import pytest
import standin

import amdjit
from amdjit.emulator.device import EmulatorDevice
from amdjit.runtime.device import Device
from amdjit.runtime.hip import launches
from amdjit.runtime.hip.calls import hip_library
from amdjit.runtime.hip_errors import HipError
from amdjit.target import find_target

TARGET = find_target("gfx1201")
assert TARGET is not None
GPU = standin.EmulatedGpu(EmulatorDevice(TARGET))
GPU.install()


@amdjit.kernel
def add(a, x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + out[i]


@pytest.fixture(params=["direct", "checked"], autouse=True)
def call(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Launch through pointers to hip-python's C functions, and where it does not offer them."""
    if request.param == "checked":
        monkeypatch.setattr(launches, "direct", lambda name: None)
    return str(request.param)


@pytest.fixture(params=["hip:0", "hip:1"])
def device(request: Any) -> Iterator[Device]:
    standin.set_failures()
    with amdjit.use(request.param) as chosen:
        yield chosen
    standin.set_failures()
    assert hip_library().hipGetDevice()[1] == 0  # other libraries' current device is as it was


def arrays() -> tuple[amdjit.DeviceArray, amdjit.DeviceArray]:
    return amdjit.to_device(np.arange(100, dtype=np.float32)), amdjit.zeros(100)


def test_quick_and_bound_launches_do_the_work(device: Device) -> None:
    x, out = arrays()
    stream = amdjit.Stream()
    bound = add[4, 32, stream].bind(1.0, x, out)
    for _ in range(3):
        add[4, 32, stream](1.0, x, out)
        add.forall(100, stream)(1.0, x, out)
        bound()
    with stream:
        add[4, 32](1.0, x, out)
        add[4, 32](1.0, x, out)
    np.testing.assert_array_equal(out.copy_to_host(stream=stream), 11 * np.arange(100))


def test_launches_wait_for_nothing(device: Device) -> None:
    x, out = arrays()
    for _ in range(2):
        add[4, 32](1.0, x, out)
    device.synchronize()
    waits = standin.library().standin_waits()
    bound = add[4, 32].bind(1.0, x, out)
    for _ in range(5):
        add[4, 32](1.0, x, out)
        bound()
    assert standin.library().standin_waits() == waits
    np.testing.assert_array_equal(out.copy_to_host(), 12 * np.arange(100))


def test_failures_of_quick_launches_are_those_of_slow_ones(device: Device) -> None:
    x, out = arrays()
    for _ in range(2):
        add[4, 32](1.0, x, out)
    bound = add[4, 32].bind(1.0, x, out)
    standin.set_failures(hipModuleLaunchKernel=719)
    launches = [lambda: add[4, 32](a=1.0, x=x, out=out), lambda: add[4, 32](1.0, x, out), bound]
    messages = []
    for launch in launches:
        with pytest.raises(HipError) as info:
            launch()
        messages.append(str(info.value))
    assert "launch add: hipErrorLaunchFailure (719)" in messages[0]
    assert "It was launched with grid (4, 1, 1), block (32, 1, 1)" in messages[0]
    assert messages == [messages[0]] * 3


def test_profiles_are_refused_by_quick_launches(device: Device) -> None:
    x, out = arrays()
    for _ in range(2):
        add[4, 32](1.0, x, out)
    bound = add[4, 32].bind(1.0, x, out)
    for launch in (bound, lambda: add[4, 32](1.0, x, out)):
        with amdjit.profile(), pytest.raises(amdjit.LaunchError, match="cannot count"):
            launch()


def test_threads_launch_on_their_own_gpus(device: Device) -> None:
    totals = []

    def work(name: str) -> None:
        with amdjit.use(name):
            x, out = arrays()
            bound = add[4, 32].bind(1.0, x, out)
            for _ in range(20):
                add[4, 32](1.0, x, out)
                bound()
            totals.append(out.copy_to_host())

    threads = [threading.Thread(target=work, args=(f"hip:{i % 2}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(totals) == 4
    for total in totals:
        np.testing.assert_array_equal(total, 40 * np.arange(100))


def test_two_gpus_of_one_processor_share_a_compilation() -> None:
    @amdjit.kernel
    def store(out):
        out[amdjit.threadIdx.x] = 7.0

    for name in ("hip:0", "hip:1"):
        with amdjit.use(name):
            out = amdjit.zeros(32)
            store[1, 32](out)
            assert out.copy_to_host().tolist() == [7.0] * 32
    assert len(store.specialisations) == 1


def test_loaded_modules_launch(device: Device) -> None:
    kernel = amdjit.load(code_objects.doubling_kernel()).kernels["double_value"]
    out, stream = amdjit.zeros(64), amdjit.Stream()
    kernel[2, 32](out, 30, 1.5)
    kernel[1, 32, stream](out, 10, np.float32(2.5))
    assert out.copy_to_host(stream=stream)[[0, 20, 40]].tolist() == [5.0, 3.0, 0.0]
    with pytest.raises(amdjit.LaunchError, match="takes 3 arguments"):
        kernel[2, 32](out, 30)


def test_launches_that_may_print_wait_for_nothing(
    device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    @amdjit.kernel
    def maybe(n):
        if n > 3:
            print("n is", n)

    for n in range(4):
        maybe[1, 1](n)
    device.synchronize()
    gc.collect()  # of earlier tests: later it would free memory below
    waits, memory = standin.library().standin_waits(), standin.library().standin_used_memory()
    for n in (2, 5, 1, 4):
        maybe[1, 1](n)
    assert standin.library().standin_waits() == waits
    device.synchronize()
    assert capsys.readouterr().out == "n is 5\nn is 4\n"
    assert standin.library().standin_used_memory() == memory
