"""Loads and stores of every width, space and address form, and atomics with and without results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from building import assemble, compile_kernel, compile_source, emulate, missing_tools
from numpy.typing import NDArray
from single_instruction import run_registers

from amdjit.diagnostics.errors import KernelFault

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")

HEAD = '#include "common.h"\n'
WIDTHS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "u96": 12, "u128": 16}
PATTERNS = {
    "consecutive": lambda lane: lane,
    "reversed": lambda lane: 31 - lane,
    "strided": lambda lane: lane * 3,
    "same": lambda lane: lane * 0 + 5,
    "halves": lambda lane: lane % 16 + 40 * (lane // 16),
    "shuffled": lambda lane: (lane * 7 + 3) % 32,
}
NAMES = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 12: "b96", 16: "b128"}
LOADS = {1: "u8", 2: "u16", 4: "b32", 8: "b64", 12: "b96", 16: "b128"}
MASKS = (0xFFFFFFFF, 0x0001FFFF, 0x5A5A5A5A, 0)


def registers(first: int, size: int) -> str:
    count = max(1, size // 4)
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


def copy_body(space: str, size: int, mask: int) -> str:
    """Load from `input + v1` and store to `output + v2`; v1 and v2 are read from the head of the input."""
    loads, stores = LOADS[size], NAMES[size]
    data = registers(10, size)
    prologue = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_wait_kmcnt 0x0
  global_load_b32 v1, v0, s[0:1]
  global_load_b32 v2, v0, s[0:1] offset:128
  s_wait_loadcnt 0x0
  s_mov_b32 exec_lo, {mask:#x}
"""
    if space == "saddr":
        return f"""{prologue}
  global_load_{loads} {data}, v1, s[0:1] offset:256
  s_wait_loadcnt 0x0
  global_store_{stores} v2, {data}, s[2:3]
"""
    wide = """
  v_add_co_u32 v4, vcc_lo, s0, v1
  v_add_co_ci_u32 v5, vcc_lo, s1, 0, vcc_lo
  v_add_co_u32 v6, vcc_lo, s2, v2
  v_add_co_ci_u32 v7, vcc_lo, s3, 0, vcc_lo
"""
    suffix = ", off" if space == "global" else ""
    return f"""{prologue}{wide}
  {space}_load_{loads} {data}, v[4:5]{suffix} offset:256
  s_wait_loadcnt 0x0
  {space}_store_{stores} v[6:7], {data}{suffix}
"""


@pytest.mark.parametrize("space", ["saddr", "global", "flat"])
@pytest.mark.parametrize("size", NAMES)
def test_copies_of_every_width_and_pattern(size: int, space: str) -> None:
    lane = np.arange(32)
    random = np.random.default_rng(size)
    for mask in MASKS:
        code = assemble(copy_body(space, size, mask))
        for source in PATTERNS.values():
            for target in PATTERNS.values():
                payload = random.integers(0, 256, 4096, np.uint8)
                offsets = np.stack([source(lane) * size, target(lane) * size]).astype(np.uint32)
                data = np.concatenate([offsets.reshape(-1).view(np.uint8), payload])
                output = np.full(4096, 0xEE, np.uint8)
                expected = output.copy()
                for n in lane:
                    if mask >> int(n) & 1:
                        start, end = int(offsets[0, n]), int(offsets[1, n])
                        expected[end : end + size] = payload[start : start + size]
                emulate(code, "kernel", 1, 32, [data, output])
                np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("size", NAMES)
