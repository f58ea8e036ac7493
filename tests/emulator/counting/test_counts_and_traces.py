"""Counters and recordings agree with a trace of each executed instruction, and change no result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.examples import reduction, wmma_gemm
from tests.emulator.building import assemble, compile_kernel, compile_source, emulate
from tests.emulator.c_kernels import CASES, GRID, Case
from tests.emulator.counting.traces import profiled_and_traced
from tests.emulator.random_programs import Program
from tests.emulator.required_tools import needs_tools

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from emulator_kernels import tiled_product

pytestmark = needs_tools

# Branches, calls, private memory.
SOME = [
    next(case for case in CASES if case.file == file)
    for file in ("branches", "calls", "divergent_loops", "private_arrays")
]
ITEMS = 96


def launch_case(case: Case, code: bytes, threads: int = 1) -> list[Any]:
    """Run a kernel; return its arguments afterwards."""
    arguments = case.arguments(np.random.default_rng(5))
    emulate(code, case.kernel, GRID, case.block, arguments, threads)
    return arguments


def check_case(case: Case, wave_size: int, level: str) -> None:
    flags = [level, *(["-mwavefrontsize64"] if wave_size == 64 else [])]
    code = compile_kernel(case.file, *flags)
    plain, counted = launch_case(case, code), []
    launch = profiled_and_traced(lambda: counted.append(launch_case(case, code)))
    assert launch.wave_size == wave_size
    for result in counted:
        for one, two in zip(plain, result, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.sample(1)
@pytest.mark.covering(1)
@pytest.mark.parametrize("case", SOME, ids=str)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_c_kernels(case: Case, wave_size: int) -> None:
    check_case(case, wave_size, "-O2")


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
def test_all_c_kernels(case: Case, wave_size: int, level: str) -> None:
    check_case(case, wave_size, level)


def check_random(seed: int, *flags: str) -> None:
    """Count a random C program, with few of the work-items of its last wave."""
    random = np.random.default_rng(seed)
    data = random.integers(-(1 << 63), 1 << 63, 4 * ITEMS, np.int64) >> random.integers(
        0, 63, 4 * ITEMS
    )
    code = compile_source(Program(seed).source, "-ffp-contract=off", *flags)
    results: list[Any] = []

    def run() -> None:
        results.append(np.zeros(8 * ITEMS, np.int64))
        emulate(code, "fuzz", 1, ITEMS - 7, [results[-1], data])

    run()
    profiled_and_traced(run)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_a_random_program() -> None:
    check_random(3000, "-O2")


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3001, 3040))
def test_many_random_programs(seed: int) -> None:
    for flags in (("-O0",), ("-O3",), ("-O1", "-mwavefrontsize64")):
        check_random(seed, *flags)


# Flat addresses of all three kinds, in one access; atomics; a buffer with lanes outside.
FLAT = """
#include "common.h"
static __attribute__((noinline)) int both(int *p, int *q, int add) {
  return __hip_atomic_fetch_add(p, add, __ATOMIC_RELAXED, 2) + q[1];
}
KERNEL k(GLOBAL int *x, GLOBAL int *out, int n) {
  static SHARED int shared[64];
  int own[4] = {n, 2 * n, 3 * n, 4 * n};
  shared[LANE & 63] = LANE;
  barrier();
  int *p = LANE % 3 ? (int *)(x + LANE / 5) : (int *)shared + LANE / 7;
  int found = both(p, LANE % 5 == 2 ? own + LANE % 3 : p, n);
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(x, 0, 100, 0x31004000);
  found += __builtin_amdgcn_raw_buffer_load_b32(r, LANE * 4, 0, 0);
  f16x8 wide = __builtin_bit_cast(f16x8, __builtin_amdgcn_raw_buffer_load_b128(r, LANE * 8, 0, 0));
  out[LANE] = found + (int)wide[0] + (int)wide[7] + own[LANE & 3];
}
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("flags", [("-O1",), ("-O1", "-mwavefrontsize64")])
def test_flat_and_buffer_accesses(flags: tuple[str, ...]) -> None:
    code = compile_source(FLAT, *flags)

    def run() -> None:
        x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
        emulate(code, "k", 1, 61, [x, out, np.int32(3)])

    launch = profiled_and_traced(run)
    texts = [counts.text for counts in launch.instructions if counts.requests]
    assert any(text.startswith("flat_atomic") for text in texts)
    assert any(text.startswith("buffer_load_b128") for text in texts)


def test_kernels_with_lds_and_matrices() -> None:
    random = np.random.default_rng(1)
    a, b, x = (random.random(shape, np.float32) for shape in ((32, 32), (32, 32), 3000))
    p, q = (random.random((32, 64), np.float32).astype(np.float16) for _ in range(2))
    runs = [
        lambda: tiled_product[(2, 2), (16, 16)](a, b, np.zeros((32, 32), np.float32)),
        lambda: reduction.sum_per_block[3, 256](x, np.zeros(3, np.float32)),
        lambda: wmma_gemm.gemm(p, np.ascontiguousarray(q.T), np.zeros((32, 32), np.float32)),
    ]
    with amdjit.use("emulator:gfx1201"):
        for run in runs:
            profiled_and_traced(run)


# Every way in which an instruction writes EXEC, between vector instructions; the last one before a
# label, and in a loop.
WRITES_OF_EXEC = """
  v_mov_b32 v1, 0
  v_cmp_gt_u32 exec_lo, 20, v0
  v_add_nc_u32 v1, v1, v0
  v_mul_f32 v2, v1, v1
  s_and_saveexec_b32 s4, 0xff
  v_add_nc_u32 v1, v1, v0
  s_mov_b32 exec_lo, -1
  v_cmpx_lt_u32 3, v0
  v_add_nc_u32 v1, v1, v0
  s_mov_b32 s5, 3
again:
  s_lshr_b32 exec_lo, exec_lo, 2
  v_add_nc_u32 v1, v1, v0
  s_or_not1_b32 s6, exec_lo, s4
  s_sub_co_u32 s5, s5, 1
  s_cmp_lg_u32 s5, 0
  v_cmpx_ne_u32 9, v0
there:
  s_cbranch_scc1 again
  s_cbranch_execz there
  s_and_not1_wrexec_b32 s7, exec_lo
  v_add_nc_u32 v1, v1, v0
"""


def test_every_way_to_write_exec() -> None:
    code = assemble(WRITES_OF_EXEC)

    def run() -> None:
        emulate(code, "kernel", 2, 64, [np.zeros(64, np.int32), np.zeros(64, np.int32)])

    launch = profiled_and_traced(run)
    # The first of two waves has 20 lanes below 20, and 8 of its lanes in 0xff.
    lanes = {counts.active_lanes for counts in launch.instructions}
    assert {20 * 2, 8 * 2} <= lanes
