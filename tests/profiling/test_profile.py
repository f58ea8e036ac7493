"""`amdjit.profile` counts launches whose numbers are known in closed form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.profiling.counts import Counts, InstructionCounts
from tests.profiling import profiled_kernels as kernels

GROUPS, THREADS = 6, 64
COUNT = GROUPS * THREADS
WAVES = COUNT // 32


def launched(run: Callable[[], Any]) -> amdjit.LaunchProfile:
    """Return the profile of the only launch."""
    with amdjit.profile() as p:
        run()
    (launch,) = p.launches
    return launch


def found(launch: amdjit.LaunchProfile, *starts: str) -> list[InstructionCounts]:
    """Return the instructions whose text starts so."""
    several = [counts for counts in launch.instructions if counts.text.startswith(starts)]
    assert several, f"no instruction starts with {starts}"
    return several


def total(several: list[InstructionCounts]) -> Counts:
    fields = ("executions", "active_lanes", "requests", "bytes", "cache_lines", "lds_cycles")
    fields += ("lds_conflict_cycles", "contention")
    return Counts(**{name: sum(getattr(one, name) for one in several) for name in fields})


def arrays(count: int = COUNT) -> tuple[Any, Any]:
    return np.arange(count, dtype=np.float32), np.zeros(COUNT, np.float32)


def test_half_of_the_lanes_are_active_in_a_branch_that_even_lanes_take() -> None:
    x, out = arrays()
    launch = launched(lambda: kernels.half_of_the_lanes[GROUPS, THREADS](x, out))
    (store,) = found(launch, "global_store")
    assert (store.executions, store.active_lanes) == (WAVES, WAVES * 16)
    assert (store.requests, store.bytes, store.cache_lines) == (WAVES, WAVES * 64, WAVES)
    assert total(found(launch, "s_endpgm")).executions == WAVES == launch.waves
    assert (launch.grid, launch.block) == ((GROUPS, 1, 1), (THREADS, 1, 1))
    assert np.array_equal(out, np.where(np.arange(COUNT) % 2, 0, 3 * x))
    assert launch.totals.operations == {"f32": COUNT // 2}


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 31, 32, 100])
def test_a_strided_load_touches_as_many_lines_as_its_lanes_span(stride: int) -> None:
    x, out = arrays(COUNT * stride)
    launch = launched(lambda: kernels.strided[GROUPS, THREADS](x, out, stride))
    (load,), (store,) = found(launch, "global_load"), found(launch, "global_store")
    places = np.arange(COUNT).reshape(WAVES, 32) * stride * 4 // 128
    assert load.cache_lines == sum(len(set(wave)) for wave in places.tolist())
    assert (load.requests, load.bytes) == (WAVES, COUNT * 4)
    assert (store.cache_lines, store.bytes) == (WAVES, COUNT * 4)
    # Arrays start with a line. What else there is are the arguments.
    own = len(set(places.ravel().tolist())) + COUNT * 4 // 128
    assert own < launch.distinct_lines <= own + 4


@pytest.mark.parametrize(("pitch", "cycles"), [(32, 32), (33, 1), (34, 2), (48, 16)])
def test_lds_cycles_of_a_transpose_depend_on_its_pitch(pitch: int, cycles: int) -> None:
    a, out = np.arange(1024, dtype=np.int32).reshape(32, 32), np.zeros((32, 32), np.int32)
    launch = launched(lambda: kernels.turn[1, (32, 8)](a, out, pitch))
    stores, loads = total(found(launch, "ds_store")), total(found(launch, "ds_load"))
    # Each of 8 waves moves 4 rows, whatever instructions the compiler takes for it.
    assert (stores.lds_cycles, stores.lds_conflict_cycles) == (32, 0)
    assert (loads.lds_cycles, loads.lds_conflict_cycles) == (32 * cycles, 32 * (cycles - 1))
    assert loads.bytes == stores.bytes == 4096
    assert loads.cache_lines == 0
    assert np.array_equal(out, a.T)


def test_a_loop_executes_as_often_as_its_longest_lane_and_with_the_lanes_left() -> None:
    limits = np.random.default_rng(1).integers(1, 40, COUNT).astype(np.int32)
    out = np.zeros(COUNT, np.float32)
    launch = launched(lambda: kernels.rounds[GROUPS, THREADS](limits, out))
    operations = launch.totals.operations
    assert operations == {"f32": 2 * int(limits.sum())}
    in_waves = limits.reshape(WAVES, 32)
    body = max(found(launch, "v_mul_f32", "v_dual_mul"), key=lambda counts: counts.executions)
    assert (body.executions, body.active_lanes) == (in_waves.max(1).sum(), limits.sum())


@pytest.mark.parametrize("different", [1, 2, 5, 32])
def test_contention_is_of_lanes_beyond_the_first_on_an_address(different: int) -> None:
    places = (np.arange(COUNT) % 32 % different).astype(np.int32)
    out = np.zeros(32, np.int32)
    launch = launched(lambda: kernels.add_at[GROUPS, THREADS](places, out))
    (atomic,) = found(launch, "global_atomic")
    assert (atomic.requests, atomic.contention) == (WAVES, WAVES * (32 - different))
    assert out.sum() == COUNT


@pytest.mark.parametrize(("threads", "waits"), [(THREADS, 7), (256, 7), (32, 0)])
def test_waves_wait_at_barriers_if_there_are_others(threads: int, waits: int) -> None:
    out = np.zeros(COUNT * 4, np.int32)
    launch = launched(lambda: kernels.wait_often[GROUPS, threads](out, 7))
    assert launch.totals.barrier_waits == waits * launch.waves


def test_matrix_products_count_as_operations_of_whole_waves() -> None:
    a, b = (np.ones(256, np.float16) for _ in range(2))
    launch = launched(lambda: kernels.multiply[3, 32](a, b, np.zeros(256, np.float32), 10))
    (product,) = found(launch, "v_wmma")
    assert (product.executions, product.unit) == (30, "WMMA")
    assert launch.totals.operations == {"f16 matrix": 30 * 2 * 16**3}
    assert launch.totals.units is not None
    assert launch.totals.units["WMMA"] == 30


def test_a_roofline_says_what_bounds_a_launch() -> None:
    x, out = np.ones(40 * THREADS, np.float32), np.zeros(40 * THREADS, np.float32)
    copied = launched(lambda: kernels.strided[40, THREADS](x, out, 1)).roofline
    assert copied is not None
    assert (copied.bound, copied.operations, copied.bandwidth) == ("memory", 0, 640e9)
    assert copied.seconds == copied.bytes / 640e9
    a, b = (np.ones(256, np.float16) for _ in range(2))
    out = np.zeros(256, np.float32)
    computed = launched(lambda: kernels.multiply[64, 32](a, b, out, 1000)).roofline
    assert computed is not None
    assert (computed.bound, computed.type) == ("compute", "f16 matrix")
    assert computed.peak == 1024 * 64 * 2.97e9
    assert computed.seconds == pytest.approx(64 * 1000 * 8192 / 194.6e12, rel=1e-3)


def test_lines_hold_the_sums_of_their_instructions() -> None:
    x, out = arrays()
    launch = launched(lambda: kernels.half_of_the_lanes[GROUPS, THREADS](x, out))
    for (file, line), counts in launch.lines.items():
        own = [one for one in launch.instructions if (one.file, one.line) == (file, line)]
        assert counts.executions == sum(one.executions for one in own)
        assert counts.active_lanes == sum(one.active_lanes for one in own)
    assert launch.totals.executions == sum(one.executions for one in launch.instructions)
    branch = next(n for n in launch.lines if "% 2" in source_line(*n))
    assert launch.lines[branch].executions >= WAVES


def source_line(file: str, line: int) -> str:
    with open(file) as opened:  # noqa: PTH123
        return opened.read().splitlines()[line - 1]


def test_the_json_form_holds_what_the_values_hold() -> None:
    x, out = arrays()
    with amdjit.profile() as p:
        kernels.half_of_the_lanes[GROUPS, THREADS](x, out)
        kernels.strided[GROUPS, THREADS](x, out, 1)
    form = json.loads(p.to_json())
    assert form["schema"] == "amdjit.profile/1"
    assert [one["kernel"] for one in form["launches"]] == [one.kernel for one in p.launches]
    for one, launch in zip(form["launches"], p.launches, strict=True):
        assert one["totals"]["executions"] == launch.totals.executions
        assert [i["address"] for i in one["instructions"]] == [
            i.address for i in launch.instructions
        ]
        assert one["roofline"]["bound"] == "size"
        assert [cause["kind"] for cause in one["causes"]] == [c.kind for c in launch.causes]


def test_the_text_names_hot_lines_and_what_memory_does() -> None:
    a, out = np.arange(1024, dtype=np.int32).reshape(32, 32), np.zeros((32, 32), np.int32)
    text = str(launched(lambda: kernels.turn[1, (32, 8)](a, out, 32)))
    assert "1 workgroups of 32 x 8 x 1, 8 waves of 32 lanes" in text
    # 32 cycles of stores, 1,024 of loads.
    assert "1,056 cycles, 93.9 % due to bank conflicts" in text
    assert "64 requests, 8.0 KiB asked for, 64 cache lines touched: 100.0 % of their" in text
    assert "profiled_kernels.py:" in text
