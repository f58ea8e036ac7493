"""The emulated device's memory: its table of allocations, and copies in and out of it."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.diagnostics.errors import BackendError
from amdjit.emulator.memory import DeviceMemory, MemoryObserver, Range


def test_the_table_has_the_allocations_of_the_moment_in_order() -> None:
    random = np.random.default_rng(0)
    memory = DeviceMemory()
    expected: dict[int, list[tuple[int, int, int]]] = {}
    for step in range(300):
        if expected and random.random() < 0.4:
            start = int(random.choice(list(expected)))
            memory.free(start)
            del expected[start]
        elif step % 50 == 7:
            start = memory.allocate(4096, "code object", ((0, 100, False), (256, 4096, True)))
            expected[start] = [(start, start + 100, 0), (start + 256, start + 4096, 1)]
        else:
            size = int(random.integers(1, 5000))
            start = memory.allocate(size)
            expected[start] = [(start, start + size, 1)]
        rows = sorted(row for rows in expected.values() for row in rows)
        assert [tuple(map(int, row)) for row in memory.table().rows] == rows
    assert memory.table() is memory.table()


def test_copies_reach_every_byte_of_an_allocation_and_none_besides() -> None:
    memory = DeviceMemory()
    first, second = memory.allocate(1000), memory.allocate(1000)
    data = np.arange(1000, dtype=np.uint8)
    memory.write(first, data.data)
    memory.write(second + 300, data[:700].data)
    memory.copy(second, first + 10, 300)
    found = np.zeros(1000, np.uint8)
    memory.read(found.data, second)
    np.testing.assert_array_equal(found, np.concatenate([data[10:310], data[:700]]))
    np.testing.assert_array_equal(np.asarray(memory.view(first, 1000)), data)
    assert first % 256 == second % 256 == 0


def test_an_empty_copy_at_the_end_of_an_allocation_is_none() -> None:
    memory = DeviceMemory()
    start = memory.allocate(1000)
    memory.write(start + 1000, memoryview(b""))
    assert memory.check(start + 1000, 0) == start


@pytest.mark.parametrize("first", [-1, 901, 1000, 1 << 40])
def test_copies_out_of_bounds_are_refused(first: int) -> None:
    memory = DeviceMemory()
    start = memory.allocate(1000)
    for wrong in (
        lambda: memory.write(start + first, memoryview(bytes(100))),
        lambda: memory.read(memoryview(bytearray(100)), start + first),
        lambda: memory.copy(start + first, start, 100),
        lambda: memory.copy(start, start + first, 100),
    ):
        with pytest.raises(BackendError, match="in no allocation"):
            wrong()


class Recorder(MemoryObserver):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def allocated(self, allocation: Range) -> None:
        self.events.append(("allocated", allocation.end - allocation.start, allocation.label))

    def freed(self, allocation: Range) -> None:
        self.events.append(("freed", allocation.end - allocation.start))

    def wrote(self, allocation: Range, first: int, nbytes: int) -> None:
        self.events.append(("wrote", first, nbytes))

    def shared(self, allocation: Range) -> None:
        self.events.append(("shared", allocation.end - allocation.start))

    def launched(self) -> None:
        self.events.append(("launched",))

    def explain_free(self, address: int) -> str:
        return f"; {address} was never allocated"


def test_an_observer_hears_of_all_that_happens_to_memory_from_its_attachment_on() -> None:
    memory = DeviceMemory()
    memory.allocate(1)
    recorder = memory.observer(Recorder)
    assert memory.observer(Recorder) is recorder
    start = memory.allocate(100, "code object")
    memory.write(start + 10, memoryview(bytes(20)))
    memory.write(start, memoryview(b""))
    memory.copy(start + 50, start, 30)
    memory.share(start + 99)
    memory.launched()
    memory.free(start)
    with pytest.raises(BackendError, match=r"starts at 0x11; 17 was never allocated"):
        memory.free(17)
    assert recorder.events == [
        ("allocated", 100, "code object"),
        ("wrote", 10, 20),
        ("wrote", 50, 30),
        ("shared", 100),
        ("launched",),
        ("freed", 100),
    ]
