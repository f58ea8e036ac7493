"""Launches: shapes, partial waves, hidden arguments, threads, interruption, the object cache."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from amdjit.emulator import EmulatorDevice, run
from amdjit.options import Environment
from amdjit.target import find_target
from tests.emulator.building import compile_kernel, compile_source, device, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

HEAD = '#include "common.h"\n'
WHERE = """
#define ID(name) __builtin_amdgcn_##name()
KERNEL where(GLOBAL u32 *x) {
  u32 sx = ID(workgroup_size_x), sy = ID(workgroup_size_y), sz = ID(workgroup_size_z);
  u32 lx = ID(workitem_id_x), ly = ID(workitem_id_y), lz = ID(workitem_id_z);
  u32 gx = ID(workgroup_id_x), gy = ID(workgroup_id_y), gz = ID(workgroup_id_z);
  u32 nx = ID(grid_size_x) / sx, ny = ID(grid_size_y) / sy;
  u32 group = (gz * ny + gy) * nx + gx, item = (lz * sy + ly) * sx + lx;
  x[group * sx * sy * sz + item] = item | group << 16;
}
"""


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("grid", "block"),
    [
        ((5,), (1,)),
        ((3,), (31,)),
        ((2,), (33,)),
        ((4, 3), (8, 8)),
        ((2, 3, 4), (5, 3, 7)),
        ((1, 1, 7), (1, 1, 64)),
    ],
)
def test_every_work_item_runs_once_and_knows_its_place(
    grid: tuple[int, ...], block: tuple[int, ...], threads: int
) -> None:
    groups, items = int(np.prod(grid)), int(np.prod(block))
    x = np.zeros(groups * items, np.uint32)
    emulate(compile_source(HEAD + WHERE), "where", grid, block, [x], threads=threads)
    expected = np.arange(items)[None, :] | np.arange(groups)[:, None] << 16
    np.testing.assert_array_equal(x, expected.reshape(-1))


def test_dynamic_lds_is_behind_the_static_one() -> None:
    source = """
SHARED u32 box[8];
extern __attribute__((address_space(3))) u32 more[];
KERNEL dynamic(GLOBAL u32 *x, u32 n) {
  for (u32 k = LANE; k < n; k += 32) more[k] = k * k;
  box[LANE & 7] = 1000;
  barrier();
  for (u32 k = LANE; k < n; k += 32) x[k] = more[n - 1 - k] + box[0];
}
"""
    x = np.zeros(500, np.uint32)
    emulate(compile_source(HEAD + source), "dynamic", 1, 32, [x, np.uint32(500)], dynamic_lds=2000)
    np.testing.assert_array_equal(x, 1000 + np.arange(500)[::-1] ** 2)


def test_a_reduction_with_barriers() -> None:
    x = np.random.default_rng(1).integers(0, 100, 2000).astype(np.float32)
    sums = np.zeros(8, np.float32)
    emulate(compile_kernel("reduction"), "reduction", 8, 256, [x, sums, np.uint32(2000)])
    np.testing.assert_array_equal(sums, np.resize(np.append(x, np.zeros(48)), (8, 256)).sum(1))


def test_a_tiled_product_on_a_two_dimensional_grid() -> None:
    a, b = np.random.default_rng(1).integers(-5, 6, (2, 64, 64)).astype(np.float32)
    c = np.zeros((64, 64), np.float32)
    emulate(
        compile_kernel("matrix_shared"),
        "matrix_shared",
        (4, 4),
        256,
        [a, b, c, np.uint32(64)],
        threads=2,
    )
    np.testing.assert_array_equal(c, a @ b)


def test_waves_that_poll_each_other_make_progress() -> None:
    source = """
SHARED u32 flag;
KERNEL turns(GLOBAL u32 *x) {
  if (LANE == 0) flag = 0;
  barrier();
  u32 wave = LANE / 32;
  while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) != 3 - wave) __builtin_amdgcn_s_sleep(1);
  x[LANE] = flag;
  if (LANE % 32 == 0) __atomic_store_n(&flag, 4 - wave, __ATOMIC_RELEASE);
}
"""
    x = np.zeros(128, np.uint32)
    emulate(compile_source(HEAD + source), "turns", 1, 128, [x])
    np.testing.assert_array_equal(x.reshape(4, 32)[:, 0], [3, 2, 1, 0])


def test_a_spin_lock_without_sleep_makes_progress() -> None:
    source = """
