"""Random programs of real instructions, and random paths through them: what both simulations are
compared on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from amdjit.cycles.program import Kind, ProgramTable, Step, program_table
from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import GFX11, GFX12

ENCODINGS = Path(__file__).parents[1] / "hardware" / "traces" / "encodings.json"
# What random instructions of the traces rarely are, or rarely depend on: by encoding.
MORE = (
    "010087bf",  # s_delay_alu instid0(VALU_DEP_1)
    "120187bf",  # ... instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
    "a90087bf",  # ... instid0(SALU_CYCLE_1), instid1(TRANS32_DEP_1) for the same instruction
    "550487bf",  # ... instid0(TRANS32_DEP_1), instid1 of a later one
    "feff88bf",  # s_wait_alu depctr_sa_sdst(0)
    "ff0f88bf",  # s_wait_alu depctr_va_vdst(0)
    "e1f188bf",  # s_wait_alu of SGPRs, VCC and what memory instructions read
    "c100febe",  # s_mov_b32 exec_lo, -1
    "010094bf",  # s_barrier_wait
    "c14e80be",  # s_barrier_signal -1
    "040083bf",  # s_sleep
)


S_BARRIER = "0000bdbf"  # of gfx11


@dataclass(frozen=True, eq=False)
class Given:
    """What both are told, by wave and step."""

    not_before: tuple[NDArray[np.int64], ...]
    accepted_at: tuple[NDArray[np.int64], ...]
    latency: tuple[NDArray[np.int64], ...]
    conflicts: tuple[NDArray[np.int64], ...]

    def fetched(self, wave: int, step: int, cycle: int) -> int:
        return max(cycle, int(self.not_before[wave][step]))

    def accepted(self, wave: int, step: int, cycle: int) -> int:
        return max(cycle, int(self.accepted_at[wave][step]))

    def complete(self, wave: int, step: int, transferred: int) -> int:
        return transferred + int(self.latency[wave][step])

    def lds_cycles(self, wave: int, step: int) -> int:
        return int(self.conflicts[wave][step])


@dataclass(frozen=True, eq=False)
class Group:
    """Waves of a workgroup: their SIMDs, when they start, their paths."""

    simds: tuple[int, ...]
    starts: tuple[int, ...]
    paths: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Case:
    """A program, what its waves do, what is given, and parameters."""

    table: ProgramTable
    groups: tuple[Group, ...]
    given: Given
    values: Mapping[str, int]


@cache
def pool() -> Mapping[Kind, tuple[str, ...]]:
    """Return the encodings of instructions, by how they leave their wave."""
    found: dict[Kind, list[str]] = {}
    codes = json.loads(ENCODINGS.read_text())["gfx1201"].values()
    for code in sorted({*codes, *MORE, S_BARRIER}):
        try:
            instruction = decoded(code, 0)
        except UndecodableInstruction:
            continue
        kind = Kind(int(program_table([instruction]).steps[0, Step.KIND]))
        found.setdefault(kind, []).append(code)
    return {kind: tuple(codes) for kind, codes in found.items()}


def decoded(code: str, pc: int) -> Instruction:
    """Decode an instruction of gfx12, or the one of gfx11 that gfx12 lacks."""
    instruction_set = GFX11 if code == S_BARRIER else GFX12
    return decode(bytes.fromhex(code), 0, pc, 32, instruction_set)


def placed(codes: list[str]) -> list[Instruction]:
    """Decode instructions one after the other."""
    pc, instructions = 0, []
    for code in codes:
        instructions.append(decoded(code, pc))
        pc += instructions[-1].size
    return instructions


@st.composite
def programs(draw: st.DrawFn) -> ProgramTable:
    """Draw a program in which each kind of instruction is as likely as another."""
    kinds = st.sampled_from(sorted(pool()))
    codes = kinds.flatmap(lambda kind: st.sampled_from(pool()[kind]))
    return program_table(placed(draw(st.lists(codes, min_size=1, max_size=16))))


def path(draw: st.DrawFn, table: ProgramTable, longest: int) -> tuple[int, ...]:
    """Draw a way through a program: branches lead anywhere."""
    at, steps = 0, []
    for _ in range(draw(st.integers(1, longest))):
        steps.append(at)
        is_branch = table.steps[at, Step.KIND] == Kind.BRANCH
        at = draw(st.integers(0, len(table) - 1)) if is_branch else (at + 1) % len(table)
    return tuple(steps)


def arrays(
    draw: st.DrawFn, groups: tuple[Group, ...], low: int, high: int
) -> tuple[NDArray[np.int64], ...]:
    """Draw a number for each step of each wave; most are the same."""
    usual = draw(st.integers(low, high))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    found = []
    for group in groups:
        for steps in group.paths:
            rare = random.integers(low, high + 1, len(steps))
            found.append(np.where(random.random(len(steps)) < 0.2, rare, usual))
    return tuple(found)


@st.composite
def cases(draw: st.DrawFn, values: Mapping[str, int]) -> Case:
    """Draw a case. values: the parameters, each of which may be another."""
    table = draw(programs())
    groups = []
    for _ in range(draw(st.integers(1, 3))):
        way = path(draw, table, 50)
        count = draw(st.integers(1, 4))
        same = draw(st.booleans())
        groups.append(
            Group(
                tuple(draw(st.integers(0, 3)) for _ in range(count)),
                tuple(draw(st.integers(0, 60)) for _ in range(count)),
                tuple(way if same else path(draw, table, 30) for _ in range(count)),
            )
        )
    every = tuple(groups)
    given = Given(
        arrays(draw, every, 0, 300),
        arrays(draw, every, 0, 300),
        arrays(draw, every, 0, 500),
        arrays(draw, every, 0, 40),
    )
    changes = draw(st.dictionaries(st.sampled_from(sorted(values)), st.integers(1, 30)))
    return Case(table, every, given, {**values, **changes})
