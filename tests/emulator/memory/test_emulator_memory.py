"""Loads and stores of every width, space and address form, and atomics with and without results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.building import assemble, compile_source, emulate
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

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
    """Load from `input + v1` and store to `output + v2`; v1 and v2 are read from the head of the
    input."""
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


@pytest.mark.sample(4)
@pytest.mark.covering(1)
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


@pytest.mark.sample(3)
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
def test_accesses_with_two_addresses_reach_both(
    text: str, places: tuple[tuple[int, int], ...]
) -> None:
    lane = np.arange(32, dtype=np.uint32)
    inputs = np.stack([lane * 8, lane + 100, lane + 500]).astype(np.uint32)
    kind, _, rest = text.partition(" ")
    offsets = rest[rest.index("offset0") :]
    singles = "\n".join(
        f"  ds_load_b32 v{102 + n}, v1 offset:{place}" for n, (place, _) in enumerate(places)
    )
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
    expected = (
        loaded << np.uint32(16) | np.uint32(0x5678) if half else np.uint32(0x12340000) | loaded
    )
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
  u32 total = sum(mine, n) + sum((const u32 *)(box + (i & 15)), 3)
      + sum((const u32 *)(x + (i & 7)), 4);
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
