"""The memory system of the cycle model: host code against lists in Python, and closed forms."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from amdjit.cycles.engine.layout import TICKS, Access, Memory
from amdjit.cycles.engine.library import engine
from amdjit.cycles.memory import CacheShape, MemoryParameters, NativeMemory
from tests.cycles.reference.memory_system import MemorySystem

SHAPES = st.builds(CacheShape, st.integers(1, 6), st.integers(1, 4))
NUMBERS = st.integers(0, 3000)
PARAMETERS = st.builds(MemoryParameters, *[SHAPES] * 3, *[NUMBERS] * 8)
# kind, compute unit, keys, salt, cycles since the last request
REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(Access),
        st.integers(0, 1),
        st.lists(st.integers(0, 300), max_size=6),
        st.sampled_from([0, 1 << 56]),
        st.integers(0, 40),
    ),
    max_size=60,
)


def served(
    memory: NativeMemory, kind: Access, half: int, keys: list[int], salt: int, time: int
) -> int:
    array = np.array([*keys, 0], np.int64)
    return engine().access(memory.address, kind, half, array.ctypes.data, len(keys), salt, time)


@settings(deadline=None)
@given(PARAMETERS, REQUESTS)
def test_host_code_serves_requests_as_the_reference_does(
    parameters: MemoryParameters, requests: list[tuple[Access, int, list[int], int, int]]
) -> None:
    reference, memory = MemorySystem(parameters), NativeMemory(parameters)
    time = 0
    for kind, half, keys, salt, later in requests:
        time += later
        expected = reference.access(kind, half, keys, salt, time)
        assert served(memory, kind, half, keys, salt, time) == expected


PLAIN = MemoryParameters(
    vector_cache=CacheShape(16, 16),
    scalar_cache=CacheShape(16, 16),
    l2_cache=CacheShape(64, 16),
    vector_latency=100 * TICKS,
    scalar_latency=30 * TICKS,
    l2_latency=300 * TICKS,
    far_latency=700 * TICKS,
    vector_cost=TICKS,
    scalar_cost=TICKS,
    l2_cost=2 * TICKS,
    far_cost=16 * TICKS,
)


def test_a_line_comes_from_the_level_that_has_it() -> None:
    memory = NativeMemory(PLAIN)
    line = [8 << 2]
    assert served(memory, Access.LOAD, 0, line, 0, 0) == 700
    assert served(memory, Access.LOAD, 0, line, 0, 1000) == 1100
    # The other compute unit's cache does not have it; L2 does.
    assert served(memory, Access.LOAD, 1, line, 0, 2000) == 2300
    # Another workgroup processor has brought this one.
    assert served(memory, Access.LOAD, 0, [9 << 2 | 1], 0, 3000) == 3300


def test_lines_far_away_take_the_bandwidth_one_after_another() -> None:
    memory = NativeMemory(PLAIN)
    keys = [line << 2 for line in range(100)]
    assert served(memory, Access.LOAD, 0, keys, 0, 0) == 99 * 16 + 700
    assert memory.record[Memory.FAR_LINES] == 100


def test_private_lines_of_a_repeated_workgroup_are_others() -> None:
    memory = NativeMemory(PLAIN)
    private, shared = 5 << 2 | 2, 6 << 2
    for key in (private, shared):
        assert served(memory, Access.LOAD, 0, [key], 0, 10_000 * key) == 10_000 * key + 700
    later = 1_000_000
    assert served(memory, Access.LOAD, 0, [private], 1 << 56, later) == later + 700
    assert served(memory, Access.LOAD, 0, [shared], 1 << 56, 2 * later) == 2 * later + 100


def test_the_least_recently_used_line_leaves_its_set() -> None:
    memory = NativeMemory(
        MemoryParameters(
            **{**_fields(PLAIN), "vector_cache": CacheShape(1, 2), "l2_cache": CacheShape(1, 8)}
        )
    )
    hits = []
    for number, line in enumerate((1, 2, 1, 3, 1, 2)):
        time = 10_000 * number
        hits.append(served(memory, Access.LOAD, 0, [line << 2], 0, time) - time == 100)
    assert hits == [False, False, True, False, True, False]


def _fields(parameters: MemoryParameters) -> dict[str, object]:
    return {name: getattr(parameters, name) for name in MemoryParameters.__slots__}
