"""C compiled for CDNA at all levels gives what the same C gives on the host: programs, kernels,
random programs, wave operations and atomics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulator.building import compile_kernel, compile_source, emulate, run_on_host, using
from tests.emulator.c_kernels import CASES, GRID, Case
from tests.emulator.c_programs import BLOCK, PROGRAMS, words
from tests.emulator.random_program_check import check
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
GFX9 = ("gfx90a", "gfx942", "gfx906", "gfx908", "gfx950")
PROVEN = GFX9[:2]
_EVERY = 7
# Kernels of the older matrix instructions' tests have processors of their own.
KERNELS = [case for case in CASES if not case.file.startswith("matrix")]


def programs() -> list[Any]:
    """Some of the programs at one level each in every run; all of them in the exhaustive one."""
    found = []
    for place, cpu in enumerate(GFX9):
        for index, (file, name) in enumerate(PROGRAMS):
            for level in range(4):
                usual = (index // _EVERY + place) % 4 == level
                quick = usual and index % _EVERY == (3 * place) % _EVERY and cpu in PROVEN
                marks = () if quick or index == level == place else pytest.mark.exhaustive
                case = f"{cpu}-{name}-O{level}"
                found.append(pytest.param(cpu, file, name, f"-O{level}", marks=marks, id=case))
    return found


def kernels() -> list[Any]:
    found = []
    for place, cpu in enumerate(GFX9):
        for index, case in enumerate(KERNELS):
            for level in range(4):
                quick = cpu in PROVEN and index % 4 == place and level == (index + place) % 4
                marks = () if quick else pytest.mark.exhaustive
                found.append(
                    pytest.param(cpu, case, level, marks=marks, id=f"{cpu}-{case}-O{level}")
                )
    return found


@pytest.mark.sample(6)
@pytest.mark.parametrize(("cpu", "file", "name", "level"), programs())
def test_programs_for_cdna_give_the_hosts_results(
    cpu: str, file: str, name: str, level: str
) -> None:
    with using(cpu=cpu):
        code = compile_kernel(file, level, "-ffp-contract=off")
        for number in (3, 14):
            expected, given = ([words(1), words(2), np.uint32(number)] for _ in range(2))
            run_on_host(file, name, 2, BLOCK, expected)
            emulate(code, name, 2, BLOCK, given)
            for index in (0, 1):
                np.testing.assert_array_equal(given[index], expected[index])


@pytest.mark.sample(3)
@pytest.mark.parametrize(("cpu", "case", "level"), kernels())
def test_kernels_for_cdna_give_the_hosts_results(cpu: str, case: Case, level: int) -> None:
    with using(cpu=cpu):
        code = compile_kernel(case.file, f"-O{level}", "-ffp-contract=off")
        expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
        run_on_host(case.file, case.kernel, GRID, case.block, expected)
        emulate(code, case.kernel, GRID, case.block, given)
    for index, (mine, right) in enumerate(zip(given, expected, strict=True)):
        np.testing.assert_array_equal(mine, right, err_msg=f"argument {index}")


@pytest.mark.sample(1)
@pytest.mark.parametrize("cpu", PROVEN)
def test_a_random_program_for_cdna_gives_what_the_host_gives(cpu: str) -> None:
    with using(cpu=cpu):
        check(2000 + PROVEN.index(cpu), ("-O1",))


@pytest.mark.exhaustive
@pytest.mark.parametrize("cpu", GFX9)
@pytest.mark.parametrize("seed", range(2000, 2025))
def test_many_random_programs_for_cdna_give_what_the_host_gives(cpu: str, seed: int) -> None:
    with using(cpu=cpu):
        check(seed, ("-O0", "-O1", "-O2", "-O3"))


_WAVE = """#include "common.h"
KERNEL k(GLOBAL const u32 *x, GLOBAL u32 *out, u32 n) {
  u32 lane = __builtin_amdgcn_workitem_id_x(), value = x[lane];
  out[lane] = __builtin_amdgcn_ds_bpermute((lane * 7 % 64) * 4, value);
  out[64 + lane] = __builtin_amdgcn_readlane(value, n);
  out[128 + lane] = __builtin_amdgcn_readfirstlane(value);
  out[192 + lane] = __builtin_amdgcn_update_dpp(5, value, 0x138, 0xf, 0xf, 0);
  out[256 + lane] = __builtin_amdgcn_update_dpp(value, value, 0x142, 0xa, 0xf, 0);
  out[320 + lane] = __builtin_amdgcn_update_dpp(value, value, 0x143, 0xc, 0xf, 0);
  out[384 + lane] = __builtin_amdgcn_update_dpp(0, value, 0x115, 0xf, 0xf, 1);
  u64 mask = __builtin_amdgcn_ballot_w64(value & 1);
  out[448 + lane] = __builtin_amdgcn_mbcnt_hi(mask >> 32, __builtin_amdgcn_mbcnt_lo(mask, 0));
}
KERNEL scan(GLOBAL const u32 *x, GLOBAL u32 *out, u32 n) {
  u32 lane = __builtin_amdgcn_workitem_id_x(), total = x[lane];
  total += __builtin_amdgcn_update_dpp(0, total, 0x111, 0xf, 0xf, 0);
  total += __builtin_amdgcn_update_dpp(0, total, 0x112, 0xf, 0xf, 0);
  total += __builtin_amdgcn_update_dpp(0, total, 0x114, 0xf, 0xe, 0);
  total += __builtin_amdgcn_update_dpp(0, total, 0x118, 0xf, 0xc, 0);
  total += __builtin_amdgcn_update_dpp(0, total, 0x142, 0xa, 0xf, 0);
  total += __builtin_amdgcn_update_dpp(0, total, 0x143, 0xc, 0xf, 0);
  out[lane] = total;
}
"""


@pytest.mark.parametrize("cpu", PROVEN)
def test_wave_operations_for_cdna_move_what_they_name(cpu: str) -> None:
    x = np.random.default_rng(9).integers(0, 1 << 32, 64, np.uint32)
    out = np.zeros((8, 64), np.uint32)
    with using(cpu=cpu):
        code = compile_source(_WAVE, "-O2")
        emulate(code, "k", 1, 64, [x, out, np.uint32(41)])
        sums = np.zeros(64, np.uint32)
        emulate(code, "scan", 1, 64, [x, sums, np.uint32(0)])
    lane = np.arange(64)
    np.testing.assert_array_equal(out[0], x[lane * 7 % 64])
    np.testing.assert_array_equal(out[1], np.full(64, x[41]))
    np.testing.assert_array_equal(out[2], np.full(64, x[0]))
    np.testing.assert_array_equal(out[3], np.where(lane, x[lane - 1], 5))
    rows = lane // 16
    np.testing.assert_array_equal(out[4], np.where(rows % 2, x[rows * 16 - 1], x))
    np.testing.assert_array_equal(out[5], np.where(lane >= 32, x[31], x))
    np.testing.assert_array_equal(out[6], np.where(lane % 16 >= 5, x[lane - 5], 0))
    np.testing.assert_array_equal(out[7], np.cumsum(x & 1) - (x & 1))
    # LLVM's own scan of a wave (AMDGPUAtomicOptimizer).
    np.testing.assert_array_equal(sums, np.cumsum(x, dtype=np.uint32))


_ATOMICS = """#include "common.h"
KERNEL k(GLOBAL u32 *x, GLOBAL float *f, GLOBAL double *d, GLOBAL u64 *w) {
  u32 i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  __atomic_fetch_add(x, i, __ATOMIC_RELAXED);
  __atomic_fetch_max(x + 1, i * 2654435761u, __ATOMIC_RELAXED);
  __atomic_fetch_xor(x + 2, i * 40503u, __ATOMIC_RELAXED);
  u32 before = __atomic_fetch_add(x + 3, 1, __ATOMIC_ACQ_REL);
  x[16 + before] = before;
  __atomic_fetch_add(f, (float)(i % 8), __ATOMIC_RELAXED);
  __atomic_fetch_add(d, (double)i, __ATOMIC_RELAXED);
  __atomic_fetch_max(d + 1, (double)(i ^ 5), __ATOMIC_RELAXED);
  __atomic_fetch_min(d + 2, -(double)i, __ATOMIC_RELAXED);
  __atomic_fetch_add(w, (u64)i << 30, __ATOMIC_RELAXED);
}
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("flags", [("-O0",), ("-O3", "-munsafe-fp-atomics")], ids=str)
@pytest.mark.parametrize("cpu", PROVEN)
def test_atomics_for_cdna_miss_nothing(cpu: str, flags: tuple[str, ...]) -> None:
    x = np.zeros(16 + 512, np.uint32)
    f, d, w = np.zeros(1, np.float32), np.zeros(3), np.zeros(1, np.uint64)
    with using(cpu=cpu):
        emulate(compile_source(_ATOMICS, *flags), "k", 2, 256, [x, f, d, w], threads=2)
    i = np.arange(512, dtype=np.uint32)
    assert x[0] == i.sum()
    assert x[1] == (i * np.uint32(2654435761)).max()
    assert x[2] == np.bitwise_xor.reduce(i * np.uint32(40503))
    assert x[3] == 512
    np.testing.assert_array_equal(x[16:], i)
    assert f[0] == (i % 8).sum()
    assert d.tolist() == [i.sum(), (i ^ 5).max(), -511.0]
    assert w[0] == int(i.sum()) << 30


@pytest.mark.sample(3)
@pytest.mark.parametrize("cpu", GFX9)
def test_workgroups_and_items_of_three_dimensions_know_their_places(cpu: str) -> None:
    """Numbers of work-items are packed into one VGPR from gfx90a on, and in three before."""
    source = """#include "common.h"
#define GROUP(axis) __builtin_amdgcn_workgroup_id_##axis()
#define ITEM(axis) __builtin_amdgcn_workitem_id_##axis()
KERNEL all(GLOBAL u32 *x) {
  u32 group = GROUP(x) + 3 * (GROUP(y) + 2 * GROUP(z));
  x[group * 30 + ITEM(x) + 5 * (ITEM(y) + 3 * ITEM(z))] = GROUP(x) | GROUP(y) << 8 | GROUP(z) << 16;
}
"""
    with using(cpu=cpu):
        x = np.zeros(3 * 2 * 4 * 30, np.uint32)
        emulate(compile_source(source, "-O2"), "all", (3, 2, 4), (5, 3, 2), [x])
    group = np.arange(x.size) // 30
    np.testing.assert_array_equal(x, group % 3 | group // 3 % 2 << 8 | group // 6 << 16)
