"""What inspection and the check for undefined values read from the rows of instructions holds for
the results of the model, which shares nothing with the rows."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from amdjit.emulator.checks.init.rules.dependence import dependences, parts_of
from amdjit.inspection.lanes.operations import computed
from amdjit.inspection.lanes.values import Value, constant, each_lane
from amdjit.isa.arithmetic import bits_of, element_type
from amdjit.isa.instruction import Instruction, Opcode
from amdjit.isa.instruction_set import GFX12
from amdjit.isa.integer_rows import VECTOR_PAIR_ROWS, VECTOR_ROWS, expression_of
from amdjit.isa.rows import opcodes
from tests.emulator.model.integers import INTEGERS
from tests.emulator.model.operation import Op
from tests.emulator.model.scalars import SCALARS
from tests.emulator.model.values import numbers, patterns, saturated

LANES = 32
VECTOR_OPS = sorted(name for name in INTEGERS if name in {*VECTOR_ROWS, *VECTOR_PAIR_ROWS})
ALL_OPS: dict[str, Op] = {**INTEGERS, **{name: row.op for name, row in SCALARS.items()}}
_CONSTANTS = (0, 1, 2, 3, 8, 16, 24, 31, 32, 0xFF, 0xFFFF, 0x70004, 0x230011, 0x7060302, 0xFFFFFFFF)


@cache
def by_operation() -> dict[str, Opcode]:
    return {opcode.traits.operation: opcode for opcode in opcodes(GFX12)}


def kinds_of(name: str) -> list[str]:
    """Return the LLVM types of an instruction's sources."""
    opcode = by_operation()[name]
    return [element_type(opcode.operands[place].type) for place in opcode.source_places]


def in_one_register(name: str) -> bool:
    op, opcode = ALL_OPS[name], by_operation().get(name)
    return (
        opcode is not None
        and expression_of(name) is not None
        and not opcode.traits.reads_scc
        and not any(code in ("mask", "scc", "simm") for code in op.sources)
        and all(bits_of(kind) <= 32 for kind in kinds_of(name))
    )


ONE_REGISTER = sorted(filter(in_one_register, ALL_OPS))


def results(
    name: str, sources: list[list[int]], clamps: bool = False
) -> list[np.ndarray[Any, Any]]:
    """Return the patterns of what the model makes of patterns."""
    op = ALL_OPS[name]
    codes = [*op.sources, op.result] if op.old else op.sources
    arrays = [
        np.array([bit & 1 for bit in source], object)
        if code == "mask"
        else numbers(np.array(source, np.uint64), code)
        for source, code in zip(sources, codes, strict=True)
    ]
    found = op.compute(*arrays)
    if not op.carry:
        return [patterns(saturated(found, op.result) if clamps else found, op.result)]
    result, carry = found
    return [patterns(result, op.result), np.array([int(bit) for bit in carry], np.uint64)]


def random_lanes(random: np.random.Generator) -> Value:
    kind = random.random()
    if kind < 0.35:
        return constant(int(random.choice(_CONSTANTS)))
    known = int(random.choice((0, 4, 8, 24, 26, 32, int(random.integers(33)))))
    low = int(random.integers(1 << 32)) & (1 << known) - 1
    if kind < 0.5:
        return Value(known, low)
    if kind < 0.6:
        return each_lane([int(number) for number in random.integers(1 << 32, size=LANES)], known)
    step = int(random.choice((1, 2, 4, 8, 256, -4, 3)))
    low = low if random.random() < 0.5 else low & 0xFF & (1 << known) - 1
    return each_lane([low + step * lane for lane in range(LANES)], known)


def in_a_launch(value: Value, random: np.random.Generator) -> list[int]:
    """Return what lanes may hold of which that is known."""
    base = value.low | int(random.integers(1 << 32)) >> value.known << value.known
    return [base + step & 0xFFFFFFFF for step in value.steps or (0,) * LANES]


def check_lanes(found: np.ndarray[Any, Any], value: Value, what: str) -> None:
    ones = (1 << value.width) - 1
    steps = value.steps or (0,) * LANES
    bases = {int(number) - step & ones for number, step in zip(found, steps, strict=True)}
    assert len(bases) == 1, what
    assert bases.pop() & (1 << value.known) - 1 == value.low, what


@pytest.mark.sample(45)
@pytest.mark.parametrize("name", ONE_REGISTER)
def test_lanes_hold_what_is_known_of_them(name: str) -> None:
    random = np.random.default_rng(len(name))
    instruction = SimpleNamespace(opcode=by_operation()[name])
    for _ in range(100):
        values = [random_lanes(random) for _ in kinds_of(name)]
        value = computed(cast("Instruction", instruction), values)
        if value is None:
            continue
        for _ in range(3):
            lanes = [in_a_launch(source, random) for source in values]
            check_lanes(results(name, lanes)[0], value, f"{name} of {values} is not {value}")


HERE = [name for name in VECTOR_OPS if name in by_operation()]
CASES = [(name, clamps) for name in HERE for clamps in (False, True)[: 1 + ALL_OPS[name].clamps]]


@pytest.mark.sample(45)
@pytest.mark.parametrize(("name", "clamps"), CASES)
def test_no_half_changes_with_what_it_does_not_depend_on(name: str, clamps: bool) -> None:
    random = np.random.default_rng(len(name))
    kinds = kinds_of(name)
    for _ in range(40):
        is_known = [kind in ("i16", "i32") and random.random() < 0.4 for kind in kinds]
        known = [
            int(random.choice(_CONSTANTS)) & (1 << bits_of(kind)) - 1 if is_constant else None
            for kind, is_constant in zip(kinds, is_known, strict=True)
        ]
        sources = [
            [int(bits) for bits in random.integers(1 << 64, size=LANES, dtype=np.uint64)]
            if number is None
            else [number] * LANES
            for number in known
        ]
        halves = dependences(name, clamps, tuple(zip(kinds, known, strict=True)))
        before, part = results(name, sources, clamps), 0
        for place, kind in enumerate(kinds):
            for half in range(parts_of(kind)):
                if known[place] is None:
                    changed = list(sources)
                    flips = random.integers(1, 1 << 16, size=LANES)
                    pairs = zip(sources[place], flips, strict=True)
                    changed[place] = [bits ^ int(flip) << 16 * half for bits, flip in pairs]
                    check_halves(before, results(name, changed, clamps), halves, part, name)
                part += 1


def check_halves(
    before: list[np.ndarray[Any, Any]],
    after: list[np.ndarray[Any, Any]],
    halves: tuple[tuple[tuple[int, ...], ...], ...],
    part: int,
    name: str,
) -> None:
    for old, new, result in zip(before, after, halves, strict=True):
        for half, parts in enumerate(result):
            differs = bool(np.any((old ^ new) >> np.uint64(16 * half) & np.uint64(0xFFFF)))
            assert part in parts or not differs, f"{name}: half {half} depends on part {part}"
