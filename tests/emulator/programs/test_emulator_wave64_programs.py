"""C compiled for waves of 64 lanes: launches of all shapes, LDS, barriers, atomics, locks,
matrices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.building import compile_kernel, compile_source, emulate
from tests.emulator.random_program_check import check
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

HEAD = '#include "common.h"\n'
WAVE64 = ("-O2", "-mwavefrontsize64")


def test_each_lane_has_its_private_memory_and_registers_survive_barriers() -> None:
    source = (
        HEAD
        + """
SHARED u32 box[192];
KERNEL k(GLOBAL u32 *x, GLOBAL u32 *out, u32 n) {
  u32 own[8], lane = LANE, i = BLOCK * 192 + LANE;
  for (u32 k = 0; k < 8; ++k) own[k] = x[i] * (k + 1);
  box[lane] = x[i];
  barrier();
  u32 other = box[191 - lane];
  barrier();
  box[lane] = other + own[n + lane % 4];
  barrier();
  out[i] = box[(lane + 77) % 192] + own[lane % 8];
}"""
    )
    code = compile_source(source, *WAVE64)
    x = np.random.default_rng(5).integers(0, 1 << 32, 3 * 192, np.uint32)
    out = np.zeros_like(x)
    emulate(code, "k", 3, 192, [x, out, np.uint32(2)], threads=2)
    rows, lane = x.reshape(3, 192), np.arange(192)
    box = rows[:, ::-1] + rows * (3 + lane % 4).astype(np.uint32)
    expected = box[:, (lane + 77) % 192] + rows * (lane % 8 + 1).astype(np.uint32)
    np.testing.assert_array_equal(out, expected.ravel())


@pytest.mark.parametrize("block", [1, 31, 33, 64, 65, 100])
def test_partial_waves_vote_with_their_lanes(block: int) -> None:
    source = HEAD + "KERNEL k(GLOBAL u64 *x) { x[LANE] = __builtin_amdgcn_ballot_w64(LANE != 5); }"
    x = np.zeros(128, np.uint64)
    emulate(compile_source(source, *WAVE64), "k", 1, block, [x])
    for wave in range(-(-block // 64)):
        count = min(64, block - 64 * wave)
        expected = (1 << count) - 1 & ~(1 << 5 if wave == 0 else 0)
        assert set(x[64 * wave : 64 * wave + count].tolist()) == {expected}
    assert not x[block:].any()


def test_items_of_three_dimensions_fill_waves_in_order() -> None:
    source = (
        HEAD
        + """
#define Y __builtin_amdgcn_workitem_id_y()
#define Z __builtin_amdgcn_workitem_id_z()
KERNEL k(GLOBAL u32 *x) {
  u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  x[LANE + 5 * (Y + 7 * Z)] = lane | __builtin_amdgcn_readfirstlane(LANE | Y << 8 | Z << 16) << 8;
}"""
    )
    x = np.zeros(5 * 7 * 4, np.uint32)
    emulate(compile_source(source, *WAVE64), "k", 1, (5, 7, 4), [x])
    item = np.arange(x.size)
    first = item // 64 * 64
    np.testing.assert_array_equal(
        x, item % 64 | (first % 5 | first // 5 % 7 << 8 | first // 35 << 16) << 8
    )


def test_a_reduction_and_a_tiled_product_with_barriers() -> None:
    random = np.random.default_rng(1)
    x, sums = random.integers(0, 100, 2000).astype(np.float32), np.zeros(8, np.float32)
    emulate(compile_kernel("reduction", *WAVE64), "reduction", 8, 256, [x, sums, np.uint32(2000)])
    np.testing.assert_array_equal(sums, np.resize(np.append(x, np.zeros(48)), (8, 256)).sum(1))
    a, b = random.integers(-5, 6, (2, 64, 64)).astype(np.float32)
    c = np.zeros((64, 64), np.float32)
    code = compile_kernel("matrix_shared", *WAVE64)
    emulate(code, "matrix_shared", (4, 4), 256, [a, b, c, np.uint32(64)], threads=2)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_atomics_that_the_compiler_makes_one_of_a_wave(level: str) -> None:
    """At -O2 LLVM adds up a wave's values by DPP, `permlane64` and `readlane` first."""
    source = (
        HEAD
        + """
KERNEL k(GLOBAL u32 *sums, GLOBAL const u32 *x, GLOBAL u32 *old) {
  u32 i = INDEX;
  __atomic_fetch_add(&sums[0], x[i], __ATOMIC_RELAXED);
  __atomic_fetch_max(&sums[1], x[i], __ATOMIC_RELAXED);
  __atomic_fetch_xor(&sums[2], x[i], __ATOMIC_RELAXED);
  if (x[i] & 1) old[i] = __atomic_fetch_add(&sums[3], 1, __ATOMIC_RELAXED);
}"""
    )
    x = np.random.default_rng(2).integers(0, 1 << 20, 512, np.uint32)
    sums, old = np.zeros(4, np.uint32), np.zeros(512, np.uint32)
    emulate(compile_source(source, level, "-mwavefrontsize64"), "k", 2, 256, [sums, x, old])
    odd = x % 2 == 1
    assert sums.tolist() == [x.sum(), x.max(), np.bitwise_xor.reduce(x), odd.sum()]
    assert sorted(old[odd].tolist()) == list(range(odd.sum()))


def test_waves_that_wait_for_each_other_make_progress() -> None:
    source = (
        HEAD
        + """
SHARED u32 lock, total;
KERNEL locked(GLOBAL u32 *x) {
  if (LANE == 0) { lock = 1; total = 0; }
  barrier();
  if (LANE % 64 == 40) {
    if (LANE == 104) __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
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
}"""
    )
    x = np.zeros(192, np.uint32)
    emulate(compile_source(source, *WAVE64), "locked", 1, 192, [x])
    assert (x == 40 + 104 + 168).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2000, 2040))
def test_many_random_programs_of_64_lanes_give_what_the_host_gives(seed: int) -> None:
    check(seed, ("-O0", "-O1", "-O2", "-O3"), "-mwavefrontsize64")


def test_matrix_builtins_as_the_compiler_lays_them_out() -> None:
    """A and B as AMD's matrix instruction calculator has them: k = 4 * (lane // 16) + element."""
    source = (
        HEAD
        + """
typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
KERNEL k(GLOBAL const f16 *a, GLOBAL const f16 *b, GLOBAL float *c) {
  u32 lane = LANE, row = lane / 16;
  f32x4 sum = {0};
  for (u32 k = 0; k < 64; k += 16) {
    f16x4 left, right;
    for (u32 e = 0; e < 4; ++e) {
      left[e] = a[lane % 16 * 64 + k + 4 * row + e];
      right[e] = b[(k + 4 * row + e) * 16 + lane % 16];
    }
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w64_gfx12(left, right, sum);
  }
  for (u32 e = 0; e < 4; ++e) c[(8 * (row % 2) + 4 * (row / 2) + e) * 16 + lane % 16] = sum[e];
}"""
    )
    a, b = (
        np.random.default_rng(3).integers(-4, 5, shape).astype(np.float16)
        for shape in ((16, 64), (64, 16))
    )
    c = np.zeros((16, 16), np.float32)
    emulate(compile_source(source, *WAVE64), "k", 1, 64, [a, b, c])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