def test_lds_copies_of_every_width_and_pattern(size: int) -> None:
    lane = np.arange(32)
    data, count = registers(10, size), max(1, size // 4)
    fill = "\n".join(f"  v_mov_b32 v{10 + n}, v{3 + n}" for n in range(count))
    back = registers(100, size)
    for mask in MASKS[:3]:
        body = f"""{fill}
  s_mov_b32 exec_lo, {mask:#x}
  ds_store_{NAMES[size]} v1, {data} offset:64
  s_wait_dscnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
  ds_load_{LOADS[size]} {back}, v2 offset:64
  s_wait_dscnt 0x0"""
        for target in PATTERNS.values():
            offsets = (target(lane) * size).astype(np.uint32)
            values = np.random.default_rng(1).integers(0, 1 << 32, (count, 32), np.uint32)
            inputs = np.stack([offsets, offsets, *values])
            names = list(range(100, 100 + count))
            found = run_registers(body, inputs, names, lds=8192)
            wanted = values & np.uint32((1 << 8 * min(size, 4)) - 1)
            for n in lane:
                if mask >> int(n) & 1:
                    same = [m for m in lane if offsets[m] == offsets[n] and mask >> int(m) & 1]
                    np.testing.assert_array_equal(found[:, n], wanted[:, same[-1]])


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("b32 v1, v2, v3 offset0:3 offset1:9", ((12, 2), (36, 3))),
        ("b32 v1, v2, v3 offset0:3 offset1:4", ((12, 2), (16, 3))),
        ("stride64_b32 v1, v2, v3 offset0:1 offset1:3", ((256, 2), (768, 3))),
    ],
)
def test_two_addresses(text: str, places: tuple[tuple[int, int], ...]) -> None:
    lane = np.arange(32, dtype=np.uint32)
    inputs = np.stack([lane * 8, lane + 100, lane + 500]).astype(np.uint32)
    kind, _, rest = text.partition(" ")
    offsets = rest[rest.index("offset0") :]
    singles = "\n".join(f"  ds_load_b32 v{102 + n}, v1 offset:{place}" for n, (place, _) in enumerate(places))
    body = f"""  ds_store_2addr_{text}
  s_wait_dscnt 0x0
  ds_load_2addr_{kind} v[100:101], v1 {offsets}
{singles}
  s_wait_dscnt 0x0"""
    found = run_registers(body, inputs, [100, 101, 102, 103], lds=4096)
    # Stores overlap where lanes are 8 bytes apart; a load of the same place tells what is there.
    np.testing.assert_array_equal(found[:2], found[2:])


HALF_LOADS = {
    "d16_u8": (1, False, 0),
    "d16_i8": (1, True, 0),
    "d16_b16": (2, False, 0),
    "d16_hi_u8": (1, False, 1),
    "d16_hi_i8": (1, True, 1),
    "d16_hi_b16": (2, False, 1),
}


@pytest.mark.parametrize("name", HALF_LOADS)
def test_half_register_loads_keep_the_other_half(name: str) -> None:
    size, signed, half = HALF_LOADS[name]
    body = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  v_mov_b32 v5, 0x12345678
  global_load_{name} v5, v1, s[0:1]
  s_wait_loadcnt 0x0
  global_store_b32 v1, v5, s[2:3]
