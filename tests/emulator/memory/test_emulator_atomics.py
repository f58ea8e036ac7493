"""Atomics with and without results, on every space, within a wave and between host threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.building import assemble, compile_kernel, compile_source, emulate
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

HEAD = '#include "common.h"\n'

ATOMICS: dict[str, Any] = {
    "add_u32": lambda m, d: m + d,
    "sub_u32": lambda m, d: m - d,
    "sub_clamp_u32": lambda m, d: max(m - d, 0),
    "cond_sub_u32": lambda m, d: m - d if m >= d else m,
    "min_u32": min,
    "max_u32": max,
    "min_i32": lambda m, d: min(m, d, key=lambda v: v - (1 << 32) if v >> 31 else v),
    "max_i32": lambda m, d: max(m, d, key=lambda v: v - (1 << 32) if v >> 31 else v),
    "and_b32": lambda m, d: m & d,
    "or_b32": lambda m, d: m | d,
    "xor_b32": lambda m, d: m ^ d,
    "inc_u32": lambda m, d: 0 if m >= d else m + 1,
    "dec_u32": lambda m, d: d if m == 0 or m > d else m - 1,
    "swap_b32": lambda m, d: d,
}


def atomic_model(
    name: str, memory: NDArray[Any], places: NDArray[Any], data: NDArray[Any], mask: int
) -> NDArray[Any]:
    """Apply lane by lane; returns the old values, 0 in inactive lanes."""
    old = np.zeros(32, np.uint32)
    for lane in range(32):
        if mask >> lane & 1:
            old[lane] = memory[places[lane]]
            memory[places[lane]] = ATOMICS[name](int(old[lane]), int(data[lane])) & 0xFFFFFFFF
    return old


@pytest.mark.covering(1)
@pytest.mark.parametrize("space", ["global", "flat", "lds"])
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics_return_what_was_there_in_the_order_of_lanes(name: str, space: str) -> None:
    mask = 0x7FFFFFF7
    setup = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  v_mov_b32 v20, 0
  s_wait_kmcnt 0x0
  global_load_b32 v1, v0, s[0:1]
  global_load_b32 v2, v0, s[0:1] offset:128
  global_load_b32 v3, v0, s[0:1] offset:256
  s_wait_loadcnt 0x0
  v_lshlrev_b32 v1, 2, v1
"""
    lds_name = (
        name.replace("swap", "storexchg").replace("_u32", "_rtn_u32").replace("_i32", "_rtn_i32")
    )
    steps = {
        "global": f"""
  global_store_b32 v0, v3, s[2:3] offset:128
  s_mov_b32 exec_lo, {mask:#x}
  global_atomic_{name} v20, v1, v2, s[2:3] offset:128 th:TH_ATOMIC_RETURN
""",
        "flat": f"""
  global_store_b32 v0, v3, s[2:3] offset:128
  v_add_co_u32 v4, vcc_lo, s2, v1
  v_add_co_ci_u32 v5, vcc_lo, s3, 0, vcc_lo
  s_mov_b32 exec_lo, {mask:#x}
  flat_atomic_{name} v20, v[4:5], v2 offset:128 th:TH_ATOMIC_RETURN
""",
        "lds": f"""
  ds_store_b32 v0, v3
  s_mov_b32 exec_lo, {mask:#x}
  ds_{lds_name.replace("_b32", "_rtn_b32")} v20, v1, v2
  s_mov_b32 exec_lo, -1
  ds_load_b32 v21, v0
  s_wait_dscnt 0x0
  global_store_b32 v0, v21, s[2:3] offset:128
""",
    }[space]
    body = f"{setup}{steps}\n  s_mov_b32 exec_lo, -1\n  global_store_b32 v0, v20, s[2:3]\n"
    random = np.random.default_rng(4)
    places = random.integers(0, 6, 32)
    data = random.integers(0, 1 << 32, 32, np.uint32) >> random.integers(0, 31, 32).astype(
        np.uint32
    )
    memory = random.integers(0, 1 << 32, 32, np.uint32) >> random.integers(0, 31, 32).astype(
        np.uint32
    )
    inputs = np.stack([places.astype(np.uint32), data, memory])
    output = np.zeros((2, 32), np.uint32)
    emulate(assemble(body, lds=1024), "kernel", 1, 32, [inputs, output])
    expected = memory.copy()
    old = atomic_model(name, expected, places, data, mask)
    np.testing.assert_array_equal(output[1], expected)
    np.testing.assert_array_equal(output[0], old)


