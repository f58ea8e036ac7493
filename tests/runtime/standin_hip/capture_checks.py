"""Checks of captures: what they refuse, and how they end; on the emulator and on HIP.

test_streams_on_hip.py runs them in a process of their own.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import code_objects
import numpy as np
import pytest
import standin
from emulated_gpu import GPU
from graph_kernels import append, captured, numbers
from graph_kernels import device as device

import amdjit
from amdjit.diagnostics.errors import BackendError
from amdjit.runtime.device import Device
from amdjit.runtime.hip import captures


class Refused:
    """What was refused in a capture: the error's code, and that a remedy follows it."""

    def __init__(self, action: Callable[..., object], code: int, remedy: str) -> None:
        self.action, self.code, self.remedy = action, code, remedy


REFUSALS = {
    "synchronize": Refused(lambda s, x: s.synchronize(), 900, "before `with stream.capture"),
    "query": Refused(lambda s, x: s.query(), 900, "before"),
    "device": Refused(lambda s, x: amdjit.synchronize(), 900, "before"),
    "other stream": Refused(lambda s, x: amdjit.Stream().synchronize(), 900, "before"),
    "allocate": Refused(lambda s, x: amdjit.empty(64), 900, "make arrays"),
    "allocate zeros": Refused(lambda s, x: amdjit.zeros(64), 900, "make arrays"),
    "allocate pinned memory": Refused(lambda s, x: amdjit.pinned_empty(64), 900, "make arrays"),
    "to the host": Refused(lambda s, x: x.copy_to_host(stream=s), 900, "copy from and to"),
    "from the host": Refused(
        lambda s, x: x.copy_from_host(np.zeros(4, np.int64), s), 900, "copy from and to"
    ),
    "default stream": Refused(
        lambda s, x: x.copy_to_host(stream=amdjit.Stream.external(0)), 906, "non_blocking=True"
    ),
    "launch in the default stream": Refused(
        lambda s, x: append[1, 4, amdjit.Stream.external(0)](x, 1), 906, "non_blocking=True"
    ),
    "event of the capture": Refused(lambda s, x: s.record().synchronize(), 907, "orders its"),
    "query of an event of the capture": Refused(lambda s, x: s.record().query(), 907, "orders"),
    "query of an event": Refused(lambda s, x: amdjit.Event().query(), 900, "before"),
    "time of events of the capture": Refused(
        lambda s, x: s.record().elapsed_milliseconds(s.record()), 400, ""
    ),
    "event from outside": Refused(lambda s, x: s.wait(OUTSIDE[s.device.name]), 905, "inside"),
    "stream from outside": Refused(lambda s, x: s.wait(amdjit.Stream()), 905, "inside"),
}
OUTSIDE: dict[str, amdjit.Event] = {}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_cannot_be_captured_is_refused_with_a_remedy(device: Device, what: str) -> None:
    stream, x = amdjit.Stream(), numbers()
    OUTSIDE[device.name] = amdjit.Event()
    OUTSIDE[device.name].record()
    refused = REFUSALS[what]
    append[1, 4, stream](x, 3)
    graphs = []

    def work(graph: Any) -> None:
        graphs.append(graph)
        append[1, 4](x, 1)
        refused.action(stream, x)

    with pytest.raises(BackendError, match=rf"could not .*\({refused.code}\)") as caught:
        captured(stream, work)
    assert refused.remedy in str(caught.value)
    with pytest.raises(amdjit.LaunchError, match="that an exception leaves makes none"):
        graphs[0].instantiate()
    append[1, 4, stream](x, 4)  # the stream works as before
    assert x.copy_to_host(stream=stream).tolist() == [34] * 4


