"""Sentences of instructions: every opcode has one, it fits the opcode's traits and operands, and
opcodes that differ have different ones."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from amdjit.inspection.meanings import meaning, opcode_meaning
from amdjit.isa.decode import decode_all
from amdjit.isa.instruction import (
    Dpp,
    Instruction,
    Modifiers,
    Opcode,
    Register,
    RegisterFile,
)
from amdjit.isa.instruction_set import GFX942
from amdjit.isa.rows import opcodes
from amdjit.isa.text import disassemble
from amdjit.isa.traits import Immediate, MemoryKind, Unit

ALL = tuple(opcodes())
# Opcodes with one meaning: a literal is a source like others, and nothing is nothing everywhere.
SAME = (
    {"s_fmaak_f32", "s_fmamk_f32"},
    {"v_fma_f32", "v_fmaak_f32", "v_fmamk_f32"},
    {"v_fma_f16", "v_fmaak_f16", "v_fmamk_f16"},
    {"v_nop", "ds_nop"},
)
IMMEDIATES = ("simm16", "offset", "offset0", "offset1", "th", "scope", "wait_exp", "attr", "sdata")


def with_operands(opcode: Opcode, **immediates: int) -> Instruction:
    """Return an instruction of an opcode with a register of its own for each operand."""
    operands = tuple(
        Register(RegisterFile.VGPR, 10 + 10 * number, spec.dwords)
        for number, spec in enumerate(opcode.operands)
    )
    given = {name: 0 for name in (*IMMEDIATES, "attr_chan")} | immediates
    if opcode.traits.immediate is Immediate.MESSAGE:
        given["message"] = 128
    return Instruction(0x100, 4, opcode, operands, given)


def first(mnemonic: str) -> Opcode:
    return next(opcode for opcode in ALL if opcode.mnemonic == mnemonic)


@pytest.mark.parametrize(
    "sentence", [opcode_meaning, lambda opcode: meaning(with_operands(opcode))]
)
def test_every_opcode_has_a_sentence(sentence: object) -> None:
    assert callable(sentence)
    for opcode in ALL:
        text = sentence(opcode)
        assert re.fullmatch(r"([A-Z]|[a-z]+\d* |[a-z]\[|[de] ).{5,}[^ .]\.", text), text
        assert not re.search(r"[{}$]|  | ,|\(\)|= [;,.]|None", text), (opcode.mnemonic, text)


def test_opcodes_that_differ_have_different_sentences() -> None:
    operations = defaultdict(set)
    for opcode in ALL:
        operations[opcode_meaning(opcode)].add(opcode.traits.operation)
    shared = [names for names in operations.values() if len(names) > 1]
    assert sorted(map(sorted, shared)) == sorted(map(sorted, SAME))


def test_sentences_name_every_operand() -> None:
    for opcode in ALL:
        text = meaning(with_operands(opcode))
        for number, spec in enumerate(opcode.operands):
            implied = spec.type == "mask" and not spec.read and opcode.traits.writes_exec
            names = rf"\bv({10 + 10 * number}|\[{10 + 10 * number}:)"
            assert implied or re.search(names, text), (opcode.mnemonic, spec.role, text)


def test_sentences_say_what_traits_say_about_scc_and_exec() -> None:
    for opcode in ALL:
        text, traits = opcode_meaning(opcode), opcode.traits
        assert bool(re.search(r"SCC(, later,)? =", text)) == traits.writes_scc, text
        assert bool(re.search(r"SCC is|[+-] SCC", text)) == traits.reads_scc, text
        assert bool(re.search(r"EXEC =", text)) == traits.writes_exec, text


def test_sentences_say_what_traits_say_about_memory() -> None:
    for opcode in ALL:
        access, text = opcode.traits.memory, opcode_meaning(opcode)
        if access is None:
            continue
        begins = {
            MemoryKind.LOAD: "Loads ",
            MemoryKind.STORE: "Stores ",
            MemoryKind.ATOMIC: "For ",
            MemoryKind.PREFETCH: "Brings ",
            MemoryKind.PROBE: "Probes ",
        }
        assert text.startswith(begins[access.kind])
        moves = access.kind in (MemoryKind.LOAD, MemoryKind.STORE) and access.size
        if moves and not access.converts:
            assert re.search(rf" {access.size} bytes?( each)? ", text), text
        assert ("or each active lane" in text) == (
            opcode.traits.lane_by_lane
            and opcode.traits.unit is not Unit.SCALAR_MEMORY
            and access.kind not in (MemoryKind.PREFETCH, MemoryKind.PROBE)
        ), text


def test_sentences_name_the_counters_that_count_the_instruction() -> None:
    for opcode in ALL:
        if opcode.traits.event is not None:
            counters = opcode.instruction_set.wait_counters.counted[opcode.traits.event]
            assert all(counter.name in opcode_meaning(opcode) for counter in counters)
        else:
            assert "counts on" not in opcode_meaning(opcode)


def test_what_each_lane_computes_says_so() -> None:
    for opcode in ALL:
        traits, text = opcode.traits, opcode_meaning(opcode)
        computes = traits.unit in (Unit.VALU, Unit.TRANSCENDENTAL) and opcode.operands
        if computes and traits.lane_by_lane:
            assert re.search("(in|for) each active lane", text), text
        if traits.matrix is not None:
            assert f"16x{traits.matrix.k}" in text
            assert "by the whole wave" in text
        if traits.unit is Unit.TRANSCENDENTAL:
            assert "approximated" in text


SENTENCES = (
    ("d6130001 04120602", "v1 = s2 * v3 + v4 in f32, rounded once, in each active lane."),
    (
        "ee05c07c 00000004 00001002",
        "Loads 16 bytes for each active lane from global memory at v[2:3] + 16 into v[4:7]; counts"
        " on loadcnt.",
    ),
    ("bfc60000", "Waits until no LDS instructions are in flight."),
    ("bfc60003", "Waits until at most 3 LDS instructions are in flight."),
    ("bfa00002", "Jumps to 0xc."),
    ("8b8081ff 00000064", "s[0:1] = 0x64 & 1 in b64; SCC = the result is not 0."),
)


@pytest.mark.parametrize(("words", "sentence"), SENTENCES)
def test_machine_code_has_its_sentence(words: str, sentence: str) -> None:
    code = b"".join(int(word, 16).to_bytes(4, "little") for word in words.split())
    (instruction,) = decode_all(code, 0)
    assert meaning(instruction) == sentence, disassemble(instruction)


def test_modifiers_are_in_the_sentence() -> None:
    fma = with_operands(first("v_fma_f32"))
    assert "|v20|" in meaning(replace(fma, modifiers=Modifiers(abs=1)))
    assert "* -v30" in meaning(replace(fma, modifiers=Modifiers(neg=2)))
    assert "limited to 0..1" in meaning(replace(fma, modifiers=Modifiers(clamp=True)))
    assert "the result times 4" in meaning(replace(fma, modifiers=Modifiers(omod=2)))
    shifted = replace(fma, modifiers=Modifiers(dpp=Dpp(control=0x111)))
    assert "(row_shr:1 " in meaning(shifted)
    product = with_operands(first("v_wmma_i32_16x16x16_iu8"))
    assert "with signed A and unsigned B" in meaning(replace(product, modifiers=Modifiers(neg=1)))


def test_both_halves_of_a_dual_instruction_are_in_the_sentence() -> None:
    multiply = with_operands(first("v_dual_mul_f32"))
    moving = with_operands(first("v_dual_mov_b32"))
    assert meaning(replace(multiply, pair=moving)) == (
        "Two operations at once: v10 = v20 * v30 in f32, in each active lane; and v10 = v20 in b32,"
        " in each active lane."
    )


def test_block_products_say_their_shape() -> None:
    found = {each.mnemonic: opcode_meaning(each) for each in opcodes(GFX942)}
    assert "each of 2 blocks" in found["v_mfma_f32_32x32x4_2b_f16"]
    assert "A (a) is 16x16 and B (b) 16x16, in bf16" in found["v_mfma_f32_16x16x16_bf16"]
    assert "half of its elements" in found["v_smfmac_i32_16x16x64_i8"]
