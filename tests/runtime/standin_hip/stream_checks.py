"""Checks of streams and events, on the emulator and on HIP with the least favourable legal order.

test_streams_on_hip.py runs them in a process of their own.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import standin
from emulated_gpu import GPU

import amdjit
from amdjit.runtime.device import Device
from amdjit.runtime.hip_errors import HipError

assert GPU.device.name == "emulator:gfx1201"


@pytest.fixture(params=["hip:0", "emulator:gfx1201"])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with amdjit.use(request.param) as chosen:
        yield chosen
    chosen.synchronize()


@pytest.fixture
def gpu() -> Iterator[Device]:
    with amdjit.use("hip:0") as chosen:
        yield chosen
    chosen.synchronize()


@amdjit.kernel
def append(x, value):
    # What came first stands in front: 12 is 1, then 2.
    i = amdjit.threadIdx.x
    x[i] = x[i] * 10 + value


def numbers() -> amdjit.DeviceArray:
    return amdjit.to_device(np.zeros(4, np.int64))


def held(x: amdjit.DeviceArray, stream: amdjit.Stream) -> int:
    host = x.copy_to_host(stream=stream)
    assert (host == host[0]).all()
    return int(host[0])


def test_work_without_a_stream_goes_to_the_current_stream(device: Device) -> None:
    outer, inner, x = amdjit.Stream(), amdjit.Stream(), numbers()
    assert amdjit.current_stream().handle is None
    with outer:
        assert amdjit.current_stream() is outer
        assert amdjit.current_device() is device
        append[1, 4](x, 1)
        with inner:
            assert amdjit.current_stream() is inner
            inner.wait(outer)
            append[1, 4](x, 2)
        assert amdjit.current_stream() is outer
        outer.wait(inner)
        append[1, 4](x, 3)
        assert x.copy_to_host().tolist() == [123] * 4
    assert amdjit.current_stream().handle is None


def test_a_stream_may_be_current_in_several_threads_and_twice(device: Device) -> None:
    stream, seen = amdjit.Stream(), []

    def work() -> None:
        seen.append(amdjit.current_stream().handle)
        with stream, stream:
            seen.append(amdjit.current_stream())
        seen.append(amdjit.current_stream().handle)

    with stream:
        with amdjit.use(device):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            assert amdjit.current_stream().handle is None  # `use` is for the whole device
        assert amdjit.current_stream() is stream
    assert seen == [None, stream, None]


def test_another_device_has_its_own_default_stream(device: Device) -> None:
    other = "hip:0" if device.name != "hip:0" else "emulator:gfx1201"
    with amdjit.use(other):
        elsewhere = numbers()
    with amdjit.Stream():
        elsewhere.copy_to_host()  # goes to the default stream of its device
        with pytest.raises(amdjit.LaunchError, match=f"elsewhere is on|x is on {other}"):
            append[1, 4](elsewhere, 1)


def test_streams_wait_for_events_and_for_streams(device: Device) -> None:
    first, second, third = (amdjit.Stream() for _ in range(3))
    for _ in range(3):
        x = numbers()
        append[1, 4, third](x, 1)
        second.wait(third.record())
        append[1, 4, second](x, 2)
        first.wait(second)
        append[1, 4, first](x, 3)
        assert held(x, first) == 123


def test_a_wait_is_for_the_work_that_the_event_had(device: Device) -> None:
    first, second, x = amdjit.Stream(), amdjit.Stream(), numbers()
    event = amdjit.Event(timing=False)
    second.wait(event)  # never recorded: nothing to wait for
    append[1, 4, first](x, 1)
    first.record(event)
    second.wait(event)
    append[1, 4, first](numbers(), 9)
    event.record(first)  # a later record moves no earlier wait
    append[1, 4, second](x, 2)
    assert held(x, second) == 12


def test_a_missing_wait_shows_on_the_stand_in(gpu: Device) -> None:
    first, second, x = amdjit.Stream(), amdjit.Stream(), numbers()
    append[1, 4, first](x, 1)
    append[1, 4, second](x, 2)
    gpu.synchronize()
    assert x.copy_to_host()[0] == 21


def test_the_default_stream_waits_for_blocking_streams_only(gpu: Device) -> None:
    blocking, free = amdjit.Stream(), amdjit.Stream(non_blocking=True)
    x, y = numbers(), numbers()
    append[1, 4, blocking](x, 1)
    append[1, 4, free](y, 1)
    append[1, 4](x, 2)
    append[1, 4](y, 2)
    append[1, 4, blocking](x, 3)
    gpu.synchronize()
    assert x.copy_to_host()[0] == 123
    assert y.copy_to_host()[0] in (12, 21)
    append[1, 4, free](y, 4)
    assert y.copy_to_host()[0] in (12, 21)  # the copy is in the default stream
    free.synchronize()
    assert y.copy_to_host()[0] in (124, 214)


def test_queries_become_true_without_waits(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    assert stream.query()
    assert amdjit.Event().query()
    for value in (1, 2):
        append[1, 4, stream](x, value)
    event = stream.record()
    assert event.query() == stream.query() == device.name.startswith("emulator")
    waits = standin.library().standin_waits()
    while not event.query():
        pass
    while not stream.query():
        pass
    assert standin.library().standin_waits() == waits
    assert held(x, stream) == 12


def test_priorities(device: Device) -> None:
    assert device.stream_priorities == (1, -1)
    assert [amdjit.Stream(priority).priority for priority in (1, 0, -1)] == [1, 0, -1]
    assert amdjit.current_stream().priority == 0
    for wrong in (2, -2, 0.5, None, True):
        with pytest.raises(amdjit.LaunchError, match=r"priorities from -1 \(the greatest\) to 1"):
            amdjit.Stream(priority=wrong)  # type: ignore[arg-type]


def test_external_streams_of_hip(gpu: Device) -> None:
    made = amdjit.Stream(priority=-1)
    number = int(made.handle.native)
    for handle in (number, ctypes.c_void_p(number), np.int64(number)):
        stream, x = amdjit.Stream.external(handle), numbers()
        assert stream.priority == -1
        append[1, 4, made](x, 1)
        append[1, 4, stream](x, 2)
        assert held(x, stream) == 12
        assert stream.handle is amdjit.Stream.external(handle).handle
        del stream
    append[1, 4, made](x, 3)  # it was not destroyed
    assert held(x, made) == 123


def test_external_streams_that_every_device_has(device: Device) -> None:
    x = numbers()
    for handle in (0, 1, None):
        pointer = ctypes.c_void_p(handle) if handle is None else handle
        assert amdjit.Stream.external(pointer).handle is None
    own = amdjit.Stream.external(2)
    append[1, 4, own](x, 1)
    assert held(x, own) == 1
    for wrong in (-1, "stream", 1.0, None):
        with pytest.raises(amdjit.LaunchError, match="hipStream_t"):
            amdjit.Stream.external(wrong)
    if device.name.startswith("emulator"):
        with pytest.raises(amdjit.LaunchError, match="has no HIP stream 0x1234"):
            amdjit.Stream.external(0x1234)


def test_timing_and_what_cannot_be_timed(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    start, end, plain = stream.record(), amdjit.Event(), amdjit.Event(timing=False)
    append[1, 4, stream](x, 1)
    with pytest.raises(amdjit.LaunchError, match="`end` was never recorded"):
        start.elapsed_milliseconds(end)
    stream.record(end)
    stream.record(plain)
    if device.name == "hip:0":
        with pytest.raises(HipError, match=r"hipErrorNotReady.*synchronize\(\)"):
            start.elapsed_milliseconds(end)
    plain.synchronize()
    assert 0 <= start.elapsed_milliseconds(end) < 10_000
    with pytest.raises(amdjit.LaunchError, match="`end` was made with timing=False"):
        start.elapsed_milliseconds(plain)
    with pytest.raises(amdjit.LaunchError, match="the first event was made with timing=False"):
        plain.elapsed_milliseconds(end)
    with pytest.raises(amdjit.LaunchError, match=r"an amdjit\.Event\(\), not at 3"):
        start.elapsed_milliseconds(3)  # type: ignore[arg-type]
    with amdjit.use("emulator:gfx1201" if device.name == "hip:0" else "hip:0"):
        elsewhere = amdjit.current_stream().record()
    with pytest.raises(amdjit.LaunchError, match="whose clocks differ"):
        start.elapsed_milliseconds(elsewhere)
    stream.wait(elsewhere)
    with pytest.raises(amdjit.LaunchError, match="waits for an event or a stream, not for 'x'"):
        stream.wait("x")  # type: ignore[arg-type]


def test_functions_are_called_between_the_work_around_them(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    values = np.zeros(4, np.int64)
    seen: list[int] = []
    append[1, 4, stream](x, 1)
    stream.call(lambda: seen.append(1))
    append[1, 4, stream](x, 2)
    stream.call(lambda: seen.append(2))
    if device.name == "hip:0":
        assert seen == []
    stream.synchronize()
    assert seen == [1, 2]
    x.copy_to_host(values)
    assert values[0] == 12
    with pytest.raises(amdjit.LaunchError, match="without arguments, not 5"):
        stream.call(5)  # type: ignore[arg-type]


class OwnError(Exception):
    pass


def failing() -> None:
    raise OwnError("it failed")


WAYS: dict[str, Callable[[amdjit.Stream, amdjit.Event, amdjit.DeviceArray], object]] = {
    "stream": lambda stream, event, x: stream.synchronize(),
    "event": lambda stream, event, x: event.synchronize(),
    "device": lambda stream, event, x: amdjit.synchronize(),
    "copy": lambda stream, event, x: x.copy_to_host(stream=stream),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_function_raises_is_raised_by_the_next_wait(device: Device, way: str) -> None:
    stream, other, x = amdjit.Stream(), amdjit.Stream(), numbers()
    stream.call(failing)
    event = stream.record()
    other.synchronize()  # waits for something else
    with pytest.raises(OwnError, match="it failed"):
        WAYS[way](stream, event, x)
    for wait in WAYS.values():
        wait(stream, event, x)


def test_functions_that_a_stream_calls_may_not_use_devices(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    uses = [
        lambda: append[1, 4](x, 1),
        lambda: append[1, 4, stream](x, 1),
        lambda: x.copy_to_host(),
        lambda: x.copy_to_host(stream=stream),
        lambda: stream.synchronize(),
        lambda: amdjit.current_device(),
        lambda: amdjit.current_stream(),
        lambda: stream.query(),
    ]
    for use in uses:
        stream.call(use)
        with pytest.raises(amdjit.LaunchError, match="may not use a device"):
            stream.synchronize()
    stream.synchronize()
    assert held(x, stream) == 0


def test_a_callback_holds_up_other_threads_no_longer_than_the_device(device: Device) -> None:
    # HIP's thread needs Python's lock for the function while another thread waits in HIP.
    stream, done = amdjit.Stream(), threading.Event()
    stream.call(done.set)
    thread = threading.Thread(target=stream.synchronize)
    thread.start()
    assert done.wait(20)
    thread.join(20)
    assert not thread.is_alive()


def test_the_handle_of_no_stream_is_refused_by_hip(gpu: Device) -> None:
    # Bytes of LDS where the stream belongs.
    for use in (
        lambda: append[1, 4, 256](numbers(), 1),
        lambda: numbers().copy_to_host(stream=256),
        lambda: amdjit.Stream.external(256).synchronize(),
        lambda: amdjit.Stream.external(256).record(),
        lambda: amdjit.Stream().wait(amdjit.Stream.external(256)),
    ):
        with pytest.raises(HipError, match=r"hipErrorInvalidHandle \(400\)"):
            use()
