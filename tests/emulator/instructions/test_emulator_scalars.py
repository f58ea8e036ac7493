"""Scalar instructions, result and SCC, against Python's integers; EXEC manipulation; scalar
floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.emulator.building import assemble, emulate
from tests.emulator.model.scalars import EXEC_OPS
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
_RANDOM = np.random.default_rng(11)
PAIRS = [
    (a, b)
    for a in (0, 1, 5, 31, 32, 0x7FFFFFFF, 0x80000000, M32, 0x12345678, 0x00FF00FF)
    for b in (0, 1, 3, 31, 33, 0x7FFFFFFF, 0x80000000, M32, 0x00100004, 0x9ABCDEF0)
]
WIDE = [
    (int(a), int(b))
    for a, b in zip(
        _RANDOM.integers(0, 1 << 64, 60, np.uint64),
        _RANDOM.integers(0, 1 << 64, 60, np.uint64),
        strict=True,
    )
] + [(0, 0), (M64, M64), (1 << 63, 1), (0, 5), (M64, 0), (7, 7)]


def s32(value: int) -> int:
    return value - (1 << 32) if value >> 31 & 1 else value


def s64(value: int) -> int:
    return value - (1 << 64) if value >> 63 & 1 else value


def field(value: int, spec: int, width: int, signed: bool) -> int:
    offset, length = spec & (width - 1), spec >> 16 & 127
    if signed and value >> width - 1:
        value -= 1 << width
    bits = value >> offset & ((1 << min(length, width)) - 1)
    if signed and length and length <= width and bits >> (length - 1):
        bits -= 1 << length
    return bits


def run_scalar(body: str, operands: list[tuple[int, int]], wide: bool) -> list[tuple[int, int]]:
    """Run `body` for each pair in s[20:21] and s[22:23]; returns (s[24:25], SCC). SCC is 1
    before."""
    text = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  s_lshl_b32 s5, ttmp9, 4
  s_wait_kmcnt 0x0
  s_add_co_u32 s0, s0, s5
  s_add_co_ci_u32 s1, s1, 0
  s_load_b128 s[20:23], s[0:1], 0x0
  s_mul_i32 s5, ttmp9, 12
  s_add_co_u32 s2, s2, s5
  s_add_co_ci_u32 s3, s3, 0
  s_mov_b64 s[24:25], 0
  s_wait_kmcnt 0x0
  s_cmp_eq_u32 s5, s5
  {body}
  s_cselect_b32 s26, 1, 0
  v_mov_b32 v1, 0
  v_dual_mov_b32 v2, s24 :: v_dual_mov_b32 v3, s25
  v_mov_b32 v4, s26
  global_store_b96 v1, v[2:4], s[2:3]
"""
    data = np.array(operands, np.uint64)
    output = np.zeros((len(operands), 3), np.uint32)
    emulate(assemble(text), "kernel", len(operands), 1, [data, output])
    return [
        (int(low) | int(high) << 32 if wide else int(low), int(scc)) for low, high, scc in output
    ]


Model = Callable[[int, int], tuple[int, bool | None]]


def nonzero(model: Callable[[int, int], int], width: int = 32) -> Model:
    mask = (1 << width) - 1
    return lambda a, b: (model(a, b) & mask, bool(model(a, b) & mask))


def unchanged(model: Callable[[int, int], int]) -> Model:
    return lambda a, b: (model(a, b), None)


def overflow(value: int) -> bool:
    return not -(1 << 31) <= value < 1 << 31


