"""Phrases of opcodes: the formulas in them compute what the model of the ISA document computes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from model.integers import INTEGERS
from model.operation import Op
from model.packed import HALVES
from model.scalars import SCALARS
from model.values import integers, numbers, patterns, width

from amdjit.emulator.decoder.mnemonics import phrase_of
from amdjit.emulator.decoder.rows import opcodes

# `{d} = ...` up to the first word that is no part of a formula. Python has no bars for |x|.
FORMULA = re.compile(
    r"\{d\} = ((?:\{[abcdk]\}|[-+*&^~()\s<>]|(?<=[})]) \|(?= )|\d+)+?)(?=[,;]| in |$)"
)
LANES = 32


def formula_of(mnemonic: str) -> str | None:
    """Return what a phrase says that the destination is, if that is a formula of integers."""
    match = FORMULA.match(phrase_of(mnemonic).replace(" of 24 bits each", ""))
    return match[1].replace(" of 16 bits each", "") if match else None


def integer_operations() -> Iterator[tuple[str, Op]]:
    """Yield the model's operations on integers by mnemonic."""
    scalars = {name: entry.op for name, entry in SCALARS.items()}
    for name, operation in {**INTEGERS, **HALVES, **scalars}.items():
        types = (operation.result, *operation.sources)
        if all(re.fullmatch(r"[iub]\d+|simm", type) for type in types) and formula_of(name):
            yield name, operation


CASES = dict(integer_operations())


def values_for(formula: str, letter: str, code: str, generator: random.Random) -> list[int]:
    """Return patterns of an operand; a number of places to shift by is smaller than any width."""
    counts = re.search(rf"(<<|>>) \{{{letter}\}}", formula)
    bits = 4 if counts else width(code)
    return [generator.getrandbits(bits) for _ in range(LANES)]


@pytest.mark.parametrize("mnemonic", CASES)
def test_the_formula_of_a_phrase_computes_what_the_instruction_does(mnemonic: str) -> None:
    operation, formula = CASES[mnemonic], formula_of(mnemonic)
    assert formula is not None
    generator = random.Random(mnemonic)
    codes = list(operation.sources) + [operation.result] * operation.old
    named = zip(operation.sources, "abc", strict=False)
    letters = ["k" if code == "simm" else letter for code, letter in named] + ["d"]
    codes = ["i16" if code == "simm" else code for code in codes]
    sources = {
        letter: numbers(integers(values_for(formula, letter, code, generator)), code)
        for code, letter in zip(codes, letters, strict=False)
    }
    computed = operation.compute(*sources.values())
    expected = computed[0] if operation.carry else computed
    said = [
        eval(formula.format(**{letter: int(column[lane]) for letter, column in sources.items()}))
        for lane in range(LANES)
    ]
    result = operation.result
    assert list(patterns(integers(said), result)) == list(patterns(expected, result))


def test_most_operations_on_integers_have_formulas() -> None:
    assert len(CASES) > 60
    assert {"v_lshl_add_u32", "v_bfi_b32", "s_lshl3_add_u32", "v_pk_mad_u16"} < set(CASES)


def test_phrases_leave_no_group_of_their_patterns_open() -> None:
    for opcode in opcodes():
        phrase = phrase_of(opcode.traits.operation)
        assert not re.search(r"\$|  | ,| $|^ ", phrase), opcode.mnemonic
        assert set(re.findall(r"\{(\w+)\}", phrase)) <= {*"deabcmk", "target"}


@pytest.mark.parametrize(
    ("operation", "phrase"),
    [
        ("v_fma_f32", "{d} = {a} * {b} + {c} in f32, rounded once"),
        ("v_subrev_nc_u32", "{d} = {b} - {a} in u32"),
        (
            "v_cvt_pk_f32_bf8",
            "{d} = two bytes of a half of {a} in bf8, converted to f32, as two registers",
        ),
        ("global_load_b128", ""),
        ("no_such_operation", ""),
    ],
)
def test_an_operation_has_its_phrase(operation: str, phrase: str) -> None:
    assert phrase_of(operation) == phrase
