"""Vector integer instructions against Python's integers, lane by lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import join64, run_registers, samples32, samples64, split64

pytestmark = needs_tools

Model = Callable[..., int]
MASK = 0xFFFFFFFF


def s32(value: int) -> int:
    value &= MASK
    return value - (1 << 32) if value >> 31 else value


def s24(value: int) -> int:
    value &= 0xFFFFFF
    return value - (1 << 24) if value >> 23 else value


def s16(value: int) -> int:
    value &= 0xFFFF
    return value - (1 << 16) if value >> 15 else value


def clip(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def median(*values: int) -> int:
    return sorted(values)[1]


def leading(value: int, width: int = 32) -> int:
    return width - value.bit_length() if value else MASK


def perm(a: int, b: int, selector: int) -> int:
    data = (a << 32 | b).to_bytes(8, "little")
    result = 0
    for index in range(4):
        choice = selector >> 8 * index & 255
        if choice < 8:
            byte = data[choice]
        elif choice < 12:
            byte = 255 * (data[2 * (choice - 8) + 1] >> 7)
        else:
            byte = 0 if choice == 12 else 255
        result |= byte << 8 * index
    return result


def bfe_signed(a: int, b: int, c: int) -> int:
    width = c & 31
    if not width:
        return 0
    value = (s32(a) >> (b & 31)) & ((1 << width) - 1)
    return value - (1 << width) if value >> (width - 1) else value


def sad(a: int, b: int, c: int, bits: int) -> int:
    mask = (1 << bits) - 1
    return c + sum(abs((a >> n & mask) - (b >> n & mask)) for n in range(0, 32, bits))


ONE: dict[str, Model] = {
    "v_mov_b32": lambda a: a,
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": lambda a: int(f"{a:032b}"[::-1], 2),
    "v_clz_i32_u32": leading,
    "v_ctz_i32_b32": lambda a: (a & -a).bit_length() - 1 if a else MASK,
    "v_cls_i32": lambda a: leading(a ^ (MASK if a >> 31 else 0)),
    "v_cvt_u32_u16": lambda a: a & 0xFFFF,
    "v_cvt_i32_i16": s16,
}
TWO: dict[str, Model] = {
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32": lambda a, b: b << (a & 31),
    "v_lshrrev_b32": lambda a, b: b >> (a & 31),
    "v_ashrrev_i32": lambda a, b: s32(b) >> (a & 31),
    "v_add_nc_u32": lambda a, b: a + b,
    "v_sub_nc_u32": lambda a, b: a - b,
    "v_subrev_nc_u32": lambda a, b: b - a,
    "v_add_nc_i32": lambda a, b: a + b,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: s32(a) * s32(b) >> 32,
    "v_mul_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24": lambda a, b: s24(a) * s24(b),
    "v_mul_hi_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_mul_hi_i32_i24": lambda a, b: s24(a) * s24(b) >> 32,
    "v_min_i32": lambda a, b: min(s32(a), s32(b)),
    "v_max_i32": lambda a, b: max(s32(a), s32(b)),
    "v_min_u32": min,
    "v_max_u32": max,
    "v_bcnt_u32_b32": lambda a, b: a.bit_count() + b,
    "v_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "v_cvt_pk_i16_i32": lambda a, b: (
        clip(s32(a), -32768, 32767) & 0xFFFF | (clip(s32(b), -32768, 32767) & 0xFFFF) << 16
    ),
    "v_cvt_pk_u16_u32": lambda a, b: min(a, 0xFFFF) | min(b, 0xFFFF) << 16,
    "v_pk_add_u16": lambda a, b: (a + b) & 0xFFFF | ((a >> 16) + (b >> 16)) << 16,
    "v_pk_sub_i16": lambda a, b: (a - b) & 0xFFFF | ((a >> 16) - (b >> 16)) << 16,
    "v_pk_mul_lo_u16": lambda a, b: (a * b) & 0xFFFF | ((a >> 16) * (b >> 16)) << 16,
    "v_pk_max_i16": lambda a, b: (
        max(s16(a), s16(b)) & 0xFFFF | max(s16(a >> 16), s16(b >> 16)) << 16
    ),
    "v_pk_min_u16": lambda a, b: min(a & 0xFFFF, b & 0xFFFF) | min(a >> 16, b >> 16) << 16,
    "v_pk_lshlrev_b16": lambda a, b: (b << (a & 15)) & 0xFFFF | ((b >> 16) << (a >> 16 & 15)) << 16,
    "v_pk_ashrrev_i16": lambda a, b: (
        (s16(b) >> (a & 15)) & 0xFFFF | (s16(b >> 16) >> (a >> 16 & 15)) << 16
    ),
}
THREE: dict[str, Model] = {
    "v_bfe_u32": lambda a, b, c: (a >> (b & 31)) & ((1 << (c & 31)) - 1),
    "v_bfe_i32": bfe_signed,
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_perm_b32": perm,
    "v_xor3_b32": lambda a, b, c: a ^ b ^ c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_lshl_or_b32": lambda a, b, c: a << (b & 31) | c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b & MASK) << (c & 31),
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24": lambda a, b, c: s24(a) * s24(b) + c,
    "v_mad_u32_u16": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c,
    "v_mad_i32_i16": lambda a, b, c: s16(a) * s16(b) + c,
    "v_min3_i32": lambda a, b, c: min(s32(a), s32(b), s32(c)),
    "v_max3_u32": max,
    "v_med3_i32": lambda a, b, c: median(s32(a), s32(b), s32(c)),
    "v_med3_u32": median,
    "v_maxmin_i32": lambda a, b, c: min(max(s32(a), s32(b)), s32(c)),
    "v_minmax_u32": lambda a, b, c: max(min(a, b), c),
    "v_sad_u8": lambda a, b, c: sad(a, b, c, 8),
    "v_sad_u16": lambda a, b, c: sad(a, b, c, 16),
    "v_sad_u32": lambda a, b, c: sad(a, b, c, 32),
    "v_pk_mad_u16": lambda a, b, c: (
        (a * b + c) & 0xFFFF | ((a >> 16) * (b >> 16) + (c >> 16)) << 16
    ),
    "v_dot4_u32_u8": lambda a, b, c: (
        c + sum((a >> n & 255) * (b >> n & 255) for n in range(0, 32, 8))
    ),
    "v_dot8_u32_u4": lambda a, b, c: (
        c + sum((a >> n & 15) * (b >> n & 15) for n in range(0, 32, 4))
    ),
}
ALL = {**ONE, **TWO, **THREE}
SATURATING: dict[str, Model] = {
    "v_add_nc_u32 v100, v1, v2 clamp": lambda a, b: min(a + b, MASK),
    "v_sub_nc_u32 v100, v1, v2 clamp": lambda a, b: max(a - b, 0),
    "v_add_nc_i32 v100, v1, v2 clamp": lambda a, b: clip(
        s32(a) + s32(b), -(1 << 31), (1 << 31) - 1
    ),
    "v_sub_nc_i32 v100, v1, v2 clamp": lambda a, b: clip(
        s32(a) - s32(b), -(1 << 31), (1 << 31) - 1
    ),
    "v_pk_add_i16 v100, v1, v2 clamp": lambda a, b: (
        clip(s16(a) + s16(b), -32768, 32767) & 0xFFFF
        | clip(s16(a >> 16) + s16(b >> 16), -32768, 32767) << 16
    ),
    "v_pk_sub_u16 v100, v1, v2 clamp": lambda a, b: (
        max((a & 0xFFFF) - (b & 0xFFFF), 0) | max((a >> 16) - (b >> 16), 0) << 16
    ),
    "v_pk_add_u16 v100, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]": lambda a, b: (
        ((a >> 16) + b) & 0xFFFF | (a + (b >> 16)) << 16
    ),
    "v_pk_add_u16 v100, v1, 7": lambda a, b: (a + 7) & 0xFFFF | (a >> 16) << 16,
    "v_pk_add_u16 v100, v1, -1": lambda a, b: (a - 1) & 0xFFFF | ((a >> 16) - 1) << 16,
    "v_dot4_i32_iu8 v100, v1, v2, 5 neg_lo:[1,0,0]": lambda a, b: (
        5
        + sum(
            ((a >> n & 255) ^ 128) * (b >> n & 255) - 128 * (b >> n & 255) for n in range(0, 32, 8)
        )
    ),
    "v_add_nc_u32 v100, 0x12345678, v1": lambda a, b: a + 0x12345678,
    "v_and_b32 v100, -16, v1": lambda a, b: a & -16,
    "v_and_b32 v100, 1.0, v1": lambda a, b: a & 0x3F800000,
    "v_xor_b32 v100, 0.15915494, v1": lambda a, b: a ^ 0x3E22F983,
}


def model_of(model: Model, rows: Any) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.array([model(*(int(v) for v in column)) & MASK for column in rows.T], np.uint32)


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", ALL)
def test_integer_instructions_give_what_pythons_integers_give(name: str) -> None:
    count = 1 if name in ONE else 2 if name in TWO else 3
    inputs = samples32(count)
    sources = ", ".join(f"v{1 + index}" for index in range(count))
    found = run_registers(f"  {name} v100, {sources}", inputs, [100])[0]
    np.testing.assert_array_equal(found, model_of(ALL[name], inputs))


@pytest.mark.parametrize("text", SATURATING)
def test_saturation_selection_and_constants(text: str) -> None:
    inputs = samples32(2)
    found = run_registers(f"  {text}", inputs, [100])[0]
    np.testing.assert_array_equal(found, model_of(SATURATING[text], inputs))


HALVES: dict[str, Model] = {
    "v_add_nc_u16": lambda a, b: a + b,
    "v_sub_nc_i16": lambda a, b: a - b,
    "v_mul_lo_u16": lambda a, b: a * b,
    "v_lshlrev_b16": lambda a, b: b << (a & 15),
    "v_ashrrev_i16": lambda a, b: s16(b) >> (a & 15),
    "v_min_i16": lambda a, b: min(s16(a), s16(b)),
    "v_max_u16": max,
    "v_and_b16": lambda a, b: a & b,
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("selects", [(0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 1, 1)])
@pytest.mark.parametrize("name", HALVES)
def test_16_bit_instructions_touch_one_half(name: str, selects: tuple[int, int, int]) -> None:
    inputs = samples32(3)
    half = "lh"
    body = f"""  v_mov_b32 v100, v3
  {name} v100.{half[selects[2]]}, v1.{half[selects[0]]}, v2.{half[selects[1]]}"""
    found = run_registers(body, inputs, [100], attributes="+real-true16")[0]
    left, right = (
        (row >> np.uint32(16 * select)) & np.uint32(0xFFFF)
        for row, select in zip(inputs[:2], selects[:2], strict=True)
    )
    new = np.array(
        [HALVES[name](int(a), int(b)) & 0xFFFF for a, b in zip(left, right, strict=True)], np.uint32
    )
    kept = inputs[2] & np.uint32(0xFFFF if selects[2] else 0xFFFF0000)
    np.testing.assert_array_equal(found, kept | new << np.uint32(16 * selects[2]))


@pytest.mark.parametrize("name", ["v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64"])
def test_64_bit_shifts_take_six_bits_of_the_count(name: str) -> None:
    amount, wide = samples32(1)[0, :1536], samples64(1)[0]
    inputs = np.stack([amount, *split64(wide)])
    found = join64(
        *run_registers(f"  {name} v[100:101], v1, v[2:3]", inputs, [100, 101]), np.uint64
    )
    steps = amount.astype(np.uint64) & np.uint64(63)
    expected = {
        "v_lshlrev_b64": wide << steps,
        "v_lshrrev_b64": wide >> steps,
        "v_ashrrev_i64": (wide.view(np.int64) >> steps.view(np.int64)).view(np.uint64),
    }[name]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("signed", [False, True])
def test_multiply_add_to_64_bits(signed: bool) -> None:
    factors, wide = samples32(2)[:, :1536], samples64(1)[0]
    inputs = np.stack([*factors, *split64(wide)])
    name = "v_mad_co_i64_i32" if signed else "v_mad_co_u64_u32"
    body = f"  {name} v[100:101], s20, v1, v2, v[3:4]\n  v_mov_b32 v102, s20"
    low, high, carry = run_registers(body, inputs, [100, 101, 102])
    convert = s32 if signed else int
    total = [
        convert(int(a)) * convert(int(b)) + int(c) for a, b, c in zip(*factors, wide, strict=True)
    ]
    np.testing.assert_array_equal(
        join64(low, high, np.uint64), np.array([t & (1 << 64) - 1 for t in total], np.uint64)
    )
    if not signed:
        over = np.array([t >> 64 for t in total]).reshape(-1, 32)
        masks = (over.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32)
        np.testing.assert_array_equal(carry.reshape(-1, 32)[:, 0], masks)


CARRIES: dict[str, Model] = {
    "v_add_co_u32 v100, s20, v1, v2": lambda a, b, c: a + b,
    "v_sub_co_u32 v100, s20, v1, v2": lambda a, b, c: a - b,
    "v_subrev_co_u32 v100, s20, v1, v2": lambda a, b, c: b - a,
    "v_add_co_ci_u32 v100, s20, v1, v2, s21": lambda a, b, c: a + b + c,
    "v_sub_co_ci_u32 v100, s20, v1, v2, s21": lambda a, b, c: a - b - c,
    "v_subrev_co_ci_u32 v100, s20, v1, v2, s21": lambda a, b, c: b - a - c,
}


@pytest.mark.parametrize("text", CARRIES)
def test_carries_go_in_and_out_lane_by_lane(text: str) -> None:
    inputs = samples32(2)
    body = f"  s_mov_b32 s21, 0x5a5a00ff\n  {text}\n  v_mov_b32 v101, s20"
    result, mask = run_registers(body, inputs, [100, 101])
    carry_in = np.array([0x5A5A00FF >> (lane % 32) & 1 for lane in range(inputs.shape[1])])
    exact = [
        CARRIES[text](int(a), int(b), int(c)) for a, b, c in zip(*inputs, carry_in, strict=True)
    ]
    np.testing.assert_array_equal(result, np.array([value & MASK for value in exact], np.uint32))
    carried = np.array([value < 0 or value > MASK for value in exact]).reshape(-1, 32)
    expected = (carried.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1)
    np.testing.assert_array_equal(mask.reshape(-1, 32)[:, 0], expected)


def test_mbcnt_counts_the_lanes_below() -> None:
    inputs = samples32(2)
    found = run_registers(
        "  v_mbcnt_lo_u32_b32 v100, v1, v2\n  v_mbcnt_hi_u32_b32 v101, -1, v100", inputs, [100, 101]
    )
    expected = [
        ((int(a) & (1 << (lane % 32)) - 1).bit_count() + int(b)) & MASK
        for lane, (a, b) in enumerate(inputs.T)
    ]
    np.testing.assert_array_equal(found[0], np.array(expected, np.uint32))
    np.testing.assert_array_equal(found[1], found[0])


def test_dual_issue_reads_everything_before_it_writes() -> None:
    inputs = samples32(4)
    body = (
        "  v_dual_mov_b32 v1, v2 :: v_dual_add_nc_u32 v2, v1, v3\n  v_mov_b32 v100, v1\n  "
        "v_mov_b32 v101, v2"
    )
    found = run_registers(body, inputs, [100, 101])
    np.testing.assert_array_equal(found[0], inputs[1])
    np.testing.assert_array_equal(found[1], inputs[0] + inputs[2])


def test_inactive_lanes_keep_their_values_and_compare_as_zero() -> None:
    inputs = samples32(2)
    body = """  v_mov_b32 v100, v2
  s_mov_b32 exec_lo, 0x0ff000ff
  v_add_nc_u32 v100, v1, v1
  v_cmp_eq_u32 s20, v1, v1
  s_mov_b32 exec_lo, -1
  v_mov_b32 v101, s20"""
    found = run_registers(body, inputs, [100, 101])
    active = np.array([0x0FF000FF >> (lane % 32) & 1 for lane in range(inputs.shape[1])], bool)
    np.testing.assert_array_equal(found[0], np.where(active, inputs[0] * np.uint32(2), inputs[1]))
    np.testing.assert_array_equal(found[1], np.full(inputs.shape[1], 0x0FF000FF, np.uint32))


def test_bytes_by_a_selector_that_is_known() -> None:
    inputs = samples32(2)[:, :256]
    random = np.random.default_rng(5)
    selectors = [0x05040100, 0x07060302, 0x0C0C0C0C, 0x0D0B0A09, 0x08080008, 0x03020100, 0x07060504]
    selectors += [
        int.from_bytes(random.integers(0, 16, 4, np.uint8).tobytes(), "little") for _ in range(30)
    ]
    body = "\n".join(
        f"  v_perm_b32 v{100 + place}, v1, v2, {value:#x}" for place, value in enumerate(selectors)
    )
    found = run_registers(body, inputs, [100 + place for place in range(len(selectors))])
    for row, selector in zip(found, selectors, strict=True):
        expected = [perm(int(a), int(b), selector) for a, b in inputs.T]
        np.testing.assert_array_equal(row, np.array(expected, np.uint32), err_msg=hex(selector))
