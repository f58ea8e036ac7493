"""Checks of graphs, on the emulator and on HIP with the least favourable legal order.

test_streams_on_hip.py runs them in a process of their own.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from graph_kernels import add, append, numbers
from graph_kernels import device as device

import amdjit
from amdjit.diagnostics.errors import BackendError
from amdjit.runtime.device import Device


def test_a_graph_does_what_was_captured_each_time_it_is_launched(device: Device) -> None:
    stream, x = amdjit.Stream(), numbers()
    with stream.capture() as graph:
        assert amdjit.current_stream() is stream
        append[1, 4](x, 1)
        append[1, 4, stream](x, 2)
    assert amdjit.current_stream().handle is None
    assert x.copy_to_host().tolist() == [0] * 4
    executable = graph.instantiate()
    other = amdjit.Stream()
    executable.launch(stream)
    other.wait(stream)
    append[1, 4, other](x, 9)
    with other:
        executable.launch()
    assert x.copy_to_host(stream=other).tolist() == [12912] * 4
    executable.launch()
    assert x.copy_to_host().tolist() == [1291212] * 4


def test_streams_fork_and_join_by_events(device: Device) -> None:
    stream, left, right = (amdjit.Stream() for _ in range(3))
    x, y, z = numbers(), numbers(), numbers()
    with stream.capture() as graph:
        append[1, 4](x, 1)
        start = stream.record()
        left.wait(start)
        right.wait(stream)
        append[1, 4, left](x, 2)
        append[1, 4, right](y, 3)
        stream.wait(left.record())
        stream.wait(right)
        add[1, 4](x, y, z)
    executable = graph.instantiate()
    assert left.query()  # it takes part no more
    for count in (1, 2):
        executable.launch(left)
        expected = int("12" * count) + int("3" * count)
        assert z.copy_to_host(stream=left).tolist() == [expected] * 4


def test_nodes_say_what_they_do(device: Device) -> None:
    stream, side, x, y = amdjit.Stream(), amdjit.Stream(), numbers(), numbers()
    with stream.capture() as graph:
        append[(1, 2), 4](x, 7)
        side.wait(stream)
        device.copy_on_device(y.address, x.address, x.nbytes, side.handle)
        stream.call(int)
        stream.wait(side)
        add[1, (4, 1)](x, y, out=x)
    first, copy, host, last = graph.nodes
    assert [node.kind for node in graph.nodes] == ["kernel", "copy", "host", "kernel"]
    assert (first.name, first.grid, first.block) == (first.name, (1, 2, 1), (4, 1, 1))
    assert first.name.startswith("append")
    assert last.name.startswith("add")
    assert dict(first.arguments)["x"] is x
    assert list(last.arguments) == ["x", "y", "out"]
    assert (copy.nbytes, copy.arguments, copy.grid) == (32, {}, None)
    assert first.dependencies == ()
    assert copy.dependencies == host.dependencies == (first,)
    assert set(last.dependencies) == {copy, host}
    with pytest.raises(TypeError):
        first.arguments["x"] = 3  # type: ignore[index]
    dot = graph.to_dot()
    assert dot.startswith("digraph {")
    assert 'n1 [label="copy 32 bytes"];' in dot
    assert f'n0 [label="{first.name}\\n(1, 2, 1) x (4, 1, 1)"];' in dot
    assert {line.strip() for line in dot.splitlines() if "->" in line} == {
        "n0 -> n1;",
        "n0 -> n2;",
        "n1 -> n3;",
        "n2 -> n3;",
    }


def test_a_graph_keeps_its_arrays_and_kernels(device: Device) -> None:
    stream, out = amdjit.Stream(), numbers()
    with stream.capture() as graph:
        pass
    assert graph.nodes == ()
    graph.instantiate().launch()
    x, y = numbers(1, 2, 3, 4), numbers(10, 20, 30, 40)
    with stream.capture() as graph:
        add[1, 4](x, y, out)
    executable = graph.instantiate()
    del x, y, graph
    gc.collect()
    others = [numbers(-1, -1, -1, -1) for _ in range(20)]
    executable.launch(stream)
    assert out.copy_to_host(stream=stream).tolist() == [11, 22, 33, 44]
    del others


def test_a_graph_whose_array_was_freed_is_not_launched(device: Device) -> None:
    stream, read = amdjit.Stream(), numbers()
    for use in (
        lambda x: append[1, 4](x, 1),
        lambda x: add[1, 4](read, read, x),
        lambda x: x[::2].fill(7),
        lambda x: read.assign(x),
    ):
        x = numbers()
        with stream.capture() as graph:
            use(x)
        executable = graph.instantiate()
        executable.launch(stream)
        x.free()
        after = numbers()  # may lie where the freed array was
        with pytest.raises(amdjit.LaunchError, match="was freed"):
            executable.launch(stream)
        assert after.copy_to_host().tolist() == [0] * 4
    with stream.capture() as graph:
        append[1, 4](read, 1)
    executable, other = graph.instantiate(), numbers()
    executable.update(graph.nodes[0], other, 1)
    read.free()  # the launches use the other array now
    executable.launch(stream)
    assert other.copy_to_host(stream=stream).tolist() == [1] * 4


def test_functions_are_called_at_each_launch_of_a_graph(device: Device) -> None:
    stream, calls = amdjit.Stream(), []

    def call() -> None:
        calls.append(len(calls))
        if len(calls) == 2:
            raise ValueError("the second one")

    with stream.capture() as graph:
        stream.call(call)
    assert calls == []
    executable = graph.instantiate()
    del graph
    executable.launch(stream)
    stream.synchronize()
    executable.launch(stream)
    with pytest.raises(ValueError, match="the second one"):
        stream.synchronize()
    executable.launch(stream)
    stream.synchronize()
    assert calls == [0, 1, 2]


def captured_sum(stream: amdjit.Stream, x: Any, y: Any, out: Any) -> Any:
    with stream.capture() as graph:
        add[1, 4](x, y, out)
        append[1, 4](out, 5)
    return graph


def test_a_node_takes_other_arguments(device: Device) -> None:
    stream = amdjit.Stream()
    x, y, out = numbers(1, 2, 3, 4), numbers(1, 1, 1, 1), numbers()
    graph = captured_sum(stream, x, y, out)
    executable = graph.instantiate()
    unchanged = graph.instantiate()
    executable.launch(stream)
    executable.update(graph.nodes[0], numbers(10, 20, 30, 40), y, out)
    executable.update(graph.nodes[1], out, 6)
    assert out.copy_to_host(stream=stream).tolist() == [25, 35, 45, 55]
    gc.collect()
    executable.launch(stream)
    assert out.copy_to_host(stream=stream).tolist() == [116, 216, 316, 416]
    unchanged.launch(stream)
    assert out.copy_to_host(stream=stream).tolist() == [25, 35, 45, 55]
    # Other types are another specialisation of the same kernel.
    floats = amdjit.to_device(np.array([0.5, 1.5, 2.5, 3.5]))
    real = amdjit.zeros(4, np.float64)
    executable.update(graph.nodes[0], floats, floats, real)
    executable.launch(stream)
    assert real.copy_to_host(stream=stream).tolist() == [1, 3, 5, 7]


def test_launches_that_were_made_keep_their_arguments(device: Device) -> None:
    stream, out = amdjit.Stream(), numbers()
    with stream.capture() as graph:
        append[1, 4](out, 1)
    executable = graph.instantiate()
    for value in (2, 3, 4):
        executable.launch(stream)
        executable.update(graph.nodes[0], out, value)
    assert out.copy_to_host(stream=stream).tolist() == [123] * 4


def test_a_graph_takes_the_arguments_of_another_capture(device: Device) -> None:
    stream = amdjit.Stream()
    x, y, out = numbers(1, 2, 3, 4), numbers(1, 1, 1, 1), numbers()
    graph = captured_sum(stream, x, y, out)
    executable = graph.instantiate()
    other = captured_sum(stream, numbers(7, 7, 7, 7), y, out)
    executable.update(other)
    del other
    gc.collect()
    executable.launch(stream)
    assert out.copy_to_host(stream=stream).tolist() == [85] * 4
    executable.update(graph.nodes[0], x, x, out)
    executable.launch(stream)
    assert out.copy_to_host(stream=stream).tolist() == [25, 45, 65, 85]
    with stream.capture() as longer:
        for _ in range(3):
            append[1, 4](out, 5)
    with stream.capture() as changed:
        append[1, 4](out, 5)
        stream.call(int)
    with stream.capture() as parallel:
        side = amdjit.Stream()
        side.wait(stream)
        append[1, 4](out, 5)
        append[1, 4, side](x, 5)
        stream.wait(side)
    for wrong in (longer, changed, parallel):
        with pytest.raises(BackendError, match=r"hipErrorGraphExecUpdateFailure \(910\)"):
            executable.update(wrong)
    executable.launch(stream)
    assert out.copy_to_host(stream=stream).tolist() == [25, 45, 65, 85]


def test_wrong_updates_are_refused(device: Device) -> None:
    stream, x, y, out = amdjit.Stream(), numbers(), numbers(), numbers()
    graph = captured_sum(stream, x, y, out)
    executable = graph.instantiate()
    node = graph.nodes[0]
    with pytest.raises(amdjit.LaunchError, match="add takes 3 arguments"):
        executable.update(node, x)
    with pytest.raises(amdjit.LaunchError, match="argument x is a NumPy array"):
        executable.update(node, np.zeros(4), y, out)
    with pytest.raises(amdjit.LaunchError, match="takes a graph, or a node"):
        executable.update(5)  # type: ignore[arg-type]
    with pytest.raises(amdjit.LaunchError, match="takes no arguments"):
        executable.update(graph, x)
    with stream.capture() as host:
        stream.call(int)
    with pytest.raises(amdjit.LaunchError, match="not a launch of a kernel"):
        host.instantiate().update(host.nodes[0], x)
    with pytest.raises(amdjit.LaunchError, match="not a launch of a kernel in this graph"):
        executable.update(host.nodes[0])
    elsewhere = "emulator:gfx1201" if device.name == "hip:0" else "hip:0"
    with amdjit.use(elsewhere):
        far = captured_sum(amdjit.Stream(), numbers(), numbers(), numbers())
    with pytest.raises(amdjit.LaunchError, match=f"the graph is on {elsewhere}"):
        executable.update(far)
    with pytest.raises(amdjit.LaunchError, match=f"is on {elsewhere}"):
        executable.update(node, far.nodes[0].arguments["x"], y, out)
