"""Traces through the cycle model's host code."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from traced_runs import Place, Trace, TracedWave

from amdjit.cycles.engine.layout import NEVER
from amdjit.cycles.engine.order import CAUSES
from amdjit.cycles.program import Kind, Step
from amdjit.cycles.rows import program_of
from amdjit.cycles.simulation import GroupRun, WaveRun, simulate

__all__ = ["replay_in_host_code"]

HIDDEN = (Kind.DELAY, Kind.WAIT_ALU, Kind.BARRIER_WAIT)


def replay_in_host_code(
    trace: Trace, values: Mapping[str, float] | None = None
) -> list[dict[int, tuple[int, str]]]:
    """Return, for each wave of the traced SIMD, the cycle and the cause of each step that is
    issued. values: of the parameters, by name; None: those of the trace's processor."""
    workgroups: dict[int, list[int]] = {}
    waves = (*trace.waves, *trace.neighbours)
    for number, wave in enumerate(waves):
        workgroups.setdefault(wave.workgroup, []).append(number)
    groups = [
        GroupRun(
            tuple(_run(trace, number, waves[number]) for number in numbers),
            tuple(waves[number].simd for number in numbers),
        )
        for numbers in workgroups.values()
    ]
    found = simulate(
        program_of(trace.table, trace.values if values is None else values, trace.wave_size), groups
    )
    order = [number for numbers in workgroups.values() for number in numbers]
    by_number = dict(zip(order, found, strict=True))
    predicted = []
    for number, wave in enumerate(trace.waves):
        kinds = trace.table.steps[list(wave.path), Step.KIND]
        shown = np.flatnonzero(~np.isin(kinds, HIDDEN))
        issued, reasons = by_number[number].issued, by_number[number].reason
        assert reasons is not None
        predicted.append(
            {
                int(step): (int(cycle), CAUSES[reason])
                for step, cycle, reason in zip(shown, issued, reasons, strict=False)
            }
        )
    return predicted


def _run(trace: Trace, number: int, wave: TracedWave) -> WaveRun:
    given, count, quantum = trace.given, len(wave.path), trace.quantum
    return WaveRun(
        path=np.array(wave.path, np.int32),
        start=wave.start // quantum,
        age=number,
        fetched=_by_step(given.not_before, number, count, NEVER) // quantum,
        accepted=_by_step(given.transfer_not_before, number, count, NEVER) // quantum,
        done=_by_step(given.latency, number, count, 0) // quantum,
    )


def _by_step(given: Mapping[Place, int], wave: int, count: int, usual: int) -> NDArray[np.int64]:
    array: NDArray[np.int64] = np.full(count, usual, np.int64)
    for (number, step), value in given.items():
        if number == wave:
            array[step] = value
    return array
