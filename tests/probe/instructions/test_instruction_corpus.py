"""The corpus of instructions: complete, the same each time, and without refusals on the
emulator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import amdjit
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.probe.corpus.instructions.batching import (
    Run,
    batches,
    bundles,
    executed_rows,
    rows_of,
    runs,
    trials_of,
    why_left_out,
)
from amdjit.probe.corpus.instructions.forms import Extent
from amdjit.probe.corpus.instructions.trials import Bundle, cases_of
from amdjit.target import TARGETS, Target

_EMULATED = [target for target in TARGETS if target.is_emulated]
_FAMILIES = [
    target
    for target in _EMULATED
    if target.name in ("gfx1201", "gfx1100", "gfx1150", "gfx908", "gfx90a", "gfx942", "gfx950")
]
_SAMPLED = [target for target in _FAMILIES if target.name in ("gfx1201", "gfx1100", "gfx942")]


def _check_complete(target: Target) -> None:
    sets = instruction_set_of(target.name)
    assert sets is not None
    for row in executed_rows(sets, target.wave_size):
        first = next(iter(trials_of(row, target.wave_size, Extent.ALL)), None)
        assert (first is None) == (why_left_out(row) is not None), row.opcode


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", _SAMPLED, ids=str)
def test_every_executed_opcode_has_a_trial_or_a_reason(target: Target) -> None:
    _check_complete(target)


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", _FAMILIES, ids=str)
def test_every_executed_opcode_of_each_family_has_a_trial_or_a_reason(target: Target) -> None:
    _check_complete(target)


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", _FAMILIES, ids=str)
def test_the_batches_have_every_opcode_that_is_not_left_out(target: Target) -> None:
    sets = instruction_set_of(target.name)
    assert sets is not None
    wanted = {
        row.opcode for row in executed_rows(sets, target.wave_size) if why_left_out(row) is None
    }
    found = [
        row.opcode for run in runs(target) if run.extent is Extent.ALL for row in rows_of(run, sets)
    ]
    assert len(found) == len(wanted)
    assert set(found) == wanted


def test_names_of_batches_and_cases_are_unique() -> None:
    target = _SAMPLED[0]
    listed = batches(target)
    assert len({batch.name for batch in listed}) == len(listed)
    for batch in listed[::60]:
        assert batch.cases is not None
        names = [case.name for case in batch.cases(target)]
        assert names
        assert len(set(names)) == len(names)


def test_kernels_and_inputs_are_the_same_each_time() -> None:
    target = next(target for target in _FAMILIES if target.name == "gfx1201")
    run = next(run for run in runs(target) if run.format == "VOP2")
    (code, rows), (again, others) = (next(bundles(run, target)).build() for _ in range(2))
    assert code == again
    assert np.array_equal(rows, others)


def _sample(run: Run, target: Target) -> list[Bundle]:
    """Return a few of a run's trials."""
    found = list(bundles(run, target))
    return [replace(found[0], trials=found[0].trials[::11])] if found else []


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", _FAMILIES, ids=str)
def test_a_sample_runs_on_the_emulator(target: Target) -> None:
    seen = 0
    with amdjit.use(f"emulator:{target.name}"):
        for run in list(runs(target))[:: 5 if target in _SAMPLED else 12]:
            for bundle in _sample(run, target):
                results = bundle.launch()
                assert len(results) == len(bundle.trials)
                seen += len(results)
    assert seen > 15


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", _FAMILIES, ids=str)
def test_the_whole_corpus_runs_on_the_emulator(target: Target) -> None:
    with amdjit.use(f"emulator:{target.name}"):
        for run in runs(target):
            for bundle in bundles(run, target):
                for trial, result in zip(bundle.trials, bundle.launch(), strict=True):
                    assert len(result) == len(trial.results), trial.name


def _bundle_of(target: Target, format_name: str, mnemonic: str) -> Bundle:
    """Return the plain trial of an opcode alone."""
    for run in runs(target):
        if run.format == format_name and run.extent is Extent.ALL:
            for bundle in bundles(run, target):
                for trial in bundle.trials:
                    if trial.subject == mnemonic:
                        return replace(bundle, trials=(trial,))
    raise AssertionError(mnemonic)


def test_an_addition_is_numpys() -> None:
    target = next(target for target in _FAMILIES if target.name == "gfx942")
    bundle = _bundle_of(target, "VOP2", "v_add_f32")
    _, rows = bundle.build()
    (case,) = cases_of(bundle)
    with amdjit.use("emulator:gfx942"):
        (found,) = case.run()
    with np.errstate(all="ignore"):
        expected = rows[0].view(np.float32) + rows[1].view(np.float32)
    numbers = ~np.isnan(expected)
    assert numbers.sum() > 300
    # Special values meet in pairs.
    pairs = {(int(first), int(second)) for first, second in zip(rows[0], rows[1], strict=True)}
    assert (0x7F800000, 0xFF800000) in pairs
    assert np.array_equal(found[:, 0][numbers], expected[numbers])
    assert f"src0 = 0x{int(rows[0][5]):08x}" in case.inputs(0, 5)
    assert f"src1 = 0x{int(rows[1][5]):08x}" in case.inputs(0, 5)