NARROW: dict[str, Model] = {
    "s_add_co_u32": lambda a, b: (a + b, a + b > M32),
    "s_sub_co_u32": lambda a, b: (a - b, a < b),
    "s_add_co_i32": lambda a, b: (a + b, overflow(s32(a) + s32(b))),
    "s_sub_co_i32": lambda a, b: (a - b, overflow(s32(a) - s32(b))),
    "s_add_co_ci_u32": lambda a, b: (a + b + 1, a + b + 1 > M32),
    "s_sub_co_ci_u32": lambda a, b: (a - b - 1, a - b - 1 < 0),
    "s_absdiff_i32": nonzero(lambda a, b: abs(s32((s32(a) - s32(b)) & M32))),
    "s_lshl_b32": nonzero(lambda a, b: a << (b & 31)),
    "s_lshr_b32": nonzero(lambda a, b: a >> (b & 31)),
    "s_ashr_i32": nonzero(lambda a, b: s32(a) >> (b & 31)),
    "s_lshl3_add_u32": lambda a, b: ((a << 3) + b, (a << 3) + b > M32),
    "s_min_i32": lambda a, b: (min(s32(a), s32(b)), s32(a) < s32(b)),
    "s_max_u32": lambda a, b: (max(a, b), a >= b),
    "s_and_b32": nonzero(lambda a, b: a & b),
    "s_or_b32": nonzero(lambda a, b: a | b),
    "s_xor_b32": nonzero(lambda a, b: a ^ b),
    "s_nand_b32": nonzero(lambda a, b: ~(a & b)),
    "s_nor_b32": nonzero(lambda a, b: ~(a | b)),
    "s_xnor_b32": nonzero(lambda a, b: ~(a ^ b)),
    "s_and_not1_b32": nonzero(lambda a, b: a & ~b),
    "s_or_not1_b32": nonzero(lambda a, b: a | ~b),
    "s_bfe_u32": nonzero(lambda a, b: field(a, b, 32, False)),
    "s_bfe_i32": nonzero(lambda a, b: field(a, b, 32, True)),
    "s_bfm_b32": unchanged(lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    "s_mul_i32": unchanged(lambda a, b: a * b),
    "s_mul_hi_u32": unchanged(lambda a, b: a * b >> 32),
    "s_mul_hi_i32": unchanged(lambda a, b: s32(a) * s32(b) >> 32),
    "s_pack_ll_b32_b16": unchanged(lambda a, b: a & 0xFFFF | b << 16),
    "s_pack_lh_b32_b16": unchanged(lambda a, b: a & 0xFFFF | b & 0xFFFF0000),
    "s_pack_hh_b32_b16": unchanged(lambda a, b: a >> 16 | b & 0xFFFF0000),
    "s_pack_hl_b32_b16": unchanged(lambda a, b: a >> 16 | b << 16),
    "s_cselect_b32": unchanged(lambda a, b: a),
}


@pytest.mark.parametrize("name", NARROW)
def test_scalar_instructions_of_two_operands_give_result_and_scc(name: str) -> None:
    found = run_scalar(f"{name} s24, s20, s22", PAIRS, False)
    for (a, b), (result, scc) in zip(PAIRS, found, strict=True):
        value, condition = NARROW[name](a, b)
        assert (result, scc) == (value & M32, 1 if condition is None else int(condition)), (
            hex(a),
            hex(b),
        )


DOUBLE: dict[str, Model] = {
    "s_and_b64": nonzero(lambda a, b: a & b, 64),
    "s_or_not1_b64": nonzero(lambda a, b: a | ~b, 64),
    "s_xnor_b64": nonzero(lambda a, b: ~(a ^ b), 64),
    "s_lshl_b64": nonzero(lambda a, b: a << (b & 63), 64),
    "s_lshr_b64": nonzero(lambda a, b: a >> (b & 63), 64),
    "s_ashr_i64": nonzero(lambda a, b: s64(a) >> (b & 63), 64),
    "s_bfe_u64": nonzero(lambda a, b: field(a, b & M32, 64, False), 64),
    "s_bfe_i64": nonzero(lambda a, b: field(a, b & M32, 64, True), 64),
    "s_add_nc_u64": unchanged(lambda a, b: a + b),
    "s_sub_nc_u64": unchanged(lambda a, b: a - b),
    "s_mul_u64": unchanged(lambda a, b: a * b),
    "s_cselect_b64": unchanged(lambda a, b: a),
}
_NARROW_SECOND = ("s_lshl_b64", "s_lshr_b64", "s_ashr_i64", "s_bfe_u64", "s_bfe_i64")


@pytest.mark.parametrize("name", DOUBLE)
def test_scalar_instructions_of_two_wide_operands_give_result_and_scc(name: str) -> None:
    second = "s22" if name in _NARROW_SECOND else "s[22:23]"
    found = run_scalar(f"{name} s[24:25], s[20:21], {second}", WIDE, True)
    for (a, b), (result, scc) in zip(WIDE, found, strict=True):
        value, condition = DOUBLE[name](a, b)
        assert (result, scc) == (value & M64, 1 if condition is None else int(condition)), (
            hex(a),
            hex(b),
        )


def replicate(a: int) -> int:
    return sum(3 << 2 * n for n in range(32) if a >> n & 1)


ONE: dict[str, tuple[Callable[[int], int], bool]] = {
    "s_mov_b32": (lambda a: a, False),
    "s_not_b32": (lambda a: ~a, True),
    "s_brev_b32": (lambda a: int(f"{a:032b}"[::-1], 2), False),
    "s_ctz_i32_b32": (lambda a: (a & -a).bit_length() - 1, False),
    "s_clz_i32_u32": (lambda a: 32 - a.bit_length() if a else -1, False),
    "s_cls_i32": (
        lambda a: (lambda f: 32 - f.bit_length() if f else -1)(a ^ M32 if a >> 31 else a),
        False,
    ),
    "s_sext_i32_i8": (lambda a: (a & 255 ^ 128) - 128, False),
    "s_sext_i32_i16": (lambda a: (a & 0xFFFF ^ 0x8000) - 0x8000, False),
    "s_abs_i32": (lambda a: abs(s32(a)), True),
    "s_bcnt1_i32_b32": (lambda a: a.bit_count(), True),
    "s_bcnt0_i32_b32": (lambda a: 32 - a.bit_count(), True),
    "s_quadmask_b32": (lambda a: sum(1 << n for n in range(8) if a >> 4 * n & 15), True),
    "s_wqm_b32": (lambda a: sum(15 << 4 * n for n in range(8) if a >> 4 * n & 15), True),
}


@pytest.mark.parametrize("name", ONE)
def test_scalar_instructions_of_one_operand_give_result_and_scc(name: str) -> None:
    model, sets = ONE[name]
    for (a, _), (result, scc) in zip(
        PAIRS, run_scalar(f"{name} s24, s20", PAIRS, False), strict=True
    ):
        expected = model(a) & M32
        assert (result, scc) == (expected, int(bool(expected)) if sets else 1), hex(a)


WIDE_ONE: dict[str, Callable[[int], int]] = {
    "s_ctz_i32_b64 s24, s[20:21]": lambda a: (a & -a).bit_length() - 1 & M32,
    "s_clz_i32_u64 s24, s[20:21]": lambda a: (64 - a.bit_length() if a else -1) & M32,
    "s_bcnt1_i32_b64 s24, s[20:21]": lambda a: a.bit_count(),
    "s_brev_b64 s[24:25], s[20:21]": lambda a: int(f"{a:064b}"[::-1], 2),
    "s_bitreplicate_b64_b32 s[24:25], s20": lambda a: replicate(a & M32),
    "s_bitset1_b64 s[24:25], s20": lambda a: 1 << (a & 63),
    "s_mov_b64 s[24:25], -16": lambda a: M64 - 15,
    "s_mov_b64 s[24:25], 0x80000000": lambda a: 0x80000000,
    "s_mov_b64 s[24:25], 1.0": lambda a: 0x3FF0000000000000,
    "s_movk_i32 s24, 0xff80": lambda a: 0xFFFFFF80,
    "s_add_nc_u64 s[24:25], s[20:21], -1": lambda a: a - 1 & M64,
}


@pytest.mark.parametrize("text", WIDE_ONE)
def test_wide_and_constant_operands(text: str) -> None:
    for (a, _), (result, _) in zip(WIDE, run_scalar(text, WIDE, True), strict=True):
        assert result == WIDE_ONE[text](a), hex(a)


COMPARISONS = {"eq": "==", "lg": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["i32", "u32"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_scalar_comparisons_set_scc(name: str, kind: str) -> None:
    found = run_scalar(f"s_cmp_{name}_{kind} s20, s22", PAIRS, False)
    for (a, b), (_, scc) in zip(PAIRS, found, strict=True):
        values = (s32(a), s32(b)) if kind == "i32" else (a, b)
        assert scc == int(eval(f"{values[0]} {COMPARISONS[name]} {values[1]}")), (hex(a), hex(b))


def test_wide_comparisons_and_bit_tests() -> None:
    for (a, b), (_, scc) in zip(
        WIDE, run_scalar("s_cmp_eq_u64 s[20:21], s[22:23]", WIDE, True), strict=True
    ):
        assert scc == int(a == b)
    for (a, b), (_, scc) in zip(
        PAIRS, run_scalar("s_bitcmp0_b32 s20, s22", PAIRS, False), strict=True
    ):
        assert scc == 1 - (a >> (b & 31) & 1)


def test_immediates_are_sign_extended() -> None:
    for (a, _), (result, scc) in zip(
        PAIRS,
        run_scalar("s_mov_b32 s24, s20\n  s_addk_co_i32 s24, 0xfff0", PAIRS, False),
        strict=True,
    ):
        assert result == a - 16 & M32
        assert scc == int(overflow(s32(a) - 16))
    for (a, _), (result, _) in zip(
        PAIRS, run_scalar("s_mov_b32 s24, s20\n  s_mulk_i32 s24, 0xfffe", PAIRS, False), strict=True
    ):
        assert result == a * -2 & M32


@pytest.mark.parametrize("name", EXEC_OPS)
def test_exec_is_saved_and_changed(name: str) -> None:
    body = f"""s_mov_b32 exec_lo, s22
  s_{name}_saveexec_b32 s24, s20
  s_mov_b32 s25, exec_lo
  s_mov_b32 exec_lo, -1"""
    for (a, b), (result, scc) in zip(PAIRS, run_scalar(body, PAIRS, True), strict=True):
        changed = EXEC_OPS[name](a, b) & M32
        assert result == b | changed << 32, (hex(a), hex(b))
        assert scc == int(bool(changed))


def test_exec_is_written_and_returned() -> None:
    body = (
        "s_mov_b32 exec_lo, s22\n  s_and_not1_wrexec_b32 s24, s20\n  s_mov_b32 s25, exec_lo\n  "
        "s_mov_b32 exec_lo, -1"
    )
    for (a, b), (result, _) in zip(PAIRS, run_scalar(body, PAIRS, True), strict=True):
        changed = a & ~b & M32
        assert result == changed | changed << 32


def test_conditional_branches_are_taken_as_their_condition_says() -> None:
    body = """s_mov_b32 vcc_lo, s20
  s_mov_b32 exec_lo, s22
  s_mov_b32 s24, 0
  s_cbranch_vccz .La
  s_or_b32 s24, s24, 1
.La:
  s_cbranch_vccnz .Lb
  s_or_b32 s24, s24, 2
.Lb:
  s_cbranch_execz .Lc
  s_or_b32 s24, s24, 4
.Lc:
  s_cbranch_execnz .Ld
  s_or_b32 s24, s24, 8
.Ld:
  s_mov_b32 exec_lo, -1"""
    for (a, b), (result, _) in zip(PAIRS, run_scalar(body, PAIRS, False), strict=True):
        assert result == (1 if a else 2) | (4 if b else 8)


FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "s_add_f32": lambda x, y: x + y,
    "s_mul_f32": lambda x, y: x * y,
    "s_sub_f32": lambda x, y: x - y,
    "s_min_num_f32": np.fmin,
    "s_max_num_f32": np.fmax,
}


@pytest.mark.parametrize("name", FLOATS)
def test_scalar_floats_are_numpys(name: str) -> None:
    plain = np.random.default_rng(1).standard_normal((50, 2)).astype(np.float32)
    operands = [(int(a), int(b)) for a, b in plain.view(np.uint32)]
    for (x, y), (result, _) in zip(
        plain, run_scalar(f"{name} s24, s20, s22", operands, False), strict=True
    ):
        assert np.uint32(result).view(np.float32) == FLOATS[name](x, y)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 16])
