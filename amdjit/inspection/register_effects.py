"""What each instruction does to general registers: what it reads, and what it overwrites.

A set of registers is an integer with a bit for each. VGPRs have one for each half of 16 bits: the
lower halves first, from `HIGH` on the upper ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import TypeVar

from amdjit.isa.analysis.hidden_lanes import ExecChange, exec_change
from amdjit.isa.instruction import (
    Instruction,
    OperandSpec,
    Register,
    RegisterFile,
)
from amdjit.isa.traits import MemoryKind, Result, SingleLane, Traits, Unit

__all__ = [
    "ALL_SCALARS",
    "ALL_VECTORS",
    "EVERYTHING",
    "SGPRS",
    "VGPRS",
    "Effect",
    "RegisterSet",
    "effect_of",
    "halves_of",
    "register_set",
    "vector_number",
    "vectors",
]


# Accumulation VGPRs have the numbers from 256 on.
_ACCUMULATION = 256
VGPRS = 512
SGPRS = 106
_LOW = (1 << VGPRS) - 1
ALL_VECTORS = (1 << 2 * VGPRS) - 1
ALL_SCALARS = (1 << SGPRS) - 1

_DATA = frozenset({"vdst", "vdata", "data0", "data1"})


def vectors(halves: int) -> int:
    """Return the VGPRs of which a half is in the set, with one bit for each."""
    return (halves | halves >> VGPRS) & _LOW


def vector_number(register: Register) -> int:
    """Return the number of a vector register's first dword in sets of registers."""
    is_accumulation = register.file is RegisterFile.AGPR
    return register.index + _ACCUMULATION * is_accumulation


def halves_of(first: int, dwords: int) -> int:
    """Return both halves of consecutive VGPRs, as far as there are such registers."""
    registers = ((1 << min(dwords, VGPRS)) - 1) << first & _LOW
    return registers | registers << VGPRS


@dataclass(slots=True)
class Effect:
    """What one instruction does. It is filled once, when it is made."""

    reads: int = 0
    """VGPRs of which it reads active lanes."""
    across: int = 0
    """VGPRs of which it may also read inactive lanes."""
    writes: int = 0
    """VGPRs of which it may change anything."""
    kills: int = 0
    """VGPRs of which it overwrites all active lanes."""
    kills_all: int = 0
    """VGPRs of which it overwrites all lanes."""
    needs_all: bool = False
    """Whether its result is defined only if all lanes are active."""
    change: ExecChange = ExecChange.NONE
    """How it changes EXEC."""
    scalar_reads: int = 0
    """SGPRs that it reads."""
    scalar_writes: int = 0
    """SGPRs of which it may change anything."""
    scalar_kills: int = 0
    """SGPRs that it overwrites."""
    writes_scalars: bool = False
    """Whether it writes scalar registers, SGPRs or others."""


# Of an instruction of which nothing is known, and of a branch that may go anywhere.
EVERYTHING = Effect(
    reads=ALL_VECTORS,
    across=ALL_VECTORS,
    writes=ALL_VECTORS,
    change=ExecChange.ANY,
    scalar_reads=ALL_SCALARS,
    scalar_writes=ALL_SCALARS,
)


def effect_of(instruction: Instruction) -> Effect:
    """Return what an instruction does to general registers."""
    traits = instruction.traits
    effect = Effect(
        needs_all=traits.ignores_exec or _transposes(traits),
        writes_scalars=traits.writes_exec,
    )
    for part in (instruction, instruction.pair) if instruction.pair else (instruction,):
        writes_all, across = _writes_all(part), _reads_inactive(part)
        for spec, register in _registers(part):
            if register.file in (RegisterFile.VGPR, RegisterFile.AGPR):
                _vector(
                    effect, part, spec=spec, register=register, writes_all=writes_all, across=across
                )
            elif register.file is RegisterFile.SGPR:
                _scalar(effect, spec, register, writes_all)
            elif spec.written:
                effect.writes_scalars = True
    if effect.writes_scalars:
        effect.change = exec_change(instruction)
    # M0 decides at run time which registers these moves read and write.
    if traits.is_relative:
        effect.reads = effect.writes = ALL_VECTORS
    if traits.moves_relative_scalars:
        effect.scalar_reads = effect.scalar_writes = ALL_SCALARS
    return effect


