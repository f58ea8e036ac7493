"""The simulation in host code against the reference in Python, cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from amdjit.cycles.engine.order import CAUSES
from amdjit.cycles.families import VALUES as ALL_VALUES
from amdjit.cycles.memory import CacheShape, MemoryParameters, NativeMemory
from amdjit.cycles.parameters import PARAMETERS
from amdjit.cycles.program import Kind
from amdjit.cycles.rows import program_of
from amdjit.cycles.simulation import GroupRun, Requests, WaveRun, simulate
from tests.cycles.random_waves import Case, cases, pool
from tests.cycles.reference import simulation as reference
from tests.cycles.reference import transfers, vector_unit
from tests.cycles.reference.program_steps import instructions_of
from tests.cycles.reference.waves import WaveRun as ReferenceWave

VALUES = {name: row.cycles for name, row in PARAMETERS.items()}
UNUSED = MemoryParameters(*[CacheShape(1, 1)] * 3, *[0] * 8)
# (step, cycle, cause, execution)
Issues = list[tuple[int, int, str, int | None]]


@contextmanager
def parameters(values: dict[str, int]) -> Iterator[None]:
    """Let the reference use other parameters."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setitem(vector_unit.P, name, value)
        patch.setattr(vector_unit, "PLACES", values["valu queue"])
        patch.setattr(reference, "SALU_PLACES", values["salu queue"])
        patch.setattr(transfers, "DEPTH", values["transfer queue"])
        yield


def expected(case: Case) -> list[Issues]:
    """Return what the reference issues."""
    runs = [
        ReferenceWave(simd, number, start, steps)
        for number, group in enumerate(case.groups)
        for simd, start, steps in zip(group.simds, group.starts, group.paths, strict=True)
    ]
    with parameters(dict(case.values)):
        found = reference.simulate(
            instructions_of(case.table), runs, case.given, {**ALL_VALUES, **case.values}
        )
    return [[(i.step, i.cycle, i.cause, i.executed) for i in wave] for wave in found]


def simulated(case: Case) -> list[Issues]:
    """Return what the host code issues."""
    number, groups, rows = 0, [], []
    for group in case.groups:
        waves = []
        for start, steps in zip(group.starts, group.paths, strict=True):
            request = np.arange(len(rows), len(rows) + len(steps), dtype=np.int32)
            rows += [[32, 0, int(cycles), 0, 0] for cycles in case.given.conflicts[number]]
            waves.append(
                WaveRun(
                    np.array(steps, np.int32),
                    request,
                    start,
                    0,
                    None,
                    case.given.not_before[number],
                    case.given.accepted_at[number],
                    case.given.latency[number],
                )
            )
            number += 1
        groups.append(GroupRun(tuple(waves), group.simds))
    requests = Requests(np.array(rows), np.zeros(1, np.int64), NativeMemory(UNUSED))
    program = program_of(case.table, case.values)
    found = simulate(program, groups, requests, executions=True)
    paths = [steps for group in case.groups for steps in group.paths]
    return [_issues(wave, steps, case) for wave, steps in zip(found, paths, strict=True)]


def _issues(wave: Any, steps: tuple[int, ...], case: Case) -> Issues:
    hidden = (Kind.DELAY, Kind.WAIT_ALU, Kind.BARRIER_WAIT)
    shown = [step for step, at in enumerate(steps) if case.table.steps[at, 0] not in hidden]
    return [
        (step, cycle, CAUSES[reason], None if executed < 0 else executed)
        for step, cycle, reason, executed in zip(
            shown, wave.issued.tolist(), wave.reason, wave.executed.tolist(), strict=False
        )
    ]


@settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))
@given(cases(VALUES))
def test_host_code_issues_what_the_reference_issues_in_the_same_cycles(case: Case) -> None:
    assert simulated(case) == expected(case)


@pytest.mark.exhaustive
@settings(deadline=None, max_examples=3_000, suppress_health_check=list(HealthCheck))
@given(cases(VALUES))
def test_host_code_and_reference_agree_on_many_more(case: Case) -> None:
    assert simulated(case) == expected(case)


def test_every_kind_of_instruction_is_simulated() -> None:
    assert set(pool()) == set(Kind)