def test_scalar_loads_of_every_size(count: int) -> None:
    stores = "\n".join(
        f"  v_mov_b32 v2, s{16 + n}\n  global_store_b32 v1, v2, s[2:3] offset:{4 * n}"
        for n in range(count)
    )
    group = f"s[16:{15 + count}]" if count > 1 else "s16"
    body = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  s_movk_i32 s5, 0x20
  v_mov_b32 v1, 0
  s_wait_kmcnt 0x0
  s_load_b{32 * count} {group}, s[0:1], s5 offset:-0x10
  s_wait_kmcnt 0x0
{stores}
"""
    data = np.random.default_rng(1).integers(0, 1 << 32, 64, np.uint32)
    output = np.zeros(count, np.uint32)
    emulate(assemble(body), "kernel", 1, 1, [data, output])
    np.testing.assert_array_equal(output, data[4 : 4 + count])


@pytest.mark.parametrize(
    ("name", "kind"), [("u8", np.uint8), ("i8", np.int8), ("u16", np.uint16), ("i16", np.int16)]
)
def test_narrow_scalar_loads_extend_as_their_names_say(name: str, kind: Any) -> None:
    body = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_wait_kmcnt 0x0
  s_load_{name} s16, s[0:1], 0x6
  s_wait_kmcnt 0x0
  v_mov_b32 v2, s16
  global_store_b32 v1, v2, s[2:3]
"""
    data = np.array([0xF1, 0x82, 0x03, 0xE4, 0x95, 0x06, 0xF7, 0x88], np.uint8)
    output = np.zeros(1, np.int32)
    emulate(assemble(body), "kernel", 1, 1, [data, output])
    assert output[0] == int(data[6:].view(kind)[0])


def test_a_call_returns_to_the_instruction_after_it() -> None:
    body = """s_getpc_b64 s[30:31]
.Lhere:
  s_add_co_u32 s30, s30, .Lsub-.Lhere
  s_add_co_ci_u32 s31, s31, 0
  s_swappc_b64 s[32:33], s[30:31]
  s_call_b64 s[32:33], .Lsub
  s_branch .Lend
.Lsub:
  s_add_co_u32 s24, s24, s20
  s_setpc_b64 s[32:33]
.Lend:"""
    body = body.replace(".Lend", ".Lover")
    for (a, _), (result, _) in zip(PAIRS, run_scalar(body, PAIRS, False), strict=True):
        assert result == 2 * a & M32
