"""The corpus reveals an emulator that computes something else: one alteration at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.emulator import EmulatorDevice
from amdjit.emulator.instructions import tables
from amdjit.emulator.instructions.lanes import dpp
from amdjit.emulator.instructions.operation import Emitter, ScalarOp
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import InstructionSet, instruction_set_of
from amdjit.isa.rows import opcode_named
from amdjit.options import read_environment
from amdjit.probe.case import bits_of
from amdjit.probe.corpus.instructions.batching import bundles, rows_of, runs
from amdjit.probe.corpus.instructions.forms import Extent
from amdjit.probe.corpus.instructions.trials import Bundle
from amdjit.target import TARGETS

_Change = Callable[[Emitter], Emitter]
_Results = tuple[Any, ...]


@dataclass(frozen=True)
class Mutant:
    """An alteration of one operation. named: what the names of all trials that differ have in
    them."""

    format: str
    mnemonic: str
    change: _Change
    named: str = ""
    processor: str = "gfx1201"


def _with(**modifiers: Any) -> _Change:
    """Execute an instruction with other modifiers than it has."""
    return _instead(
        lambda instruction: replace(
            instruction, modifiers=replace(instruction.modifiers, **modifiers)
        )
    )


def _instead(change: Callable[[Instruction], Instruction]) -> _Change:
    return lambda row: lambda frame, instruction: row(frame, change(instruction))


def _with_sdwa(**fields: Any) -> _Change:
    def change(instruction: Instruction) -> Instruction:
        sdwa = instruction.modifiers.sdwa
        if sdwa is None:
            return instruction
        modifiers = replace(instruction.modifiers, sdwa=replace(sdwa, **fields))
        return replace(instruction, modifiers=modifiers)

    return _instead(change)


def _with_offset(distance: int) -> _Change:
    def change(instruction: Instruction) -> Instruction:
        immediates = instruction.immediates
        moved = {**immediates, "offset": immediates["offset"] + distance}
        return replace(instruction, immediates=moved)

    return _instead(change)


def _swapped(first: int, second: int) -> _Change:
    """Exchange two operands."""

    def change(instruction: Instruction) -> Instruction:
        operands = list(instruction.operands)
        operands[first], operands[second] = operands[second], operands[first]
        return replace(instruction, operands=tuple(operands))

    return _instead(change)


def _as(operation: str) -> _Change:
    """Execute another operation of the same operands."""
    other = tables.EMITTERS[operation]

    def emit(row: Emitter) -> Emitter:
        del row
        return lambda frame, instruction: other(
            frame, replace(instruction, opcode=opcode_named(operation))
        )

    return emit


def _without_scc(row: Emitter) -> Emitter:
    assert isinstance(row, ScalarOp)
    assert row.tests_result
    return ScalarOp(row.expression)


MUTANTS = (
    Mutant("VOP3", "v_add_f32", _with(neg=0), "neg"),
    Mutant("VOP3", "v_mul_f32", _with(abs=0), "abs"),
    Mutant("VOP3", "v_add_f16", _with(clamp=False), "clamp"),
    Mutant("VOP3", "v_fma_f32", _with(omod=0), "omod"),
    Mutant("VOP3P", "v_pk_add_f16", _with(op_sel=0), "op_sel"),
    Mutant("VOP3P", "v_pk_mul_lo_u16", _with(op_sel_hi=3), "op_sel_hi"),
    Mutant("VOP2", "v_sub_f32", _swapped(1, 2)),
    Mutant("VOP2", "v_lshlrev_b32", _as("v_lshrrev_b32")),
    Mutant("VOP2", "v_min_num_f32", _as("v_max_num_f32")),
    Mutant("VOPC", "v_cmp_lt_f32", _as("v_cmp_le_f32")),
    Mutant("SOP2", "s_lshl_b32", _without_scc),
    Mutant("SOP2", "s_sub_co_i32", _swapped(1, 2)),
    Mutant("DS", "ds_add_rtn_u32", _with_offset(4)),
    Mutant("DS", "ds_swizzle_b32", _with_offset(1)),
    Mutant("VGLOBAL", "global_load_u8", _as("global_load_i8")),
    Mutant("VGLOBAL", "global_atomic_min_i32", _as("global_atomic_min_u32")),
    Mutant("VOP2", "v_add_f32", _with_sdwa(unused=0), "sdwa", "gfx942"),
    Mutant("VOP2", "v_add_f32", _with_sdwa(sources=(6, 6)), "sdwa", "gfx942"),
)


def _bundle_of(mutant: Mutant) -> Bundle:
    """Return all trials of the altered opcode as one bundle."""
    target = next(target for target in TARGETS if target.name == mutant.processor)
    sets = _sets(mutant.processor)
    for run in runs(target):
        if run.format != mutant.format or run.extent is not Extent.ALL:
            continue
        if any(row.opcode.mnemonic == mutant.mnemonic for row in rows_of(run, sets)):
            found = list(bundles(run, target))
            trials = tuple(
                trial
                for bundle in found
                for trial in bundle.trials
                if trial.subject == mutant.mnemonic
            )
            return replace(found[0], trials=trials)
    raise AssertionError(f"there are no trials of {mutant.mnemonic}")


def _sets(processor: str) -> InstructionSet:
    sets = instruction_set_of(processor)
    assert sets is not None
    return sets


def _results(bundle: Bundle) -> list[_Results]:
    """Run on an emulator of its own, which knows no host code made before."""
    settings = replace(read_environment(os.environ), cache_dir=None)
    with amdjit.use(EmulatorDevice(bundle.target, 1, environment=settings)):
        return list(bundle.launch())


@pytest.mark.sample(3)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.mnemonic} {m.named} {m.format}")
def test_the_corpus_reveals(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = _bundle_of(mutant)
    right = _results(bundle)
    sets = _sets(mutant.processor)
    rows = tables.emitters_of(sets.name)
    operation = sets.renamed.get(mutant.mnemonic, mutant.mnemonic)
    monkeypatch.setitem(rows, operation, mutant.change(rows[operation]))
    differing = _differing(bundle, right, _results(bundle))
    assert differing
    assert all(mutant.named in name for name in differing), differing


def _differing(bundle: Bundle, right: list[_Results], wrong: list[_Results]) -> list[str]:
    """Return the names of the trials with other results."""
    return [
        trial.name
        for trial, first, second in zip(bundle.trials, right, wrong, strict=True)
        if any(
            not np.array_equal(bits_of(one), bits_of(other))
            for one, other in zip(first, second, strict=True)
        )
    ]


def _swapped_lanes(control: int, lane: int) -> int | None:
    """Let lanes 3 and 5 of each row take each other's value under ROW_SHR:1."""
    return _SOURCE_LANE(control, lane ^ 6 if control == 0x111 and lane & 15 in (3, 5) else lane)


_SOURCE_LANE = dpp.source_lane
_LANE_MUTANTS: dict[str, tuple[str, Callable[..., Any], str]] = {
    "lanes": ("source_lane", _swapped_lanes, "dpp 0x111"),
    "masks": ("_row_and_bank_lanes", lambda dpp, half: [True] * 32, "dpp"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", _LANE_MUTANTS)
def test_the_corpus_reveals_other_lanes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attribute, altered, named = _LANE_MUTANTS[name]
    bundle = _bundle_of(Mutant("VOP2", "v_add_f32", lambda row: row))
    right = _results(bundle)
    monkeypatch.setattr(dpp, attribute, altered)
    differing = _differing(bundle, right, _results(bundle))
    assert differing
    assert all(named in trial for trial in differing), differing


def test_an_unaltered_emulator_gives_the_same_twice() -> None:
    bundle = _bundle_of(MUTANTS[0])
    for first, second in zip(_results(bundle), _results(bundle), strict=True):
        for one, other in zip(first, second, strict=True):
            assert np.array_equal(bits_of(one), bits_of(other))
