"""Phrases of opcodes: the formulas in them compute what the model of the ISA document computes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import numpy as np
import pytest

from amdjit.isa.mnemonics import phrase_of
from amdjit.isa.rows import opcodes
from tests.emulator.model.comparisons import COMPARISONS
from tests.emulator.model.floats import FLOAT_OPS
from tests.emulator.model.integers import INTEGERS
from tests.emulator.model.operation import Op
from tests.emulator.model.packed import HALVES
from tests.emulator.model.scalars import SCALARS
from tests.emulator.model.values import FLOATS, integers, numbers, patterns, width

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


def float_operations() -> Iterator[tuple[str, Op]]:
    """Yield the model's operations on floats whose phrases have formulas."""
    for name, operation in FLOAT_OPS.items():
        types = {operation.result, *operation.sources}
        if len(types) == 1 and types < set(FLOATS) and formula_of(name):
            yield name, operation


FLOAT_CASES = dict(float_operations())


@pytest.mark.parametrize("mnemonic", FLOAT_CASES)
def test_the_formula_of_a_phrase_computes_what_the_instruction_does_to_floats(
    mnemonic: str,
) -> None:
    """Of small whole numbers, whose products and sums are exact in every type."""
    operation, formula = FLOAT_CASES[mnemonic], formula_of(mnemonic)
    assert formula is not None
    generator = np.random.default_rng(len(mnemonic))
    letters = [*"abc"[: len(operation.sources)], *("d" * operation.old)]
    sources = {
        letter: generator.integers(1, 9, LANES).astype(FLOATS[operation.result])
        for letter in letters
    }
    computed = np.asarray(operation.compute(*sources.values()), np.float64)
    said = [
        eval(formula.format(**{letter: float(column[lane]) for letter, column in sources.items()}))
        for lane in range(LANES)
    ]
    inexact = "/" in formula
    assert np.allclose(computed, said, rtol=2e-3 if inexact else 0, atol=0), formula


def as_python(condition: str) -> str:
    """Return a condition of a comparison as Python says it."""
    condition = condition.replace(" (true for NaN)", "")
    for words, text in (
        (", and neither is NaN,", " and a == a and b == b"),
        ("neither {a} nor {b} is NaN", "a == a and b == b"),
        ("{a} or {b} is NaN", "a != a or b != b"),
        ("or one is NaN", "or a != a or b != b"),
    ):
        condition = condition.replace(words, text)
    return condition.format(a="a", b="b")


@pytest.mark.parametrize("mnemonic", [name for name in COMPARISONS if "class" not in name])
def test_the_condition_of_a_phrase_is_what_the_comparison_tests(mnemonic: str) -> None:
    operation, phrase = COMPARISONS[mnemonic], phrase_of(mnemonic)
    match = re.fullmatch(r".* = a bit for each active lane: (.*) in \w+", phrase)
    assert match is not None
    code = operation.sources[0]
    values = [0, 1, 2, 5] if code not in FLOATS else [0.0, 1.0, -2.0, float("nan")]
    pairs = [(a, b) for a in values for b in values]
    kind = FLOATS.get(code, object)
    columns = [np.array([pair[place] for pair in pairs], kind) for place in (0, 1)]
    said = [bool(eval(as_python(match[1]), {"a": a, "b": b})) for a, b in pairs]
    assert said == [bool(result) for result in operation.compute(*columns)]


def test_many_operations_on_floats_have_formulas() -> None:
    assert {"v_add_f16", "v_subrev_f32", "v_fma_f64", "v_fmac_f32"} < set(FLOAT_CASES)


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
