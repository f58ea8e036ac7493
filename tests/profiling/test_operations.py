"""The operations of instructions that a roofline counts."""

from __future__ import annotations

import re
from functools import cache

import pytest

from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import GFX11, GFX12, GFX90A, GFX908, GFX942, GFX950
from amdjit.isa.rows import opcodes
from amdjit.profiling import launch_profile
from amdjit.profiling.peaks import PEAKS


@cache
def names() -> set[str]:
    return {
        opcode.traits.operation
        for family in (GFX12, GFX11, GFX908, GFX90A, GFX942, GFX950)
        for opcode in opcodes(family)
    }


# By what they are called, without consulting the table.
ARITHMETIC = re.compile(
    r"v_(dual_)?(pk_)?(add|sub|subrev|mul|fma|fmac|fmaak|fmamk|ma[cd]|mad[am]k|exp|log|rcp|rsq|sqrt|"
    r"sin|cos)(_mix|_mixlo|_mixhi|_dx9_zero|_legacy)?_f(16|32|64)|"
    r"v_(dual_)?dot\d(acc|c)?_\w+|v_div_fmas_f(32|64)"
)


def test_the_table_has_instructions_only_that_exist() -> None:
    known = {name.replace("v_dual_", "v_") for name in names()}
    missing = {name for name in launch_profile._OPERATIONS if name not in known}
    # Not every function exists in every type.
    assert all(re.fullmatch(r"v_\w+_f(16|64)", name) for name in missing), missing


def test_every_instruction_of_float_arithmetic_is_in_the_table() -> None:
    matching = {name for name in names() if ARITHMETIC.fullmatch(name)}
    assert len(matching) > 60
    assert {name.replace("v_dual_", "v_") for name in matching} <= launch_profile._OPERATIONS.keys()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("v_add_f32", ("f32", 1)),
        ("v_fma_f64", ("f64", 2)),
        ("v_pk_fma_f16", ("f16", 4)),
        ("v_dot4_i32_iu8", ("i8", 8)),
        ("v_dot2_f32_bf16", ("bf16", 4)),
        ("v_pk_fma_f32", ("f32", 4)),
        ("v_mad_f32", ("f32", 2)),
    ],
)
def test_a_multiplication_with_addition_is_two_operations(
    name: str, expected: tuple[str, int]
) -> None:
    assert launch_profile._OPERATIONS[name] == expected


def test_peaks_are_those_that_are_published() -> None:
    # AMD: RX 9070 XT 195 (f16 matrix), 389 (8 bits), 48.7 (f32) trillions a second; RX 9060 XT 103.
    peaks = PEAKS["gfx1201"].operations
    assert peaks["f16 matrix"] == pytest.approx(194.6e12, rel=1e-3)
    assert peaks["i8 matrix"] == pytest.approx(389e12, rel=1e-2)
    assert peaks["f32"] == pytest.approx(48.7e12, rel=1e-2)
    assert PEAKS["gfx1200"].operations["f16 matrix"] == pytest.approx(103e12, rel=1e-2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("v_mfma_f32_32x32x8_f16", ("f16 matrix", 32 * 32 * 8)),
        ("v_mfma_f32_32x32x4_2b_bf16", ("bf16 matrix", 2 * 32 * 32 * 4)),
        ("v_mfma_f32_4x4x4_16b_f16", ("f16 matrix", 16 * 4 * 4 * 4)),
        ("v_mfma_f64_4x4x4_4b_f64", ("f64 matrix", 4 * 4 * 4 * 4)),
        ("v_smfmac_i32_32x32x32_i8", ("i8 matrix", 32 * 32 * 16)),
    ],
)
def test_block_products_count_their_multiplications(name: str, expected: tuple[str, int]) -> None:
    opcode = next(each for each in opcodes(GFX942) if each.mnemonic == name)
    instruction = Instruction(0, 8, opcode, (None,) * len(opcode.operands), {})
    kind, count = expected
    assert launch_profile.operations_of(instruction, 3, 1) == {kind: 2 * 3 * count}


def test_the_peaks_of_cdna_are_those_of_compute_units() -> None:
    """AMD's data sheets: MI300X 1,307 TFLOPS of f16 and 163.4 of f64 matrices, MI355X 2,516 and
    5,033 of f16 and fp8."""
    mi300x, mi355x = PEAKS["gfx942"].operations, PEAKS["gfx950"].operations
    assert mi300x["f16 matrix"] == pytest.approx(1307e12, rel=1e-2)
    assert mi300x["f64 matrix"] == pytest.approx(163.4e12, rel=1e-2)
    assert mi355x["bf16 matrix"] == pytest.approx(2516e12, rel=1e-2)
    assert mi355x["fp8 matrix"] == mi355x["i8 matrix"] == pytest.approx(5033e12, rel=1e-2)
