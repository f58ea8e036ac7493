"""What decoded values mean, on hand-assembled words: no tool needed."""

from __future__ import annotations

import pytest

from amdjit.isa.decode import decode
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Literal,
    Register,
    RegisterFile,
    SpecialSource,
)
from amdjit.isa.text import disassemble

VCC = Register(RegisterFile.VCC, 0)


def decoded(*words: int) -> Instruction:
    code = b"".join(word.to_bytes(4, "little") for word in words)
    instruction = decode(code, 0, 0)
    assert instruction.size == len(code)
    return instruction


def vector(index: int, dwords: int = 1, half: int | None = None) -> Register:
    return Register(RegisterFile.VGPR, index, dwords, half)


def test_sopk_and_branch_immediates_are_signed() -> None:
    assert decoded(0xB001FF80).immediates == {"simm16": -128}
    assert decoded(0xBFA0FFFE).immediates == {"simm16": -2}
    assert decoded(0xBFC0FFFF).immediates == {"simm16": 0xFFFF}


def test_getreg_names_register_offset_and_size() -> None:
    immediates = decoded(0xB8813081).immediates
    assert immediates == {"simm16": 0x3081, "hwreg_id": 1, "hwreg_offset": 2, "hwreg_size": 7}


def test_constants_literals_and_special_sources() -> None:
    assert decoded(0xBE8000C1).operand("src0") == InlineConstant(-1, 193)
    assert decoded(0xBE8000F8).operand("src0") == InlineConstant(0.15915494309189535, 248)
    assert decoded(0xBE8000FF, 0x80000000).operand("src0") == Literal(0x80000000)
    assert decoded(0xBE8001EB).operand("src0") == SpecialSource("src_shared_base")
    assert decoded(0xBE8000FD).operand("src0") == Register(RegisterFile.SCC, 0)


def test_implicit_masks_are_operands() -> None:
    select = decoded(0x02060503)
    assert (select.operand("src2"), select.opcode.operands[3].type) == (VCC, "mask")
    compare = decoded(0x7C080702)
    assert (compare.operand("vdst"), compare.opcode.operands[0].type) == (VCC, "mask")
    assert decoded(0x7D880702).operand("vdst") == Register(RegisterFile.EXEC, 0)
    carry = decoded(0x40145114)
    assert [item for item in carry.operands if item == VCC] == [VCC, VCC]


def test_halves_come_from_bit_7_in_short_encodings_and_from_op_sel_in_long_ones() -> None:
    short = decoded(0x64060481)
    assert short.operands == (vector(3, half=0), InlineConstant(1, 129), vector(2, half=0))
    high = decoded(0x65060481)
    assert high.operand("vdst") == vector(3, half=1)
    assert disassemble(high) == "v_add_f16_e32 v3.h, 1, v2.l"
    long = decoded(0xD5324803, 0x00020501)
    assert long.operands == (vector(3, half=1), vector(1, half=1), vector(2, half=0))


def test_dual_issue_has_two_halves_and_an_implied_destination_bit() -> None:
    pair = decoded(0xC9060702, 0x01040D05)
    assert disassemble(pair) == "v_dual_add_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6"
    assert pair.pair is not None
    assert (pair.operand("vdst"), pair.pair.operand("vdst")) == (vector(1), vector(4))
    assert (pair.pair.pc, pair.pair.size) == (pair.pc, pair.size)


def test_global_address_is_a_pair_or_an_offset_from_scalars() -> None:
    alone = decoded(0xEE05007C, 0x00000005, 0x00000002)
    assert (alone.operand("vaddr"), alone.operand("saddr")) == (vector(2, 2), None)
    based = decoded(0xEE068004, 0x019C0000, 0xFFFFFC05)
    assert based.operand("vaddr") == vector(5)
    assert based.operand("saddr") == Register(RegisterFile.SGPR, 4, 2)
    assert based.immediates == {"offset": -4, "th": 1, "scope": 3}


def test_an_atomic_has_a_destination_only_when_it_returns() -> None:
    silent = decoded(0xEE0D407C, 0x02800004, 0x00000006)
    returning = decoded(0xEE0D407C, 0x02900004, 0x00000006)
    assert (silent.operand("vdst"), returning.operand("vdst")) == (None, vector(4))


def test_lds_offsets_are_one_or_two() -> None:
    assert decoded(0xD8D80304, 0x01000002).immediates == {"offset": 0x304}
    assert decoded(0xD8380201, 0x00030201).immediates == {"offset0": 1, "offset1": 2}


def test_dpp_words_are_read() -> None:
    rows = decoded(0x7E0202FA, 0x350CE402).modifiers.dpp
    assert rows is not None
    assert (rows.control, rows.row_mask, rows.bank_mask) == (0xE4, 3, 5)
    assert (rows.bound_control, rows.fetch_inactive) == (True, True)
    lanes = decoded(0x7E0202E9, 0xFAC68802).modifiers.dpp
    assert lanes is not None
    assert lanes.lanes == tuple(range(8))


def test_matrix_operands_have_their_vector_types() -> None:
    matrix = decoded(0xCC404000, 0x1C021908)
    assert matrix.mnemonic == "v_wmma_f32_16x16x16_f16"
    assert [spec.type for spec in matrix.opcode.operands] == ["v8f32", "v8f16", "v8f16", "v8f32"]
    assert matrix.operands == (vector(0, 8), vector(8, 4), vector(12, 4), vector(0, 8))


def test_mixed_byte_formats_have_their_own_types() -> None:
    dot = decoded(0xCC244010, 0x1C820D05)
    assert dot.mnemonic == "v_dot4_f32_fp8_bf8"
    assert [spec.type for spec in dot.opcode.operands] == ["f32", "v4fp8", "v4bf8", "f32"]


def test_an_unknown_role_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        decoded(0xBF800000).operand("vdst")
