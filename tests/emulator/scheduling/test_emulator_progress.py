"""Waves that wait for waves of other workgroups make progress, whatever the number of host
threads."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault, LaunchError
from amdjit.emulator import EmulatorDevice, run
from amdjit.emulator.launch import workspace
from amdjit.emulator.scheduling.standstill import Patience
from amdjit.emulator.tiers import full
from amdjit.options import Environment
from amdjit.target import find_target
from tests.emulator.building import compile_source, device, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = [
    needs_tools,
    pytest.mark.usefixtures("each_tier"),
]

HEAD = """#include "common.h"
#define LOAD(p) __scoped_atomic_load_n(p, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE)
#define STORE(p, v) __scoped_atomic_store_n(p, v, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE)
#define ADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE)
#define SLEEP __builtin_amdgcn_s_sleep(1)
"""
# Every workgroup writes, waits for all others, and reads what its neighbour has written; several
# times.
GRID_BARRIER = """
static void grid_barrier(GLOBAL u32 *count, u32 groups, u32 round) {
  barrier();
  if (LANE == 0) {
    ADD(count, 1);
    while (LOAD(count) < groups * round) WAIT;
  }
  barrier();
}
KERNEL shift(GLOBAL u32 *x, GLOBAL u32 *count, u32 groups, u32 rounds) {
  for (u32 round = 1; round <= rounds; ++round) {
    STORE(&x[BLOCK * 64 + LANE], x[BLOCK * 64 + LANE] + BLOCK);
    grid_barrier(count, groups, 2 * round - 1);
    u32 next = LOAD(&x[(BLOCK + 1) % groups * 64 + LANE]);
    grid_barrier(count, groups, 2 * round);
    STORE(&x[BLOCK * 64 + LANE], next);
  }
}
"""


@pytest.mark.covering(2)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("wait", ["SLEEP", ""])
@pytest.mark.parametrize("groups", [2, 16, 150])
def test_a_barrier_of_the_whole_grid(groups: int, wait: str, threads: int) -> None:
    rounds = 4
    x, count = np.zeros(groups * 64, np.uint32), np.zeros(1, np.uint32)
    code = compile_source(HEAD + GRID_BARRIER.replace("WAIT", wait))
    emulate(
        code, "shift", groups, 64, [x, count, np.uint32(groups), np.uint32(rounds)], threads=threads
    )
    blocks = np.arange(groups)
    expected = np.zeros(groups, np.uint32)
    for _ in range(rounds):
        expected = np.roll(expected + blocks, -1)
    np.testing.assert_array_equal(x.reshape(groups, 64), np.repeat(expected[:, None], 64, 1))
    assert count[0] == 2 * rounds * groups


@pytest.mark.parametrize("threads", [1, 2])
def test_workgroups_in_the_reverse_order_of_their_numbers(threads: int) -> None:
    source = """
KERNEL turns(GLOBAL u32 *x, GLOBAL u32 *turn, u32 groups) {
  while (LOAD(turn) != groups - 1 - BLOCK) ;
  x[BLOCK] = *turn;
  STORE(turn, groups - BLOCK);
}
"""
    x, turn = np.zeros(40, np.uint32), np.zeros(1, np.uint32)
    emulate(
        compile_source(HEAD + source), "turns", 40, 32, [x, turn, np.uint32(40)], threads=threads
    )
    np.testing.assert_array_equal(x, np.arange(40)[::-1])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_lock_shared_by_workgroups(threads: int) -> None:
    source = """
KERNEL locked(GLOBAL u32 *lock, GLOBAL u32 *total) {
  if (LANE % 32 == 0) {
    u32 expected;
    do expected = 0;
    while (!__scoped_atomic_compare_exchange_n(lock, &expected, 1, 0, __ATOMIC_ACQUIRE,
                                               __ATOMIC_RELAXED,
                                               __MEMORY_SCOPE_DEVICE));
    u32 before = LOAD(total);
    for (int i = 0; i < 20; ++i) SLEEP;  /* the others see the lock taken */
    STORE(total, before + 1);
    STORE(lock, 0);
  }
}
"""
    lock, total = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    emulate(compile_source(HEAD + source), "locked", 20, 128, [lock, total], threads=threads)
    assert (lock[0], total[0]) == (0, 80)


def test_a_workgroup_that_polls_between_barriers() -> None:
    source = """
KERNEL handshake(GLOBAL u32 *flag, GLOBAL u32 *seen) {
  if (BLOCK == 1) { STORE(flag, 7); return; }
  u32 value;
  do {
    barrier();
    value = LOAD(flag);
  } while (value == 0);
  seen[LANE] = value;
}
"""
    flag, seen = np.zeros(1, np.uint32), np.zeros(128, np.uint32)
    emulate(compile_source(HEAD + source), "handshake", 2, 128, [flag, seen])
    assert (seen == 7).all()


def test_each_resident_workgroup_has_its_own_lds_and_private_memory() -> None:
    source = """
SHARED u32 mine[64];
KERNEL own(GLOBAL u32 *x, GLOBAL u32 *count, u32 groups) {
  volatile u32 stack[8];
  mine[LANE] = BLOCK * 1000 + LANE;
  for (int i = 0; i < 8; ++i) stack[i] = BLOCK + LANE * i;
  barrier();
  if (LANE == 0) {
    ADD(count, 1);
    while (LOAD(count) < groups) SLEEP;
  }
  barrier();
  u32 sum = mine[63 - LANE];
  for (int i = 0; i < 8; ++i) sum += stack[i];
  x[BLOCK * 64 + LANE] = sum;
}
"""
    groups = 20
    x, count = np.zeros((groups, 64), np.uint32), np.zeros(1, np.uint32)
    emulate(compile_source(HEAD + source), "own", groups, 64, [x, count, np.uint32(groups)])
    blocks, lanes = np.arange(groups)[:, None], np.arange(64)[None, :]
    np.testing.assert_array_equal(x, blocks * 1000 + 63 - lanes + 8 * blocks + 28 * lanes)


@pytest.mark.sample(1)
def test_more_workgroups_than_are_resident_wait_for_ever() -> None:
    target = find_target("gfx1201")
    assert target is not None
    source = """
