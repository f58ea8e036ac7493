"""Bytes that are no program: one exception class, no crash, no endless loop."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amdjit.isa.decode import decode, decode_all
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import Instruction
from amdjit.isa.text import disassemble
from tests.emulator.decoder.random_code import pieces


def attempt(code: bytes, offset: int, pc: int) -> Instruction | UndecodableInstruction:
    try:
        return decode(code, offset, pc)
    except UndecodableInstruction as error:
        return error


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=64), st.integers(-8, 80))
def test_random_bytes_decode_or_raise_undecodable(code: bytes, offset: int) -> None:
    outcome = attempt(code, offset, 0x1000)
    assert outcome.pc == 0x1000
    if isinstance(outcome, UndecodableInstruction):
        assert len(outcome.words) <= 4
        return
    assert outcome.size in (4, 8, 12)
    assert 0 <= offset <= len(code) - outcome.size
    assert disassemble(outcome)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=256))
def test_decode_all_yields_what_decode_does_and_ends(code: bytes) -> None:
    stream = decode_all(code, 0)
    position = 0
    while position < len(code):
        expected = attempt(code, position, position)
        if isinstance(expected, UndecodableInstruction):
            with pytest.raises(UndecodableInstruction):
                next(stream)
            return
        assert next(stream) == expected
        position += expected.size
    assert list(stream) == []


def test_every_cut_of_every_opcode_raises_undecodable() -> None:
    for piece in pieces(random.Random(2), known=1, unknown=0):
        try:
            size = decode(piece.code, 0, 0).size
        except UndecodableInstruction:
            continue
        for length in range(size):
            with pytest.raises(UndecodableInstruction):
                decode(piece.code[:length], 0, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((0xD0800000, 0, 0), "image"),
        ((0xE4000000, 0, 0), "image"),
        ((0xF8000000, 0), "export"),
        ((0xDB800000, 0), "BVH"),
        ((0,), "unknown VOP2 opcode 0"),
        ((0xFFFFFFFF,), "unknown format"),
    ],
)
def test_a_refusal_says_which_class_and_which_words(words: tuple[int, ...], message: str) -> None:
    code = b"".join(word.to_bytes(4, "little") for word in words)
    with pytest.raises(UndecodableInstruction, match=message) as caught:
        decode(code, 0, 0x40)
    assert caught.value.words == words
    assert "pc 0x40" in str(caught.value)