def _registers(instruction: Instruction) -> Iterator[tuple[OperandSpec, Register]]:
    for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True):
        if isinstance(operand, Register):
            yield spec, operand


def _vector(
    effect: Effect,
    instruction: Instruction,
    spec: OperandSpec,
    register: Register,
    writes_all: bool,
    across: bool,
) -> None:
    registers, is_part = _halves(instruction, spec, register)
    if spec.written:
        effect.writes |= registers
    if spec.read and not (spec.written and (is_part or _merges(instruction.traits))):
        effect.reads |= registers
        if across:
            effect.across |= registers
    elif writes_all and (is_part or not spec.read):
        if instruction.traits.ignores_exec:
            effect.kills_all |= registers
        else:
            effect.kills |= registers


def _scalar(effect: Effect, spec: OperandSpec, register: Register, writes_all: bool) -> None:
    registers = ((1 << register.dwords) - 1) << register.index
    if spec.written:
        effect.scalar_writes |= registers
        effect.writes_scalars = True
    if spec.read:
        effect.scalar_reads |= registers
    elif writes_all:
        effect.scalar_kills |= registers


def _halves(instruction: Instruction, spec: OperandSpec, register: Register) -> tuple[int, bool]:
    """Return the halves of VGPRs that an operand names, and whether that is one half of what a load
    fills or a store takes (RDNA 4 ISA, 10.4)."""
    access = instruction.traits.memory
    is_part = access is not None and access.half is not None and spec.role in _DATA
    half = access.half if access is not None and is_part else register.half
    both = halves_of(vector_number(register), register.dwords)
    if half is None:
        return both, False
    return both & (_LOW << VGPRS if half else _LOW), is_part


def _merges(traits: Traits) -> bool:
    """Whether a result that the opcode table calls read and written only keeps a part of what was
    there: a half, or other lanes."""
    is_load = traits.memory is not None and traits.memory.kind is MemoryKind.LOAD
    return is_load or traits.is_mixed or traits.single_lane is SingleLane.WRITE


def _writes_all(instruction: Instruction) -> bool:
    """Whether an instruction writes each active lane of its results whole, whatever happens."""
    traits, modifiers = instruction.traits, instruction.modifiers
    dpp = modifiers.dpp
    if instruction.immediates.get("tfe"):
        return False
    if modifiers.sdwa is not None and modifiers.sdwa.keeps_rest:
        return False
    if dpp is not None and dpp.lanes is None:
        return dpp.bound_control and dpp.row_mask == 0xF and dpp.bank_mask == 0xF
    is_scalar = traits.result in (Result.SCALAR, Result.LANE_MASK)
    moves = traits.moved_role is not None and traits.unit is Unit.LDS
    is_whole = traits.lane_by_lane or traits.ignores_exec or _transposes(traits)
    return is_whole or is_scalar or moves


def _transposes(traits: Traits) -> bool:
    return traits.memory is not None and traits.memory.is_transposed


def _reads_inactive(instruction: Instruction) -> bool:
    """Whether an instruction may read inactive lanes.

    v_readfirstlane does if no lane is active; its result is undefined then (LLVM language
    reference, llvm.amdgcn.readfirstlane), so that nothing can depend on it.
    """
    traits, dpp = instruction.traits, instruction.modifiers.dpp
    if dpp is not None and dpp.fetch_inactive:
        return True
    fetches = traits.moved_role is not None and traits.unit is Unit.VALU
    return traits.reads_inactive or (fetches and bool(instruction.modifiers.op_sel & 1))


# Sets of registers as integers with a bit for each: small, and quick to make of one another.


_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, eq=False)
class RegisterSet(Set[int]):
    """The numbers of registers, in order: a set that equals other sets of the same numbers.

    bits: bit n stands for register n.
    """

    bits: int

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number >= 0 and self.bits >> number & 1 == 1

    def __iter__(self) -> Iterator[int]:
        left = self.bits
        while left:
            lowest = left & -left
            yield lowest.bit_length() - 1
            left ^= lowest

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __hash__(self) -> int:
        return self._hash()

    def __repr__(self) -> str:
        return f"{{{', '.join(map(str, self))}}}"

    @classmethod
    def _from_iterable(cls, it: Iterable[_Item]) -> frozenset[_Item]:
        return frozenset(it)


def register_set(numbers: Iterable[int]) -> RegisterSet:
    """Return the set of these numbers."""
    return RegisterSet(sum(1 << number for number in set(numbers)))