KERNEL meet(GLOBAL u32 *count, u32 groups) {
  if (LANE == 0) {
    ADD(count, 1);
    while (LOAD(count) < groups) SLEEP;
  }
  barrier();
}
"""
    code = compile_source(HEAD + source)
    resident = 2048 // 32
    count = np.zeros(1, np.uint32)
    emulate(code, "meet", resident, 1024, [count, np.uint32(resident)])
    assert count[0] == resident
    count[0] = 0
    patient = EmulatorDevice(target, 1, time_limit=0.5)
    with pytest.raises(KernelFault, match="time limit") as caught:
        run(code, "meet", resident + 1, 1024, [count, np.uint32(resident + 1)], device=patient)
    assert caught.value.kind == "time-limit"


def cooperatively(source: str, kernel: str, grid: int, *args: object, threads: int = 1) -> None:
    run(
        compile_source(HEAD + source),
        kernel,
        grid,
        64,
        args,
        device=device(threads),
        cooperative=True,
    )


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 5, 150])
def test_all_workgroups_of_a_cooperative_launch_are_under_way(groups: int, threads: int) -> None:
    x, count = np.zeros(groups * 64, np.uint32), np.zeros(1, np.uint32)
    source = GRID_BARRIER.replace("WAIT", "SLEEP")
    arguments = x, count, np.uint32(groups), np.uint32(3)
    cooperatively(source, "shift", groups, *arguments, threads=threads)
    expected = np.zeros(groups, np.uint32)
    for _ in range(3):
        expected = np.roll(expected + np.arange(groups), -1)
    np.testing.assert_array_equal(x.reshape(groups, 64), np.repeat(expected[:, None], 64, 1))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_workgroups_that_wait_for_each_other_are_reported(threads: int) -> None:
    source = """
KERNEL stuck(GLOBAL u32 *flags, u32 groups) {
  if (BLOCK == 2) return;
  while (LOAD(&flags[(BLOCK + 1) % groups]) == 0) SLEEP;
  STORE(&flags[BLOCK], 1);
}
"""
    flags = np.zeros(9, np.uint32)
    with pytest.raises(KernelFault, match="workgroups of a cooperative launch wait") as caught:
        cooperatively(source, "stuck", 9, flags, np.uint32(9), threads=threads)
    assert caught.value.kind == "barrier"
    assert "1 of 9 workgroups ended at" in str(caught.value)
    assert "8 of 9 workgroups wait at" in str(caught.value)
    assert not flags.any()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_chain_of_workgroups_that_count_while_they_sleep(threads: int) -> None:
    """Each waits for the next one, which is busy for long with nothing but a counter."""
    source = """
KERNEL chain(GLOBAL u32 *flags, u32 groups) {
  if (BLOCK + 1 < groups) while (LOAD(&flags[BLOCK + 1]) == 0) SLEEP;
  for (u32 i = 0; i < 3000; ++i) SLEEP;
  STORE(&flags[BLOCK], 1);
}
"""
    flags = np.zeros(6, np.uint32)
    cooperatively(source, "chain", 6, flags, np.uint32(6), threads=threads)
    assert flags.all()


def test_cooperative_grids_that_do_not_fit_are_refused() -> None:
    source = """
SHARED u32 mine[8192];
KERNEL large(GLOBAL u32 *x) { mine[LANE] = BLOCK; barrier(); x[BLOCK] = mine[0]; }
"""
    x = np.zeros(32 * 4 + 1, np.uint32)
    cooperatively(source, "large", 32 * 4, x)
    np.testing.assert_array_equal(x[:-1], np.arange(128))
    with pytest.raises(LaunchError, match="of 129 workgroups is over the limit of 128, 4 on each"):
        cooperatively(source, "large", 32 * 4 + 1, x)


@pytest.mark.parametrize("most_saved", [full._MOST_SAVED, -1])
def test_who_spins_waits_if_its_registers_do_not_change(
    monkeypatch: pytest.MonkeyPatch, most_saved: int
) -> None:
    """In the full tier; -1: with the registers in memory, as those of large kernels."""
    monkeypatch.setattr(full, "_MOST_SAVED", most_saved)
    monkeypatch.setattr(workspace, "PATIENCE", Patience(sweeps=1, looks=1))
    target = find_target("gfx1201")
    assert target is not None
    source = """
KERNEL counting(GLOBAL u32 *flags, u32 rounds) {
  u32 count = 0;
  while (LOAD(&flags[BLOCK]) == 0 && ++count < rounds);
  flags[BLOCK] = count;
}
KERNEL stuck(GLOBAL u32 *flags, u32 rounds) {
  while (LOAD(&flags[BLOCK]) == 0);
}
"""
    code, flags = compile_source(HEAD + source), np.zeros(4, np.uint32)
    emulator = EmulatorDevice(target, 1, 20.0, Environment(cache_dir=None, emulator_tier="full"))
    run(
        code,
        "counting",
        4,
        32,
        [flags, np.uint32(300_000)],
        device=emulator,
        cooperative=True,
    )
    assert (flags == 300_000).all()
    flags[:] = 0
    with pytest.raises(KernelFault, match="workgroups of a cooperative launch wait"):
        run(code, "stuck", 4, 32, [flags, np.uint32(0)], device=emulator, cooperative=True)
