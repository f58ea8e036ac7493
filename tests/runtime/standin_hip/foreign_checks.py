"""Checks with arrays and streams of other libraries on two GPUs of the stand-in, which does work in
the least favourable legal order: what is not put in order comes out wrong.

test_foreign_on_hip.py runs them in a process of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import dlpack_protocol
import numpy as np
import pytest
import standin
from dlpack_protocol import Consumer
from emulated_gpu import GPU
from foreign_libraries import (
    STREAMS,
    Library,
    Protocol,
    Tensor,
    WithDlpack,
    WithInterface,
    append,
    numbers,
)

import amdjit
from amdjit.diagnostics import LaunchError

assert GPU.device.name == "emulator:gfx1201"


@amdjit.kernel
def copy(source, x):
    i = amdjit.threadIdx.x
    x[i] = source[i]


def held(x: amdjit.DeviceArray) -> int:
    x.device.synchronize()
    host = x.copy_to_host()
    assert (host == host[0]).all()
    return int(host[0])


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    stub = ModuleType("torch")
    Tensor.current = {0: 0, 1: 0}
    vars(stub).update(
        Tensor=Tensor,
        strided="strided",
        int64="int64",
        is_grad_enabled=lambda: True,
        version=SimpleNamespace(hip="7.2"),
        _C=SimpleNamespace(_cuda_getCurrentRawStream=lambda index: Tensor.current[index]),
    )
    monkeypatch.setitem(sys.modules, "torch", stub)
    yield stub
    for device in amdjit.devices():
        device.synchronize()


LIBRARIES = [WithDlpack, WithInterface, Tensor]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("device", ["hip:0", "hip:1"])
def test_a_launch_uses_the_memory_after_the_work_of_its_library(
    library: Callable[[str], Any], device: str
) -> None:
    array = library(device)
    array.work(1)
    append[1, 4](array, 2)
    assert amdjit.current_device().name == "hip:0"
    array.device.synchronize()
    assert held(array.memory) == 12


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_launch_in_a_stream_comes_after_the_work_of_the_library(
    library: Callable[[], Any],
) -> None:
    array, stream = library(), amdjit.Stream(non_blocking=True)
    array.work(1)
    append[1, 4, stream](array, 2)
    stream.synchronize()
    assert held(array.memory) == 12


@pytest.mark.parametrize("library", [WithInterface, Tensor])
@pytest.mark.parametrize("current", [False, True])
def test_later_work_of_the_library_comes_after_the_launch(
    library: Callable[[], Any], current: bool
) -> None:
    array = library()
    array.work(1)
    if current:
        with amdjit.Stream(non_blocking=True):
            append[1, 4](array, 2)
    else:
        append[1, 4](array, 2)
    array.work(3)
    array.stream.synchronize()
    assert held(array.memory) == 123


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("stream", [None, "own"])
@pytest.mark.parametrize("bound", [False, True])
def test_an_array_from_outside_a_kernel_is_used_after_the_work_of_its_library(
    library: Callable[[], Any], stream: Any, bound: bool
) -> None:
    array, stream = library(), stream and amdjit.Stream(non_blocking=True)

    @amdjit.kernel
    def append_outside(value):
        i = amdjit.threadIdx.x
        array[i] = array[i] * 10 + value

    configured = append_outside[(1, 4) if stream is None else (1, 4, stream)]
    launch = configured.bind(2) if bound else lambda: configured(2)
    for _ in range(2):
        array.work(1)
        launch()
        array.device.synchronize()
    assert held(array.memory) == 1212


@pytest.mark.parametrize("library", [WithInterface, Tensor])
def test_later_work_of_the_library_comes_after_a_launch_with_its_array_from_outside(
    library: Callable[[], Any],
) -> None:
    array = library()

    @amdjit.kernel
    def append_outside(value):
        i = amdjit.threadIdx.x
        array[i] = array[i] * 10 + value

    array.work(1)
    append_outside[1, 4](2)
    array.work(3)
    array.stream.synchronize()
    assert held(array.memory) == 123


def assigned(array: Any, stream: Any) -> amdjit.DeviceArray:
    x = numbers()
    x.assign(array, stream)
    return x


WHOLE_ARRAYS = {
    "vectorize": amdjit.vectorize(lambda x: x),
    "reduce": lambda array, stream: amdjit.reduce(max, array, keepdims=True, stream=stream),
    "scan": lambda array, stream: amdjit.inclusive_scan(max, array, stream=stream),
    "sort": lambda array, stream: amdjit.sort(array, stream=stream),
    "compact": lambda array, stream: amdjit.compact(array, lambda x: x >= 0, stream=stream),
    "assign": assigned,
    "to_device": amdjit.to_device,
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("work", WHOLE_ARRAYS)
@pytest.mark.parametrize("streams", ["default", "current", "given", "given, blocking"])
def test_whole_arrays_are_read_in_order_with_their_library(
    library: Callable[[], Any], work: str, streams: str
) -> None:
    # What is dropped waits for the whole device: keep it.
    array, stream = library(), amdjit.Stream(non_blocking="blocking" not in streams)
    array.work(1)
    if streams == "current":
        with stream:
            result = WHOLE_ARRAYS[work](array, stream=None)
    else:
        given = stream if "given" in streams else None
        result = WHOLE_ARRAYS[work](array, stream=given)
    if "given" in streams or library is WithDlpack:
        amdjit.synchronize()  # these tell their library nothing
        stream.synchronize()
    array.work(2)
    array.stream.synchronize()
    amdjit.synchronize()
    assert held(result) == 1


def test_whole_arrays_are_read_on_the_gpu_that_has_them() -> None:
    array = Tensor("hip:1")
    array.work(1)
    for made in (amdjit.sort(array), amdjit.vectorize(lambda x: x)(array)):
        assert made.device.name == "hip:1"
        assert held(made) == 1
    with amdjit.use("hip:0"), pytest.raises(BufferError, match=r"array is on .*\(10, 0"):
        amdjit.sort(array)
    with pytest.raises(TypeError, match="the source is on a GPU: write `array"):
        numbers().copy_from_host(array)
    far = WithInterface("hip:1")
    with pytest.raises(BufferError, match=r"the tensor is on DLPack device \(10, 1\)"):
        amdjit.from_dlpack(far)


@pytest.mark.parametrize("library", [WithInterface, Tensor])
def test_a_launch_on_the_stream_of_the_library_needs_no_events(
    library: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    array = library()
    standin.set_failures(hipEventCreateWithFlags=1)
    array.work(1)
    append[1, 4, array.handle](array, 2)
    array.work(3)
    standin.set_failures()
    assert held(array.memory) == 123


def test_a_tensor_taken_by_dlpack_is_deleted_once_when_the_launch_has_begun() -> None:
    array = WithDlpack()
    for count in (1, 2, 3):
        append[1, 4](array, count)
        assert (array.producer.deleted, array.producer.unused) == (count, 0)
    assert [call["stream"] for call in array.producer.calls] == [0, 0, 0]
    stream = amdjit.Stream()
    append[1, 4, stream](array, 4)
    handle = stream.device.stream_number(stream.handle)
    assert array.producer.calls[-1]["stream"] == handle > 2
    assert held(array.memory) == 1234


@pytest.mark.parametrize("versions", [True, False])
def test_producers_of_both_versions_are_read(versions: bool) -> None:
    array = WithDlpack(versions=versions)
    append[1, 4](array, 5)
    assert held(array.memory) == 5
    assert ("max_version" in array.producer.calls[-1]) == versions


def test_read_only_arrays_are_read_but_not_written() -> None:
    for array in (
        WithDlpack(flags=dlpack_protocol.READ_ONLY),
        WithInterface(data=None),
    ):
        if isinstance(array, WithInterface):
            array.changes = {"data": (array.memory.address, True)}
        array.work(7)
        x = numbers()
        copy[1, 4](array, x)
        assert held(x) == 7
        with pytest.raises(LaunchError, match="the kernel writes argument x, a read-only array"):
            append[1, 4](array, 1)
        assert held(array.memory) == 7
        taken = amdjit.from_dlpack(array)
        for value in (1, numbers(), np.zeros(4), np.zeros(4, np.int64)):
            with pytest.raises(ValueError, match="this array is read-only"):
                taken[...] = value
        with pytest.raises(ValueError, match="this array is read-only"):
            taken.fill(1)
        assert held(array.memory) == 7
        assert amdjit.zeros_like(array).dtype == np.int64


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mask": object()}, "argument x of append has a mask, which would be lost: fill it"),
        ({"stream": 0}, "names stream 0, which the CUDA array interface does not allow"),
        ({"typestr": "|V8"}, "has elements of |V8, a type that amdjit does not have"),
        ({"data": (64, False)}, "lies at 0x40, which is in no memory of a GPU that hip:0 knows"),
    ],
)
def test_interfaces_that_cannot_be_used_say_why(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(LaunchError) as refused:
        append[1, 4](WithInterface(**changes), 1)
    assert reason in str(refused.value)


def test_strides_and_old_interfaces_are_read() -> None:
    array = WithInterface(version=2, stream=0, shape=(2,), strides=(16,))
    append[1, 2](array, 1)
    assert array.memory.copy_to_host().tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_gpu_of_an_array_and_the_gpu_of_the_launch_are_one(
    library: Callable[[str], Any],
) -> None:
    first, second = library("hip:0"), library("hip:1")
    launches = standin.library().standin_launches()
    with pytest.raises(LaunchError, match=r'source of copy is on hip:0, x on hip:1.*"cuda:0"'):
        copy[1, 4](first, second)
    with amdjit.use("hip:0"), pytest.raises(LaunchError, match=r'x of append is on hip:1.*use\("'):
        append[1, 4](second, 1)
    with pytest.raises(LaunchError, match="is on hip:1, the launch on hip:0"):
        append[1, 4, amdjit.Stream()](second, 1)
    with amdjit.use("emulator:gfx1201"), pytest.raises(LaunchError, match="emulator:gfx1201"):
        append[1, 4](second, 1)
    with pytest.raises(LaunchError, match="argument x is on hip:0, the launch on hip:1"):
        copy[1, 4](second, numbers("hip:0"))
    assert standin.library().standin_launches() == launches
    copy[1, 4](second, numbers("hip:1"))
    with amdjit.use("hip:1"):
        append[1, 4](second, 1)
        assert held(second.memory) == 1


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_of_other_libraries_are_streams(kind: str) -> None:
    array = Library()
    theirs = STREAMS[kind](array.handle)
    array.work(1)
    append[1, 4, theirs](array.memory, 2)
    append.launch(grid=1, block=4, stream=theirs)(array.memory, 3)
    assert array.memory.copy_to_host(stream=theirs).tolist() == [123] * 4
    array.memory.copy_from_host(np.full(4, 7), stream=theirs)
    array.work(8)
    amdjit.Stream.external(theirs).synchronize()
    assert held(array.memory) == 78
    x = amdjit.to_device(np.full(4, 5), stream=theirs)
    assert held(x) == 5


def test_what_is_dropped_on_another_gpu_does_not_spoil_a_capture() -> None:
    x, other, stream = numbers(), numbers("hip:1"), amdjit.Stream()
    with stream.capture() as graph:
        append[1, 4](x, 1)
        del other
        append[1, 4](x, 2)
    graph.instantiate().launch(stream)
    assert x.copy_to_host(stream=stream).tolist() == [12] * 4


def test_a_stream_that_names_its_gpu_launches_there() -> None:
    array = Library("hip:1")
    theirs = SimpleNamespace(cuda_stream=array.handle, device_index=1)
    append[1, 4, theirs](array.memory, 2)
    assert held(array.memory) == 2
    with pytest.raises(LaunchError, match="belongs to hip:1, the work is for hip:0"):
        append[1, 4, array.handle](numbers(), 1)
    with pytest.raises(LaunchError, match="belongs to hip:1"):
        numbers().copy_to_host(stream=array.handle)


def test_what_is_no_stream_is_refused() -> None:
    for wrong in ("stream", 1.5, -3, True, object()):
        with pytest.raises(LaunchError, match=r"the stream is .* another library's stream"):
            append[1, 4, wrong](numbers(), 1)
    with pytest.raises(LaunchError, match="has version 3 of __cuda_stream__"):
        append[1, 4, Protocol(0, version=3)](numbers(), 1)


@pytest.mark.parametrize("own", ["default", "blocking", "current"])
def test_a_consumers_stream_waits_for_the_work_of_amdjit(own: str) -> None:
    x, consumer = numbers(), Library()
    if own == "current":
        with amdjit.Stream(non_blocking=True):
            append[1, 4](x, 1)
            capsule = x.__dlpack__(stream=consumer.handle)
    else:
        stream = amdjit.Stream() if own == "blocking" else None
        append[1, 4, stream](x, 1)
        capsule = x.__dlpack__(stream=consumer.handle)
    taken = Consumer(capsule)
    assert taken.seen.device == (10, 0)
    append[1, 4, consumer.stream](x, 2)
    consumer.stream.synchronize()
    taken.release()
    assert held(x) == 12


def test_a_consumer_may_leave_out_the_wait() -> None:
    x, consumer = numbers(), Library()
    append[1, 4](x, 1)
    Consumer(x.__dlpack__(stream=-1)).release()
    append[1, 4, consumer.stream](x, 2)
    consumer.stream.synchronize()
    assert held(x) == 21  # the stand-in's least favourable order


def test_the_interface_names_the_default_stream() -> None:
    x = numbers()
    interface = x.__cuda_array_interface__
    assert (interface["stream"], interface["version"]) == (1, 3)
    assert interface["data"] == (x.address, False)
    assert amdjit.empty((0, 4)).__cuda_array_interface__["data"] == (0, False)
    other = SimpleNamespace(__cuda_array_interface__=interface)
    append[1, 4](other, 3)
    assert held(x) == 3


def test_arrays_on_the_host_are_copied_in_and_written_back() -> None:
    host = np.zeros(4, np.int64)

    class OnHost:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 3, 0  # pinned memory, as PyTorch calls it

        def __dlpack__(self, **keywords: Any) -> object:
            return host.__dlpack__()

    array = OnHost()
    append[1, 4](array, 1)
    append[1, 4, amdjit.Stream()](array, 2)
    assert host.tolist() == [12] * 4


def test_from_dlpack_shares_the_memory_in_order_with_its_library() -> None:
    for library in LIBRARIES:
        array = library()  # type: ignore[abstract]
        array.work(1)
        taken = amdjit.from_dlpack(array)
        assert taken.address == array.memory.address
        append[1, 4](taken, 2)
        assert held(taken) == 12


@pytest.mark.parametrize("library", LIBRARIES)
def test_graphs_use_the_memory_of_other_libraries(library: Callable[[], Any]) -> None:
    array, stream = library(), amdjit.Stream()
    with stream.capture() as graph:
        append[1, 4](array, 2)
        append[1, 4](array, 3)
    executable = graph.instantiate()
    executable.launch(stream)
    stream.synchronize()
    assert held(array.memory) == 23
