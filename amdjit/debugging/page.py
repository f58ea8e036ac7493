"""A wave's life as a page for a browser: a slider over its instructions, beside the source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.debugging.debugger import Debugger
from amdjit.emulator.stepping.launch import WaveState
from amdjit.isa.register_numbers import EXEC_LO, FIRST_AGPR, SCC_SLOT, VCC_LO

__all__ = ["wave_life", "write_page"]

_MOST = 5000
_SCALARS = {VCC_LO: "vcc_lo", VCC_LO + 1: "vcc_hi", EXEC_LO: "exec_lo", EXEC_LO + 1: "exec_hi"}


def write_page(debugger: Debugger, path: Path, most: int = _MOST) -> int:
    """Write the page of the wave that is looked at, from its start on, and return how many
    instructions it shows, `most` at most. The debugger stays where it is."""
    life = wave_life(debugger, most)
    template = files("amdjit.debugging").joinpath("wave.html").read_text(encoding="utf-8")
    data = json.dumps(life, separators=(",", ":")).replace("</", "<\\/")
    path.write_text(template.replace("@DATA@", data), encoding="utf-8")
    return len(life["steps"])


def wave_life(debugger: Debugger, most: int = _MOST) -> dict[str, Any]:
    """Return what the page shows: the source lines, the instructions, and for each step what is
    about to be executed and what the instruction before has changed."""
    now = debugger.time, debugger.block, debugger.wave, debugger.lane
    debugger.go_to(0)
    debugger.select(block=now[1], wave=now[2])
    steps: list[dict[str, Any]] = []
    texts: dict[int, tuple[str, int]] = {}
    before: WaveState | None = None
    has_more = debugger.state is not None or debugger.step(instructions=True)
    while has_more and len(steps) < most:
        state = debugger.state
        if state is None or state.pc is None:
            break
        line = debugger.line
        texts.setdefault(state.pc, (debugger.instruction, 0 if line is None else line[1]))
        steps.append(
            {
                "time": debugger.time,
                "pc": state.pc,
                "exec": [int(each) for each in state.scalars[EXEC_LO : EXEC_LO + 2]],
                "changed": dict(_changes(before, state)),
                "variables": _shown(debugger),
            }
        )
        before = state
        has_more = debugger.step(instructions=True)
    source = dict(_source(debugger, {line for _, line in texts.values()}))
    debugger.go_to(now[0])
    debugger.select(block=now[1], wave=now[2], lane=now[3])
    return {
        "kernel": debugger.launch.kernel,
        "block": now[1],
        "wave": now[2],
        "lanes": 32 if before is None else int(before.vectors.shape[1]),
        "source": source,
        "instructions": texts,
        "steps": steps,
    }


def _shown(debugger: Debugger) -> dict[str, Any]:
    """Return the variables as numbers, one for all lanes where they are equal."""
    shown: dict[str, Any] = {}
    for name, value in debugger.variables.items():
        if value.lanes is not None:
            rows = [str(row) for row in value.lanes]
            shown[name] = rows[0] if len(set(rows)) == 1 else rows
    return shown


def _changes(before: WaveState | None, now: WaveState) -> Iterator[tuple[str, Any]]:
    """Yield the registers that differ from a moment before: a number, or one for each lane."""
    if before is None:
        return
    for number in np.flatnonzero(before.scalars != now.scalars).tolist():
        if number < VCC_LO or number in _SCALARS or number == SCC_SLOT:
            name = _SCALARS.get(number, "scc" if number == SCC_SLOT else f"s{number}")
            yield name, int(now.scalars[number])
    changed: NDArray[np.bool_] = (before.vectors != now.vectors).any(axis=1)
    for row in np.flatnonzero(changed).tolist():
        half = FIRST_AGPR // 2
        name = f"v{row}" if row < half else f"a{row - half}"
        yield name, now.vectors[row].tolist()


def _source(debugger: Debugger, lines: set[int]) -> Iterator[tuple[int, str]]:
    known = sorted(lines - {0})
    file = next((name for name, _ in debugger.code.lines if PurePath(name).suffix), "")
    if known:
        for number in range(max(known[0] - 2, 1), known[-1] + 3):
            yield number, debugger.code.source(file, number) or ""