def test_a_refusal_that_is_caught_spoils_the_capture(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()

    def work(graph: Any) -> None:
        with pytest.raises(BackendError, match="900"):
            stream.synchronize()
        with pytest.raises(BackendError, match=r"\(901\).*let that exception leave"):
            append[1, 4](x, 1)

    with pytest.raises(BackendError, match=r"end a capture: .*Invalidated \(901\)"):
        captured(stream, work)
    append[1, 4, stream](x, 4)
    assert x.copy_to_host(stream=stream).tolist() == [4] * 4


def test_work_that_is_not_joined_is_refused(device: Device) -> None:
    stream, side, x = amdjit.Stream(), amdjit.Stream(), numbers()

    def work(graph: Any) -> None:
        side.wait(stream)
        append[1, 4, side](x, 1)

    with pytest.raises(BackendError, match=r"\(904\).*stream\.wait\(other\)"):
        captured(stream, work)
    append[1, 4, side](x, 2)
    assert x.copy_to_host(stream=side).tolist() == [2] * 4


def test_an_exception_ends_the_capture(device: Device) -> None:
    stream, side, x = amdjit.Stream(), amdjit.Stream(), numbers()
    graphs = []

    def work(graph: Any) -> None:
        graphs.append(graph)
        append[1, 4](x, 1)
        side.wait(stream)
        append[1, 4, side](x, 1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        captured(stream, work)
    assert repr(graphs[0]) == f"<Graph on {device.name}, being captured>"
    for usable in (stream, side):
        append[1, 4, usable](x, 5)
        usable.synchronize()
    assert x.copy_to_host().tolist() == [55] * 4
    with stream.capture() as graph:
        append[1, 4](x, 6)
    graph.instantiate().launch(stream)
    assert x.copy_to_host(stream=stream).tolist() == [556] * 4


def test_captures_of_two_streams_nest_but_do_not_mix(device: Device) -> None:
    outer, inner, x, y = amdjit.Stream(), amdjit.Stream(), numbers(), numbers()
    with outer.capture() as first:
        append[1, 4](x, 1)
        with inner.capture() as second:
            append[1, 4](y, 2)
        append[1, 4](x, 3)
    assert (len(first.nodes), len(second.nodes)) == (2, 1)
    first.instantiate().launch()
    second.instantiate().launch()
    assert (x.copy_to_host()[0], y.copy_to_host()[0]) == (13, 2)
    with pytest.raises(BackendError, match=r"hipErrorIllegalState \(401\)"):
        captured(outer, lambda graph: captured(outer, print))
    with pytest.raises(BackendError, match="900"):
        captured(amdjit.Stream.external(0), print)


def test_graphs_are_launched_outside_of_captures(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    with stream.capture() as graph:
        append[1, 4](x, 1)
    executable = graph.instantiate()
    with pytest.raises(BackendError, match=r"launch a graph: .*\(900\)"):
        captured(stream, lambda graph: executable.launch())
    assert x.copy_to_host().tolist() == [0] * 4


@amdjit.kernel
def show(x):
    print(x[0])


@amdjit.kernel(sanitize=("memory",))
def watched(x):
    x[0] = 1


def test_launches_that_report_are_refused(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    host = np.zeros(4, np.int64)
    loaded = amdjit.load(code_objects.doubling_kernel()).kernels["double_value"]
    with stream.capture() as graph:
        with pytest.raises(amdjit.LaunchError, match=r"show prints, asserts .*asserts=False"):
            show[1, 4](x)
        with pytest.raises(amdjit.LaunchError, match=r"NumPy array.* x = amdjit\.to_device\(x\)"):
            append[1, 4](host, 1)
        with pytest.raises(amdjit.LaunchError, match="watched: launches of graphs are not checked"):
            watched[1, 4](x)
        with amdjit.sanitize("memory"), pytest.raises(amdjit.LaunchError, match="not checked"):
            loaded[1, 4](x, 4, np.float32(1))
        append[1, 4](x, 1)  # what was refused before it reached HIP spoils nothing
    executable = graph.instantiate()
    with amdjit.sanitize("memory"), pytest.raises(amdjit.LaunchError, match="not checked"):
        executable.launch()
    executable.launch()
    assert x.copy_to_host().tolist() == [1] * 4


def test_profiles_count_the_launches_of_graphs() -> None:
    with amdjit.use("emulator:gfx1201"):
        stream, x = amdjit.Stream(), numbers()
        with amdjit.profile() as during, stream.capture() as graph:
            append[1, 4](x, 1)
            append[1, 4](x, 2)
        assert during.launches == []
        with amdjit.profile() as profile:
            graph.instantiate().launch()
        assert [launch.kernel for launch in profile.launches] == [graph.nodes[0].name] * 2
    with amdjit.use("hip:0"):
        with amdjit.Stream().capture() as graph:
            pass
        executable = graph.instantiate()
        with amdjit.profile(), pytest.raises(amdjit.LaunchError, match="hip:0 cannot count"):
            executable.launch()


@amdjit.kernel
def write_far_away(x, n):
    x[amdjit.threadIdx.x + n] = 1


def test_faults_of_graphs_name_the_argument() -> None:
    with amdjit.use("emulator:gfx1201"):
        stream, x = amdjit.Stream(), numbers()
        with stream.capture() as graph:
            write_far_away[1, 4](x, 2**24)
        with pytest.raises(amdjit.KernelFault) as caught:
            graph.instantiate().launch()
    assert (caught.value.array, caught.value.shape) == ("x", (4,))


def test_arrays_that_are_dropped_in_a_capture_are_freed_after_it() -> None:
    with amdjit.use("hip:0"):
        stream, x = amdjit.Stream(), numbers()
        temporary = amdjit.zeros(1000, np.uint8)
        before = standin.library().standin_used_memory()
        with stream.capture() as graph:
            append[1, 4](x, 1)
            del temporary
            gc.collect()
            assert standin.library().standin_used_memory() == before
        assert standin.library().standin_used_memory() < before
        assert len(graph.nodes) == 1


def test_garbage_that_is_collected_as_a_capture_begins_does_not_spoil_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    garbage: list[list[Any]] = []

    class Collecting(captures.HipCapture):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            garbage.clear()
            gc.collect()

    monkeypatch.setattr(captures, "HipCapture", Collecting)
    with amdjit.use("hip:0"):
        stream, x = amdjit.Stream(), numbers()
        cycle: list[Any] = [amdjit.zeros(1000, np.uint8)]
        cycle.append(cycle)
        garbage.append(cycle)
        del cycle
        before = standin.library().standin_used_memory()
        with stream.capture() as graph:
            append[1, 4](x, 1)
        assert standin.library().standin_used_memory() < before
        graph.instantiate().launch(stream)
        assert x.copy_to_host(stream=stream).tolist() == [1] * 4
        with pytest.raises(BackendError, match="900"):
            captured(amdjit.Stream.external(0), print)
        y = numbers()
        before = standin.library().standin_used_memory()
        del y  # nothing is captured any more
        assert standin.library().standin_used_memory() < before


def test_code_that_is_dropped_in_a_capture_is_unloaded_after_it() -> None:
    unloaded = []
    with amdjit.use("hip:0") as gpu:
        stream = amdjit.Stream()
        module = gpu.load(code_objects.doubling_kernel())
        emulated = len(GPU.modules)
        with stream.capture() as graph:
            stream.call(int)
            del module
            gc.collect()
            unloaded.append(len(GPU.modules) < emulated)
        unloaded.append(len(GPU.modules) < emulated)
    assert unloaded == [False, True]
    assert len(graph.nodes) == 1


def test_graphs_are_updated_outside_of_captures(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    graph = captured(stream, lambda graph: append[1, 4](x, 1))
    executable = graph.instantiate()
    executable.launch(stream)
    with pytest.raises(amdjit.LaunchError, match="updated outside of"):
        captured(stream, lambda _: executable.update(graph.nodes[0], x, 2))
    executable.launch(stream)
    assert x.copy_to_host(stream=stream).tolist() == [11] * 4


def test_other_threads_work_while_one_captures(device: Device) -> None:
    stream, x, failures = amdjit.Stream(non_blocking=True), numbers(), []

    def work() -> None:
        try:
            with amdjit.use(device):
                own = amdjit.Stream()
                y = amdjit.empty(4, np.int64)
                append[1, 4, own](x, 8)
                own.synchronize()
                del y
        except BaseException as error:
            failures.append(error)

    with stream.capture() as graph:
        append[1, 4](x, 1)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert failures == []
    graph.instantiate().launch(stream)
    assert x.copy_to_host(stream=stream).tolist() == [81] * 4


def test_a_capture_ends_in_its_thread(device: Device) -> None:
    stream, caught = amdjit.Stream(), []
    block = stream.capture()
    with amdjit.use(device):
        block.__enter__()
        thread = threading.Thread(target=lambda: caught.append(_leave(device, stream)))
        thread.start()
        thread.join()
        assert "908" in caught[0]
        block.__exit__(None, None, None)


def _leave(device: Device, stream: amdjit.Stream) -> str:
    try:
        device.end_capture(stream.handle)
    except BackendError as error:
        return str(error)
    return "no error"