FLOAT_ATOMICS = {
    "global_atomic_add_f32 v20, v1, v2, s[2:3] th:TH_ATOMIC_RETURN": lambda m, d: m + d,
    "global_atomic_min_num_f32 v20, v1, v2, s[2:3] th:TH_ATOMIC_RETURN": np.fmin,
    "global_atomic_max_num_f32 v20, v1, v2, s[2:3] th:TH_ATOMIC_RETURN": np.fmax,
}


@pytest.mark.parametrize("text", FLOAT_ATOMICS)
def test_float_atomics_are_numpys(text: str) -> None:
    body = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  v_mov_b32 v1, 0
  s_wait_kmcnt 0x0
  global_load_b32 v2, v0, s[0:1]
  s_wait_loadcnt 0x0
  {text}
  s_wait_loadcnt 0x0
  global_store_b32 v0, v20, s[2:3] offset:128
"""
    data = np.random.default_rng(5).standard_normal(32).astype(np.float32)
    data[3] = np.nan if "add" not in text else 1
    output = np.zeros(64, np.float32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    value = np.float32(0)
    for lane in range(32):
        np.testing.assert_array_equal(output[32 + lane], value)
        value = np.float32(FLOAT_ATOMICS[text](value, data[lane]))
    np.testing.assert_array_equal(output[0], value)


FIRST_NAN, SECOND_NAN, LOUD = 0x7FC12345, 0xFFD54321, 0xFF800777


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        (
            "add_f32",
            {
                (FIRST_NAN, SECOND_NAN): FIRST_NAN,
                (0x3F800000, LOUD): LOUD | 1 << 22,
                (LOUD, SECOND_NAN): LOUD | 1 << 22,
                (0x7F800000, 0xFF800000): 0xFFC00000,
            },
        ),
        (
            "min_num_f32",
            {
                (FIRST_NAN, SECOND_NAN): FIRST_NAN,
                (LOUD, 0x3F800000): 0x3F800000,
                (0, 1 << 31): 1 << 31,
            },
        ),
        (
            "max_num_f32",
            {(SECOND_NAN, FIRST_NAN): SECOND_NAN, (0x40000000, LOUD): 0x40000000, (0, 1 << 31): 0},
        ),
        (
            "pk_add_f16",
            {(0x7E117C00, 0xFE22FC00): 0x7E11FE00, (0x3C00FC01, 0x3C007E00): 0x4000FE01},
        ),
    ],
)
def test_nans_of_float_atomics_do_not_depend_on_the_host(
    name: str, pairs: dict[tuple[int, int], int]
) -> None:
    inputs = np.array(list(pairs), np.uint32).T
    body = f"""  global_store_b32 v250, v1, s[2:3]
  s_wait_storecnt 0x0
  global_atomic_{name} v250, v2, s[2:3]
  s_wait_storecnt 0x0
  global_load_b32 v100, v250, s[2:3]
  s_wait_loadcnt 0x0"""
    filled = np.zeros((2, 32), np.uint32)
    filled[:, : inputs.shape[1]] = inputs
    found = run_registers(body, filled, [100])[0, : len(pairs)]
    assert [f"{value:08x}" for value in found] == [f"{value:08x}" for value in pairs.values()]


@pytest.mark.parametrize("threads", [1, 4])
def test_compare_and_swap_loops_of_many_groups_lose_nothing(threads: int) -> None:
    source = """
KERNEL count(GLOBAL u32 *x, GLOBAL float *f) {
  u32 old = x[0];
  if (LANE % 3 == 0) return;
  while (!__atomic_compare_exchange_n(&x[0], &old, old + 1, 0, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) ;
  __atomic_fetch_add(&f[0], 1.0f, __ATOMIC_RELAXED);
}
"""
    x, f = np.zeros(1, np.uint32), np.zeros(1, np.float32)
    emulate(compile_source(HEAD + source), "count", 50, 96, [x, f], threads=threads)
    assert x[0] == 50 * 64
    assert f[0] == 50 * 64


def test_the_kernel_of_atomics() -> None:
    x, y = np.zeros(300, np.uint32), np.full(300, 1 << 20, np.int32)
    y[1] = -100
    f, w = np.zeros(1, np.float32), np.zeros(300, np.uint64)
    emulate(compile_kernel("atomics"), "atomics", 1, 256, [x, y, f, w])
    assert f[0] == 128
    assert w[0] == sum(lane << 33 for lane in range(256))
    assert y[0] == -5
    assert sorted([*w[2:257].tolist(), int(w[1])])[-1] == 255
