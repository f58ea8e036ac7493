"""Kernels that repeat a few instructions, encoded one by one. The difference between two loops with
more and fewer copies is the time of the copies alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

import amdjit
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.probe.machine_code import INPUT, Program, s, v
from amdjit.probe.timing.experiment import Experiment, Launch, per_step
from amdjit.target import Target

__all__ = [
    "FIRST_SGPR",
    "LANE_BYTES",
    "SELF_OFFSET",
    "WAIT_LDS",
    "WAIT_SCALAR",
    "Body",
    "Emit",
    "has",
    "loop",
    "loops",
    "wait_for",
    "wave_size_of",
]

Emit = Callable[[Program, int], object]

_FEW, _MANY = 16, 80
_COUNTER = s(8)
_VGPRS, _AGPRS = 128, 64
FIRST_SGPR = 16
"""Scalar registers from here on are free for bodies."""
LANE_BYTES = v(120)
"""After `begin`, this holds four times the lane's number. Vector registers below it are free."""
SELF_OFFSET = 4
"""The byte of the kernel's input that holds this number, so that a load from there returns its own
offset."""

WAIT_LDS, WAIT_SCALAR = "dscnt", "kmcnt"
# gfx9 to gfx11 count LDS and scalar memory together. This waits for lgkmcnt(0) and nothing else.
_OLD_WAITS = {"gfx11": 0xFC07, "gfx9": 0xC07F}


@dataclass(frozen=True)
class Body:
    """The contents of a loop."""

    name: str
    """As in `case.Measurement`."""
    parameter: str
    """As in `case.Measurement`."""
    emit: Emit
    """Adds one copy, which has this number, to a program."""
    exists: Callable[[Program], bool]
    """Tells whether the processor family of a program has the instructions."""
    begin: Emit = lambda program, copy: None
    """Adds the instructions before the loop."""
    waves: int = 1
    """Waves of the workgroup."""
    lds: int = 0
    """Bytes of LDS."""
    copies: tuple[int, int] = (_FEW, _MANY)
    """The number of copies in the shorter and in the longer loop."""
    steps: int = 1
    """How many steps a copy counts as."""
    is_predicted: bool = True


def has(*mnemonics: str) -> Callable[[Program], bool]:
    """Return a function that tells whether the family of a program has all of these
    instructions."""
    return lambda program: all(map(program.has, mnemonics))


def wait_for(program: Program, counter: str) -> None:
    """Wait until a counter is 0."""
    if program.has(f"s_wait_{counter}"):
        program.add(f"s_wait_{counter}", 0)
    else:
        program.add("s_waitcnt", _OLD_WAITS["gfx9" if program.is_gfx9 else "gfx11"])


def wave_size_of(target: Target) -> int:
    """Return the wave size that loops are measured with."""
    return min(target.wave_sizes)


def loops(bodies: Iterable[Body], target: Target) -> Iterator[Experiment]:
    """Yield the experiments of the bodies that a target has."""
    if instruction_set_of(target.name) is None:
        return
    empty = Program(target, wave_size_of(target))
    for body in bodies:
        if body.exists(empty):
            yield loop(body)


def loop(body: Body) -> Experiment:
    """Return the experiment for a body: the cycles of one step."""
    few, many = body.copies

    def launches(repetitions: int) -> tuple[Launch, ...]:
        target = amdjit.current_device().target
        given = amdjit.to_device(np.array([repetitions, SELF_OFFSET, 0, 0], np.int32))
        taken = amdjit.empty(64, np.int32)
        lanes = body.waves * wave_size_of(target)

        def launch(copies: int) -> Launch:
            kernel = amdjit.load(_code_object(body, target, copies)).kernels["kernel"]
            return lambda: kernel[1, lanes](given, taken)

        return launch(few), launch(many)

    return Experiment(
        body.name,
        "cycles",
        body.parameter,
        launches,
        per_step((many - few) * body.steps),
        is_predicted=body.is_predicted,
    )


@cache
def _code_object(body: Body, target: Target, copies: int) -> bytes:
    program = Program(target, wave_size_of(target))
    program.begin()
    program.safe("s_load_b32", _COUNTER, INPUT, offset=0)
    program.safe("v_lshlrev_b32", LANE_BYTES, 2, v(0))
    body.begin(program, 0)
    program.drain()
    program.add("s_cmp_lg_u32", _COUNTER, 0)
    program.label("loop")
    for copy in range(copies):
        body.emit(program, copy)
    program.add("s_sub_co_u32", _COUNTER, _COUNTER, 1)
    program.add("s_cmp_lg_u32", _COUNTER, 0)
    program.add("s_cbranch_scc1", "loop")
    program.drain()
    agprs = _AGPRS if program.is_gfx9 else 0
    return program.code_object(vgprs=_VGPRS, agprs=agprs, lds=body.lds)
