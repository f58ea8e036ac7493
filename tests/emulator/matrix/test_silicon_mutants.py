"""Each guard of the native matrix arithmetic matters: without it, samples of the property tests
find the difference."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.matrix import (
    dot_factors,
    grid_step,
    quick_steps,
    rounded_products,
)
from amdjit.emulator.instructions.matrix.grid_step import BIAS, GridStep
from amdjit.emulator.instructions.matrix.quick_steps import QuickFloors
from amdjit.isa.matrix_rounding import FORMATS
from tests.emulator.building import using
from tests.emulator.required_tools import needs_tools
from tests.emulator.silicon_samples import CASES, INSTRUCTIONS, Instruction, Registers

pytestmark = needs_tools
Patch = pytest.MonkeyPatch


def _never(b: Builder, lanes: Value) -> Value:
    return b.compare("ne", lanes, lanes)


def _without(owner: Any, name: str) -> Callable[[Patch], None]:
    """Take out a check that gives conditions of lanes."""

    def never(*given: Any) -> Value:
        b = next(each for each in given if isinstance(each, Builder))
        return _never(b, given[-1][0] if type(given[-1]) is list else given[-1])

    return lambda monkeypatch: monkeypatch.setattr(owner, name, never)


def _constant(module: Any, name: str, value: Any) -> Callable[[Patch], None]:
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


def _small_addends_count(monkeypatch: Patch) -> None:
    def floored(self: QuickFloors, b: Builder, addend: Value, field: Value, scale: Value) -> Value:
        return b.convert(
            "fptosi",
            b.intrinsic("floor", b.binary("fmul", b.bitcast(addend, "float"), scale)),
            "i32",
        )

    monkeypatch.setattr(QuickFloors, "_quick_addend", floored)


def _cut_to_zero(monkeypatch: Patch) -> None:
    def shifted(b: Builder, value: Value, amount: Value) -> Value:
        size = b.intrinsic("abs", value, flags=[Value("i1", "0")])
        cut = b.binary("lshr", size, b.intrinsic("umin", amount, b.const(amount, 31)))
        return b.select(
            b.compare("slt", value, b.const(value, 0)), b.sub(b.const(cut, 0), cut), cut
        )

    monkeypatch.setattr(grid_step, "floored", shifted)


def _rounded_brain(monkeypatch: Patch) -> None:
    monkeypatch.setattr(GridStep, "kept", lambda self, b, bits: bits)


def _exact_negatives(monkeypatch: Patch) -> None:
    monkeypatch.setattr(GridStep, "finest", property(lambda self: self.grid_bias - BIAS - 500))


def _rounded_twice(monkeypatch: Patch) -> None:
    def rounded(b: Builder, total: Value, scale: Value) -> Value:
        half = b.convert(
            "fptrunc", b.binary("fmul", b.convert("sitofp", total, "float"), scale), "half"
        )
        return b.bitcast(b.convert("fpext", half, "float"), "i32")

    for module in (grid_step, quick_steps):
        monkeypatch.setattr(module, "half_bits", rounded)


def _all_together(monkeypatch: Patch) -> None:
    together = property(lambda self: replace(self.factors.rule, group=4))
    monkeypatch.setattr(GridStep, "rule", together)


def _narrower_grids(monkeypatch: Patch) -> None:
    monkeypatch.setattr(GridStep, "grid_bias", BIAS + 25)


def _infinity_is_a_number(monkeypatch: Patch) -> None:
    for module in (grid_step, quick_steps):
        monkeypatch.setattr(module, "INFINITY", 0x7F900000)


def _any_size(monkeypatch: Patch) -> None:
    wide = {kind: replace(form, fraction_bits=59) for kind, form in FORMATS.items()}
    monkeypatch.setattr(rounded_products, "FORMATS", wide)


MUTANTS: dict[str, tuple[Callable[[Patch], None], str]] = {
    "small negative accumulators count": (_small_addends_count, "f32"),
    "they do not where the grid is fine": (_exact_negatives, "f32"),
    "cut towards zero": (_cut_to_zero, "f32"),
    "four products on one grid": (_all_together, "f32"),
    "one bit less of accumulators": (_narrower_grids, "f32"),
    "tiny numbers in the quick form": (_without(QuickFloors, "_is_tiny"), "bf16"),
    "no look at factors": (_without(QuickFloors, "is_extreme"), "f32"),
    "no look at accumulators": (_without(rounded_products, "is_extreme_addend"), "f32"),
    "zero hides what is special": (_constant(dot_factors, "SPECIAL_EXPONENT", 4096), "f32"),
    "fields beyond those of f32": (_constant(quick_steps, "_LAST_FIELD", 4000), "f32"),
    "bf16 results round": (_rounded_brain, "bf16"),
    "f16 results round twice": (_rounded_twice, "f16"),
    "whole numbers up to any size": (_any_size, "f32"),
    "all numbers are whole": (
        lambda monkeypatch: monkeypatch.setattr(
            rounded_products, "_vanish", lambda f, rows: Value("i1", "true")
        ),
        "f32",
    ),
    "overflow is never looked at": (_infinity_is_a_number, "f16"),
}


@functools.cache
def _samples(result: str) -> list[tuple[Instruction, list[Registers], Registers]]:
    """Return products of f16 and bf16 factors: their operands and what the model has for them."""
    random = np.random.default_rng(1)
    found = []
    for instruction in INSTRUCTIONS:
        shape = instruction.shape
        if (
            shape.result == result
            and shape.a in ("f16", "bf16")
            and shape.wave.size == 32
            and not shape.sparse
        ):
            samples = [instruction.sample(random, case) for case in CASES]
            inputs = [np.concatenate(parts, axis=1) for parts in zip(*samples, strict=True)]
            found.append((instruction, inputs, instruction.expected(inputs)))
    return found


def _differs(result: str) -> bool:
    """Whether an element differs from the model; the first instruction that has one is enough."""
    return any(
        (expected != instruction.run(inputs)).any()
        for instruction, inputs, expected in _samples(result)
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("result", ["f32", "f16", "bf16"])
def test_nothing_differs_without_a_mutation(result: str) -> None:
    with using(fresh=True):
        assert not _differs(result)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_found(name: str, monkeypatch: Patch) -> None:
    patch, result = MUTANTS[name]
    patch(monkeypatch)
    for module in (grid_step, quick_steps):
        # Where a module has taken over a name that the mutant changes.
        for constant in ("SPECIAL_EXPONENT",):
            if hasattr(module, constant):
                monkeypatch.setattr(module, constant, getattr(dot_factors, constant))
    with using(fresh=True):
        assert _differs(result)