SHARED u32 lock, total;
KERNEL locked(GLOBAL u32 *x) {
  if (LANE == 0) { lock = 1; total = 0; }
  barrier();
  if (LANE % 32 == 0) {
    if (LANE == 96) __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    u32 expected;
    do
      expected = 0;
    while (!__atomic_compare_exchange_n(&lock, &expected, 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
    total += LANE;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  }
  barrier();
  x[LANE] = total;
}
"""
    x = np.zeros(128, np.uint32)
    emulate(compile_source(HEAD + source), "locked", 1, 128, [x])
    assert (x == 192).all()


def test_several_python_threads_may_launch_at_once() -> None:
    code = compile_kernel("saxpy")
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for _ in range(5):
                x = np.random.default_rng(seed).standard_normal(5000).astype(np.float32)
                y = np.zeros(5000, np.float32)
                emulate(
                    code, "saxpy", 20, 256, [np.uint32(5000), np.float32(seed), x, y], threads=2
                )
                np.testing.assert_array_equal(y, np.float32(seed) * x)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors


def test_events_measure_time() -> None:
    start, end = device().create_event(), device().create_event()
    before = time.perf_counter()
    device().record_event(start)
    time.sleep(0.01)
    device().record_event(end)
    device().synchronize_event(end)
    assert 5 < device().elapsed_milliseconds(start, end) <= 1000 * (time.perf_counter() - before)


def test_memory_is_copied_within_the_device() -> None:
    place = device().allocate(1000)
    device().copy_to_device(place, memoryview(bytes(range(200))))
    device().copy_on_device(place + 500, place, 200)
    back = bytearray(200)
    device().copy_to_host(memoryview(back), place + 500)
    device().free(place)
    assert bytes(back) == bytes(range(200))
    assert place % 256 == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for a single process")
def test_control_c_stops_an_endless_kernel() -> None:
    script = """
    import os, signal, sys, threading
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    from tests.emulator.building import compile_source, emulate
    # A job in the background is born with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = compile_source('#include "common.h"\\n'
                          'KERNEL spin(volatile GLOBAL u32 *x) { while (*x == 0) ; }')
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        emulate(code, "spin", 4, 64, [np.zeros(1, np.uint32)], threads=2)
    except KeyboardInterrupt:
        print("interrupted")
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(Path(__file__).parents[1])]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=paths
    )
    assert done.stdout.strip() == "interrupted", done.stderr


def test_broken_cache_entries_are_ignored(tmp_path: Path) -> None:
    target = find_target("gfx1201")
    assert target is not None
    code = compile_kernel("saxpy")
    for attempt in range(3):
        machine = EmulatorDevice(target, 1, environment=Environment(cache_dir=tmp_path))
        x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
        run(code, "saxpy", 1, 256, [np.uint32(256), np.float32(3), x, y], device=machine)
        assert (y == 3).all()
        entries = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(entries) >= 4
        for index, entry in enumerate(entries):
            content = bytearray(entry.read_bytes())
            content[len(content) // 2] ^= 0xFF
            entry.write_bytes(content if (index + attempt) % 2 else content[: len(content) // 3])


GARBAGE_DURING_LAUNCHES = """
import gc
import weakref
from amdjit.emulator.memory import DeviceMemory

class Held:
    def __init__(self, memory):
        self.cycle = self
        weakref.finalize(self, memory.free, memory.allocate(64))

memory = DeviceMemory()
gc.set_threshold(1)
for _ in range(2000):
    held = Held(memory)
    assert len(memory.table().rows) >= 1
    memory.nearest(5)
del held
gc.collect()
print(len(memory.table().rows))
"""


def test_memory_is_freed_by_a_collection_in_the_middle_of_anything() -> None:
    # With a lock in DeviceMemory this hung: the finalizer waited for the method that it had
    # interrupted.
    environment = dict(os.environ) | {"PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", GARBAGE_DURING_LAUNCHES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr
