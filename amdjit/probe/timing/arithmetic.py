"""Loops of vector and scalar arithmetic, which measure how long each class of instructions occupies
its unit, and when its result is available."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from amdjit.cycles.parameters import passes_name
from amdjit.isa.instruction import Register
from amdjit.isa.traits import Timing
from amdjit.probe.machine_code import INPUT, Program, s, v
from amdjit.probe.timing.experiment import Experiment
from amdjit.probe.timing.loops import (
    FIRST_SGPR,
    SELF_OFFSET,
    WAIT_SCALAR,
    Body,
    Emit,
    has,
    loop,
    wait_for,
)
from amdjit.target import Target

__all__ = ["arithmetic", "branches", "reference", "turnarounds"]


_SOURCES, _PLACES = 64, 8
_LONGEST_NOP = 15

# A class, an instruction of it, the dwords of its result and of each source, and the cycle model's
# name of its latency, if that does not follow from the number of passes.
_VECTOR = (
    (Timing.VALU, "v_add_f32", 1, (1, 1), "valu dependency"),
    (Timing.VALU, "v_fma_f32", 1, (1, 1, 1), "valu dependency"),
    (Timing.VALU_HALF, "v_lshlrev_b64", 2, (1, 2), ""),
    (Timing.VALU_QUARTER, "v_mul_lo_u32", 1, (1, 1), ""),
    (Timing.TRANSCENDENTAL, "v_rcp_f32", 1, (1,), "transcendental dependency"),
    (Timing.TRANSCENDENTAL, "v_exp_f32", 1, (1,), "transcendental dependency"),
    (Timing.DOUBLE, "v_add_f64", 2, (2, 2), ""),
    (Timing.DOUBLE, "v_fma_f64", 2, (2, 2, 2), ""),
)
_SCALAR = (
    (Timing.SALU, "s_add_co_u32", 1, (1, 1), "salu dependency"),
    (Timing.SALU, "s_and_b64", 2, (2, 2), "salu dependency"),
    (Timing.SALU_MULTIPLY, "s_mul_i32", 1, (1, 1), ""),
    (Timing.SALU_MULTIPLY_64, "s_mul_u64", 2, (2, 2), ""),
    (Timing.SALU_FLOAT, "s_add_f32", 1, (1, 1), ""),
    (Timing.PSEUDO_SCALAR, "v_s_rcp_f32", 1, (1,), ""),
)


def reference(target: Target) -> Experiment:
    """Return the experiment whose cycles are known: S_NOP waits for one more cycle than its
    immediate says (RDNA 4 ISA, 16.5), on gfx9 for as many wait states, each of which is a pass of
    four cycles (CDNA 3 ISA, 4.5 and 7). The figure is the seconds of a cycle."""
    nops = loop(
        Body("s_nop 15", "", lambda program, copy: program.add("s_nop", _LONGEST_NOP), has("s_nop"))
    )
    figure = nops.figure
    cycles = (_LONGEST_NOP + 1) * (4 if target.isa[0] == 9 else 1)
    return replace(
        nops,
        name="cycle of the shader clock",
        unit="s",
        figure=lambda count, seconds, cycle: figure(count, seconds, cycle) / cycles,
    )


def arithmetic() -> Iterator[Body]:
    """Yield the rate and the latency of each class, and instructions that need no unit."""
    for timing, mnemonic, dwords, sources, latency in _VECTOR:
        given = tuple(v(_SOURCES + 2 * number, size) for number, size in enumerate(sources))
        emit = _apart(mnemonic, v, 2, dwords, given)
        yield from _both(timing, mnemonic, emit, _chain(mnemonic, v, 2, dwords, given), latency)
    for timing, mnemonic, dwords, sources, latency in _SCALAR:
        given = tuple(s(FIRST_SGPR + 2 * number, size) for number, size in enumerate(sources))
        first = FIRST_SGPR + 8
        emit = _apart(mnemonic, s, first, dwords, given)
        yield from _both(timing, mnemonic, emit, _chain(mnemonic, s, first, dwords, given), latency)
    yield Body(
        "rate v_dual_add_f32 :: v_dual_mul_f32",
        passes_name(Timing.VALU),
        _dual,
        lambda program: "VOPDX" in program.sets.rows,
    )
    for idle in (0, 3):
        yield Body(
            f"s_nop {idle} between v_add_f32",
            "immediate after issue",
            _after_issue(idle),
            has("v_add_f32", "s_nop"),
        )
    yield Body(
        "v_rcp_f32, then v_mov_b32 to the same register",
        "write after transcendental",
        _overwritten,
        has("v_rcp_f32"),
    )


def _both(timing: Timing, mnemonic: str, rate: Emit, chain: Emit, latency: str) -> Iterator[Body]:
    passes = passes_name(timing)
    yield Body(f"rate {mnemonic}", passes, rate, has(mnemonic))
    yield Body(f"latency {mnemonic}", latency or passes, chain, has(mnemonic))


_File = Callable[[int, int], Register]


def _apart(
    mnemonic: str, file: _File, first: int, dwords: int, given: tuple[Register, ...]
) -> Emit:
    """Return a function that adds independent instructions."""

    def emit(program: Program, copy: int) -> None:
        program.add(mnemonic, file(first + dwords * (copy % _PLACES), dwords), *given)

    return emit


def _chain(
    mnemonic: str, file: _File, first: int, dwords: int, given: tuple[Register, ...]
) -> Emit:
    """Return a function that adds instructions whose last source is the result of the previous
    one."""
    result = file(first, dwords)
    return lambda program, copy: program.add(mnemonic, result, *given[:-1], result)


def _dual(program: Program, copy: int) -> None:
    # One half's result is in an even and the other's in an odd register, and their sources are in
    # different banks.
    place = 2 + 2 * (copy % _PLACES)
    program.add_dual(
        ("v_dual_add_f32", v(place), v(_SOURCES), v(_SOURCES + 1)),
        ("v_dual_mul_f32", v(place + 1), v(_SOURCES + 2), v(_SOURCES + 3)),
    )


def _after_issue(idle: int) -> Emit:
    def emit(program: Program, copy: int) -> None:
        program.add("v_add_f32", v(2 + copy % _PLACES), v(_SOURCES), v(_SOURCES + 1))
        program.add("s_nop", idle)

    return emit


def _overwritten(program: Program, copy: int) -> None:
    program.add("v_rcp_f32", v(2), v(_SOURCES))
    program.add("v_mov_b32", v(2), v(_SOURCES + 1))


# Loops about everything between vector and scalar units: results that pass from one to the other,
# branches, barriers, scalar memory.


_SCALAR_UNIT, _OTHER = s(FIRST_SGPR), s(FIRST_SGPR + 1)
# Immediates of S_WAIT_ALU that wait for results of the vector ALU in SGPRs, and for those of the
# scalar ALU (LLVM, AMDGPUBaseInfo, DepCtr). All other fields say not to wait.
_VALU_SCALARS, _SALU_SCALARS = 0xF1FF, 0xFFFE
_BARRIER_WAVES = 4
# The barrier of the workgroup, as an operand and as an immediate.
_WORKGROUP, _WORKGROUP_BITS = -1, 0xFFFF


def turnarounds() -> Iterator[Body]:
    """Yield chains of instructions that pass results from one unit to another and back."""
    read = has("v_readfirstlane_b32")
    yield Body("v_readfirstlane_b32 to v_mov_b32", "valu done", _to_scalar_and_back, read)
    yield Body("v_readfirstlane_b32 to s_add_u32 to v_mov_b32", "salu to valu", _through_salu, read)
    yield Body(
        "s_add_u32 to s_add_u32 behind s_wait_alu",
        "salu done",
        _behind_wait,
        lambda program: not program.is_gfx9,
    )
    yield Body(
        "latency s_load_b32",
        "scalar cache latency",
        _scalar_load,
        has("s_load_b32"),
        begin=lambda program, copy: program.safe("s_mov_b32", _SCALAR_UNIT, SELF_OFFSET),
    )


def _await_valu(program: Program) -> None:
    """Wait for scalar results of the vector ALU, where the hardware does not wait by itself."""
    if program.is_gfx9:
        program.add("s_nop", 0)
    elif program.has("s_wait_alu"):
        program.add("s_wait_alu", _VALU_SCALARS)


def _await_salu(program: Program) -> None:
    if not program.is_gfx9 and program.has("s_wait_alu"):
        program.add("s_wait_alu", _SALU_SCALARS)


def _to_scalar_and_back(program: Program, copy: int) -> None:
    program.add("v_readfirstlane_b32", _SCALAR_UNIT, v(2))
    _await_valu(program)
    program.add("v_mov_b32", v(2), _SCALAR_UNIT)


def _through_salu(program: Program, copy: int) -> None:
    program.add("v_readfirstlane_b32", _SCALAR_UNIT, v(2))
    _await_valu(program)
    program.add("s_add_co_u32", _OTHER, _SCALAR_UNIT, 1)
    _await_salu(program)
    program.add("v_mov_b32", v(2), _OTHER)


def _behind_wait(program: Program, copy: int) -> None:
    program.add("s_add_co_u32", _SCALAR_UNIT, _SCALAR_UNIT, 1)
    program.add("s_wait_alu", _SALU_SCALARS)


def _scalar_load(program: Program, copy: int) -> None:
    """Load the word at `SELF_OFFSET`, which is this offset."""
    program.add("s_load_b32", _SCALAR_UNIT, INPUT, _SCALAR_UNIT)
    wait_for(program, WAIT_SCALAR)


def branches() -> Iterator[Body]:
    """Yield branches and barriers. At the start of each iteration SCC is 1."""
    for mnemonic in ("s_branch", "s_cbranch_scc1"):
        yield Body(
            f"{mnemonic} taken",
            "branch taken",
            _over_one(mnemonic),
            has(mnemonic),
            # Recordings number only reachable instructions, so they do not show that S_BRANCH skips
            # one.
            is_predicted=mnemonic != "s_branch",
        )
    yield Body(
        "s_cbranch_scc0 not taken",
        "branch not taken",
        lambda program, copy: program.add("s_cbranch_scc0", 0),
        has("s_cbranch_scc0"),
    )
    yield Body(
        "s_cmp_eq_u32, s_cbranch_scc1 not taken", "scc to branch", _compared, has("s_branch")
    )
    name = f"barrier of {_BARRIER_WAVES} waves"
    yield Body(name, "barrier", _barrier, lambda program: True, waves=_BARRIER_WAVES)


def _over_one(mnemonic: str) -> Emit:
    def emit(program: Program, copy: int) -> None:
        program.add(mnemonic, f"copy {copy}")
        program.add("s_nop", 0)
        program.label(f"copy {copy}")

    return emit


def _compared(program: Program, copy: int) -> None:
    program.add("s_cmp_eq_u32", s(8), 0)
    program.add("s_cbranch_scc1", 0)


def _barrier(program: Program, copy: int) -> None:
    if program.has("s_barrier_signal"):
        program.add("s_barrier_signal", _WORKGROUP)
        program.add("s_barrier_wait", _WORKGROUP_BITS)
    else:
        program.add("s_barrier")