"""
    data = np.random.default_rng(3).integers(0, 1 << 32, 32, np.uint32)
    output = np.zeros(32, np.uint32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    kind = {(1, False): np.uint8, (1, True): np.int8, (2, False): np.uint16}[size, signed]
    loaded = data.view(kind)[:: 4 // size].astype(np.int32).view(np.uint32) & np.uint32(0xFFFF)
    expected = loaded << np.uint32(16) | np.uint32(0x5678) if half else np.uint32(0x12340000) | loaded
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("name", ["d16_hi_b8", "d16_hi_b16"])
def test_stores_of_the_upper_half(name: str) -> None:
    body = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_wait_kmcnt 0x0
  global_load_b32 v5, v1, s[0:1]
  s_wait_loadcnt 0x0
  global_store_{name} v1, v5, s[2:3]
"""
    data = np.random.default_rng(3).integers(0, 1 << 32, 32, np.uint32)
    output = np.zeros(32, np.uint32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    mask = np.uint32(0xFF if name.endswith("b8") else 0xFFFF)
    np.testing.assert_array_equal(output, data >> np.uint32(16) & mask)


def test_private_memory_through_scratch_and_flat_addresses() -> None:
    source = """
__attribute__((noinline)) static u32 sum(const u32 *p, u32 n) {
  u32 s = 0;
  for (u32 k = 0; k < n; ++k) s += p[k];
  return s;
}
SHARED u32 box[64];
KERNEL flat(GLOBAL u32 *x, u32 n) {
  u32 mine[16], i = LANE;
  for (u32 k = 0; k < 16; ++k) mine[k] = x[i] * k + i;
  box[i] = x[i]; box[i + 32] = i;
  barrier();
  u32 total = sum(mine, n) + sum((const u32 *)(box + (i & 15)), 3) + sum((const u32 *)(x + (i & 7)), 4);
  barrier();
  x[i] = total;
}
"""
    values = np.random.default_rng(1).integers(0, 1000, 32, np.uint32)
    for level in ("-O0", "-O3"):
        x = values.copy()
        emulate(compile_source(HEAD + source, level), "flat", 1, 32, [x, np.uint32(9)])
        lane = np.arange(32)
        box = np.concatenate([values, lane])
        expected = [
            sum(int(values[i]) * k + i for k in range(9))
            + int(box[i & 15 :][:3].sum())
            + int(values[i & 7 :][:4].sum())
            for i in range(32)
        ]
        np.testing.assert_array_equal(x, np.array(expected, np.uint32))


def test_constant_tables_are_read_through_the_program_counter() -> None:
    source = """
__attribute__((address_space(4))) static const u32 table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
KERNEL look(GLOBAL u32 *x) { x[LANE] = table[x[LANE] & 7] * 10; }
"""
    x = np.arange(32, dtype=np.uint32)
    emulate(compile_source(HEAD + source), "look", 1, 32, [x])
    np.testing.assert_array_equal(x, np.tile([30, 10, 40, 10, 50, 90, 20, 60], 4))


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


def atomic_model(name: str, memory: NDArray[Any], places: NDArray[Any], data: NDArray[Any], mask: int) -> NDArray[Any]:
    """Apply lane by lane; returns the old values, 0 in inactive lanes."""
    old = np.zeros(32, np.uint32)
    for lane in range(32):
        if mask >> lane & 1:
            old[lane] = memory[places[lane]]
            memory[places[lane]] = ATOMICS[name](int(old[lane]), int(data[lane])) & 0xFFFFFFFF
    return old


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
    lds_name = name.replace("swap", "storexchg").replace("_u32", "_rtn_u32").replace("_i32", "_rtn_i32")
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
    data = random.integers(0, 1 << 32, 32, np.uint32) >> random.integers(0, 31, 32).astype(np.uint32)
    memory = random.integers(0, 1 << 32, 32, np.uint32) >> random.integers(0, 31, 32).astype(np.uint32)
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
def test_float_atomics(text: str) -> None:
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


@pytest.mark.parametrize("threads", [1, 4])
def test_compare_and_swap_loops_of_many_groups_lose_nothing(threads: int) -> None:
    source = """
KERNEL count(GLOBAL u32 *x, GLOBAL float *f) {
  u32 old = x[0];
  if (LANE % 3 == 0) return;
  while (!__atomic_compare_exchange_n(&x[0], &old, old + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) ;
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


BUFFER = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_wait_kmcnt 0x0
  s_mov_b32 s8, s0
  s_and_b32 s9, s1, 0xffff
  s_mov_b32 s10, 100
  s_mov_b32 s11, 0x30000000
  s_mov_b32 s12, s2
  s_and_b32 s13, s3, 0xffff
  s_mov_b32 s14, 64
  s_mov_b32 s15, 0x30000000
  s_mov_b32 s16, 8
"""


def test_raw_buffers_load_zero_and_store_nothing_out_of_bounds() -> None:
    body = f"""{BUFFER}
  v_mov_b32 v1, -1
  buffer_load_b32 v1, v0, s[8:11], s16 offen offset:4
  s_wait_loadcnt 0x0
  buffer_store_b32 v1, v0, s[12:15], null offen
  s_buffer_load_b64 s[20:21], s[8:11], 96
  s_wait_kmcnt 0x0
  v_dual_mov_b32 v2, s20 :: v_dual_mov_b32 v3, s21
  v_mov_b32 v4, 0
  global_store_b64 v4, v[2:3], s[2:3] offset:240
"""
    data = np.arange(1, 65, dtype=np.uint32)
    output = np.full(64, 7, np.uint32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    loaded = np.array([data[n + 3] if 4 * n + 8 <= 100 else 0 for n in range(32)])
    np.testing.assert_array_equal(output[:16], loaded[:16])
    np.testing.assert_array_equal(output[16:60], np.full(44, 7))
    np.testing.assert_array_equal(output[60:62], [25, 0])


def test_buffers_with_records_and_atomics() -> None:
    body = f"""{BUFFER}
  s_or_b32 s9, s9, 0x100000
  s_mov_b32 s10, 10
  s_mov_b32 s11, 0
  v_lshrrev_b32 v5, 2, v0
  v_mov_b32 v6, 4
  buffer_load_b32 v1, v[5:6], s[8:11], null idxen offen offset:4
  s_wait_loadcnt 0x0
  v_mov_b32 v2, 3
  buffer_atomic_add_u32 v2, off, s[12:15], s16 th:TH_ATOMIC_RETURN
  s_wait_loadcnt 0x0
  v_add_nc_u32 v1, v1, v2
  global_store_b32 v0, v1, s[2:3] offset:64
"""
    data = np.arange(64, dtype=np.uint32) * 100
    output = np.zeros(64, np.uint32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    assert output[2] == 96
    expected = [(data[4 * n + 2] if n < 10 else 0) + 3 * n for n in range(32)]
    np.testing.assert_array_equal(output[16:48], expected)


def test_what_a_buffer_claims_beyond_the_allocation_is_still_checked() -> None:
    body = (
        BUFFER.replace("s_mov_b32 s10, 100", "s_mov_b32 s10, 0x100000")
        + "  buffer_load_b32 v1, off, s[8:11], s16 offset:4096\n"
    )
    with pytest.raises(KernelFault, match="load of 4 bytes"):
        emulate(assemble(body), "kernel", 1, 32, [np.zeros(4, np.uint32), np.zeros(4, np.uint32)])
