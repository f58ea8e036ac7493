"""`kernel[grid, block].bind(...)`: the same launch again, on the emulator."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import amdjit

STEP = 1


@amdjit.kernel
def add(a, x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + out[i] * STEP


@pytest.fixture
def arrays() -> tuple[amdjit.DeviceArray, amdjit.DeviceArray]:
    return amdjit.to_device(np.arange(100, dtype=np.float32)), amdjit.zeros(100)


@pytest.fixture(autouse=True)
def one_step() -> Any:
    yield
    globals()["STEP"] = 1


def test_each_call_launches_with_what_the_arrays_hold_then(arrays: Any) -> None:
    x, out = arrays
    launch = add[4, 32].bind(2.0, x, out)
    for _ in range(3):
        launch()
    np.testing.assert_array_equal(out.copy_to_host(), 6 * np.arange(100))
    x.copy_from_host(np.full(100, 10, np.float32))
    launch()
    np.testing.assert_array_equal(out.copy_to_host(), 6 * np.arange(100) + 20)
    assert launch.device is x.device
    assert "add(float, f32[::1], f32[::1])" in repr(launch)


def test_forall_and_streams_bind_too(arrays: Any) -> None:
    x, out = arrays
    stream = amdjit.Stream()
    add.forall(100).bind(1.0, x, out)()
    launch = add[4, 32, stream].bind(a=1.0, x=x, out=out)
    launch()
    launch(stream=amdjit.Stream())
    np.testing.assert_array_equal(out.copy_to_host(), 3 * np.arange(100))
    with amdjit.use("emulator:gfx1200"), pytest.raises(amdjit.LaunchError, match="belongs to"):
        launch(stream=amdjit.Stream())


def test_the_device_is_that_of_the_binding(arrays: Any) -> None:
    x, out = arrays
    launch = add[4, 32].bind(1.0, x, out)
    with amdjit.use("emulator:gfx1200"):
        launch()
        with amdjit.sanitize("memory") as found:
            launch()
    assert found.reports == []
    np.testing.assert_array_equal(out.copy_to_host(), 2 * np.arange(100))


def test_changed_globals_are_noticed(arrays: Any) -> None:
    x, out = arrays
    launch = add[4, 32].bind(1.0, x, out)
    launch()
    globals()["STEP"] = 10
    launch()
    launch()
    np.testing.assert_array_equal(out.copy_to_host(), 111 * np.arange(100))


def test_freed_arrays_are_noticed(arrays: Any) -> None:
    x, out = arrays
    launch = add[4, 32].bind(1.0, x, out)
    launch()
    x._owner.free()
    with pytest.raises(amdjit.LaunchError, match="was freed"):
        launch()


def test_mistakes_are_found_when_binding(arrays: Any) -> None:
    x, out = arrays
    with pytest.raises(amdjit.LaunchError, match="the block is 0"):
        add[1, 0].bind(1.0, x, out)
    with pytest.raises(amdjit.LaunchError, match="takes 3 arguments"):
        add[1, 1].bind(1.0, x)
    with pytest.raises(amdjit.LaunchError, match=r"x is a NumPy array.*amdjit\.to_device\(x\)"):
        add[1, 1].bind(1.0, np.zeros(3, np.float32), out)


def test_checks_counts_and_faults_work_as_in_other_launches(arrays: Any) -> None:
    @amdjit.kernel
    def beyond(x):
        x[amdjit.threadIdx.x + 100] = 1.0

    x, out = arrays
    launch = add[4, 32].bind(1.0, x, out)
    with amdjit.profile() as profile:
        launch()
    assert len(profile.launches) == 1
    for fails in (beyond[1, 1].bind(x), lambda: beyond[1, 1](x)):
        for _ in range(2):
            with pytest.raises(amdjit.KernelFault) as info:
                fails()
            assert (info.value.kind, info.value.array) == ("out-of-bounds", "x")


def test_prints_of_bound_launches(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel
    def says(n):
        print("n is", n)

    launch = says[1, 1].bind(5)
    launch()
    launch()
    assert capsys.readouterr().out == "n is 5\nn is 5\n"


def test_threads_may_share_a_bound_launch() -> None:
    @amdjit.kernel
    def count(out):
        amdjit.atomic.add(out, 0, 1)

    out = amdjit.zeros(1, np.int32)
    launch = count[1, 32].bind(out)
    threads = [threading.Thread(target=lambda: [launch() for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert out.copy_to_host()[0] == 4 * 50 * 32


def test_captures_record_launches_that_would_be_quick(arrays: Any) -> None:
    x, out = arrays
    stream = amdjit.Stream()
    bound = add[4, 32, stream].bind(1.0, x, out)
    for _ in range(3):
        add[4, 32, stream](1.0, x, out)
        with stream:
            add[4, 32](1.0, x, out)
    with stream.capture() as graph:
        add[4, 32, stream](1.0, x, out)
        add[4, 32](1.0, x, out)
        bound()
    assert len(graph.nodes) == 3
    np.testing.assert_array_equal(out.copy_to_host(), 6 * np.arange(100))
    graph.instantiate().launch(stream)
    np.testing.assert_array_equal(out.copy_to_host(stream=stream), 9 * np.arange(100))


def test_functions_that_streams_call_may_not_launch(arrays: Any) -> None:
    x, out = arrays
    stream = amdjit.Stream()
    launcher, bound = add[4, 32, stream], add[4, 32].bind(1.0, x, out)
    for _ in range(3):
        launcher(1.0, x, out)
    for launch in (bound, lambda: launcher(1.0, x, out)):
        stream.call(launch)
        with pytest.raises(amdjit.LaunchError, match="may not use a device"):
            stream.synchronize()
