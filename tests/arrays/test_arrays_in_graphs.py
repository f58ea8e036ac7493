"""Fills and copies of arrays in a captured stream become nodes of a graph, in their order."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import amdjit


def test_fills_and_copies_are_done_by_the_graph() -> None:
    stream = amdjit.Stream()
    source, result = amdjit.pinned_empty(12, np.int32), amdjit.pinned_empty((3, 4), np.int32)
    a, b = amdjit.zeros(12, np.int32), amdjit.zeros((3, 4), np.int32)
    wide = amdjit.zeros((3, 100), np.float64)
    amdjit.synchronize()
    with stream.capture() as graph:
        a.copy_from_host(source, stream)
        a[::2].fill(7, stream)
        b.assign(a.reshape(3, 4)[::-1], stream)
        b.assign(a[4:8], stream)
        b[1].assign(a[:4], stream)
        wide[:, :50].assign(wide[:, 50:], stream)
        wide[:, 50:].fill(2.5, stream)
        b.copy_to_host(result, stream)
    assert not b.copy_to_host().any()
    assert not wide.copy_to_host().any()
    kinds = {node.kind for node in graph.nodes}
    assert {"copy", "fill"} <= kinds
    executable = graph.instantiate()
    for start in (0, 100):
        source[...] = np.arange(start, start + 12)
        executable.launch(stream)
        stream.synchronize()
        expected = np.broadcast_to(np.arange(start + 4, start + 8), (3, 4)).copy()
        expected[1] = np.arange(start, start + 4)
        expected[:, ::2] = 7
        assert result.tolist() == expected.tolist()
    assert (wide.copy_to_host() == 2.5).all()


def test_a_graph_keeps_the_arrays_of_its_copies() -> None:
    stream = amdjit.Stream()
    out = amdjit.zeros(1000)
    temporary = amdjit.full(1000, np.float32(3))
    amdjit.synchronize()
    with stream.capture() as graph:
        out.assign(temporary, stream)
    del temporary
    gc.collect()
    others = [amdjit.zeros(1000) for _ in range(8)]
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert out.copy_to_host().tolist() == [3] * 1000
    assert len(others) == 8


def test_copies_that_need_memory_in_between_are_refused() -> None:
    stream = amdjit.Stream()
    a, other = amdjit.zeros(10), amdjit.zeros(10, np.int32)

    def overlap() -> None:
        with stream.capture():
            a[1:].assign(a[:-1], stream)

    def convert() -> None:
        with stream.capture():
            a.assign(other, stream)

    for attempt in (overlap, convert):
        with pytest.raises(amdjit.LaunchError, match="made before the capture"):
            attempt()
    a.fill(1, stream)
    assert a.copy_to_host(stream=stream).tolist() == [1] * 10
