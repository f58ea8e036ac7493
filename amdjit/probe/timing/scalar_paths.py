"""Loops about everything between vector and scalar units: results that pass from one to the other,
branches, barriers, scalar memory."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.probe.machine_code import INPUT, Program, s, v
from amdjit.probe.timing.loops import (
    FIRST_SGPR,
    SELF_OFFSET,
    WAIT_SCALAR,
    Body,
    Emit,
    has,
    wait_for,
)

__all__ = ["branches", "turnarounds"]

_SCALAR, _OTHER = s(FIRST_SGPR), s(FIRST_SGPR + 1)
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
        begin=lambda program, copy: program.safe("s_mov_b32", _SCALAR, SELF_OFFSET),
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
    program.add("v_readfirstlane_b32", _SCALAR, v(2))
    _await_valu(program)
    program.add("v_mov_b32", v(2), _SCALAR)


def _through_salu(program: Program, copy: int) -> None:
    program.add("v_readfirstlane_b32", _SCALAR, v(2))
    _await_valu(program)
    program.add("s_add_co_u32", _OTHER, _SCALAR, 1)
    _await_salu(program)
    program.add("v_mov_b32", v(2), _OTHER)


def _behind_wait(program: Program, copy: int) -> None:
    program.add("s_add_co_u32", _SCALAR, _SCALAR, 1)
    program.add("s_wait_alu", _SALU_SCALARS)


def _scalar_load(program: Program, copy: int) -> None:
    """Load the word at `SELF_OFFSET`, which is this offset."""
    program.add("s_load_b32", _SCALAR, INPUT, _SCALAR)
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
