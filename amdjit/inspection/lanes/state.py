"""What is known of a wave's registers before an instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod
from typing import TypeVar

from amdjit.code_object import Kernel
from amdjit.inspection.lanes.sets import ALL, ENTRY, Chain, LaneSet, common
from amdjit.inspection.lanes.values import UNIFORM, Steps, Value, constant, each_lane, meet, widened
from amdjit.isa.instruction import (
    InlineConstant,
    Literal,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.register_numbers import scalar_slot

__all__ = ["Carry", "Half", "Held", "Pair", "State", "entry_state", "read", "workgroup_shape"]


_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True)
class Held:
    """A vector register's value, in the lanes of a set."""

    value: Value
    lanes: Chain


@dataclass(frozen=True, slots=True)
class Pair:
    """Two vector registers that hold a 64-bit number, in the lanes of a set: `high` the upper half.
    steps: what each lane adds."""

    high: int
    steps: Steps | None
    lanes: Chain


@dataclass(frozen=True, slots=True)
class Half:
    """The lower half of a 64-bit number that is being added. high: the register of its upper half,
    None if any upper half will do that is the same in all lanes. steps: of the number."""

    high: int | None
    steps: Steps | None


@dataclass(frozen=True, slots=True)
class Carry:
    """A mask of carries: of an addition to the register `low` of these halves."""

    low: int
    halves: tuple[Half, Half]
    sign: int
    lanes: Chain


@dataclass(slots=True)
class State:
    """Registers that are not there hold anything: vectors anything in each lane, scalars one
    number, masks any lanes.

    exec: the active lanes. vectors: by number; pairs: by the number of the lower half; scalars,
    masks, carries: by the ISA's operand codes. wide_masks: masks are in two registers, those of a
    wave64.
    """

    exec: Chain
    vectors: dict[int, Held] = field(default_factory=dict)
    pairs: dict[int, Pair] = field(default_factory=dict)
    scalars: dict[int, Value] = field(default_factory=dict)
    masks: dict[int, LaneSet] = field(default_factory=dict)
    carries: dict[int, Carry] = field(default_factory=dict)
    wide_masks: bool = False

    def copy(self) -> State:
        """Return an equal state that changes on its own."""
        return State(
            self.exec,
            dict(self.vectors),
            pairs=dict(self.pairs),
            scalars=dict(self.scalars),
            masks=dict(self.masks),
            carries=dict(self.carries),
            wide_masks=self.wide_masks,
        )

    def vector(self, number: int) -> Value | None:
        """Return what is known of a vector register in the active lanes."""
        held = self.vectors.get(number)
        return None if held is None else held.value

    def wide_steps(self, number: int) -> tuple[bool, Steps | None]:
        """Return whether the steps of the 64-bit number in two registers are known, and them."""
        pair = self.pairs.get(number)
        if pair is not None and pair.high == number + 1:
            return True, pair.steps
        low, high = self.vector(number), self.vector(number + 1)
        if low is None or high is None or high.steps is not None:
            return False, None
        return True, widened(low.steps)

    def write_vector(self, number: int, value: Value | None) -> None:
        """Note what an instruction writes into a register's active lanes."""
        self.vectors.pop(number, None)
        self.pairs.pop(number, None)
        if self.pairs:
            for low in [low for low, pair in self.pairs.items() if pair.high == number]:
                del self.pairs[low]
        if self.carries:
            for slot in [slot for slot, carry in self.carries.items() if _uses(carry, number)]:
                del self.carries[slot]
        if value is not None:
            self.vectors[number] = Held(value, self.exec)

    def write_scalar(self, slot: int, value: Value | None) -> None:
        """Note what an instruction writes into a scalar register."""
        self.scalars.pop(slot, None)
        self.carries.pop(slot, None)
        self.masks.pop(slot, None)
        if self.wide_masks:
            self.masks.pop(slot - 1, None)
        if value is not None and value != UNIFORM:
            self.scalars[slot] = value

    def activate(self, lanes: LaneSet, place: int) -> None:
        """Change EXEC at an address to the lanes of a mask."""
        if lanes.exact and lanes.chain is not None:
            self.exec = lanes.chain
        else:
            self.forget(place)
            wider = self.exec if lanes.chain is None else lanes.chain
            self.exec = (*_without(wider, place), place)
        self._keep(lambda chain: self.exec[: len(chain)] == chain)

    def forget(self, place: int) -> None:
        """Forget what is known of sets that were made at a place, since it makes a new one."""
        self._keep(lambda chain: place not in chain)
        for slot, lanes in list(self.masks.items()):
            if lanes.chain is not None and place in lanes.chain:
                self.masks[slot] = LaneSet(_without(lanes.chain, place))

    def _keep(self, holds: Callable[[Chain], bool]) -> None:
        """Keep what is known in sets of lanes of which something holds."""
        if not all(holds(held.lanes) for held in self.vectors.values()):
            self.vectors = {n: held for n, held in self.vectors.items() if holds(held.lanes)}
        if self.pairs:
            self.pairs = {n: pair for n, pair in self.pairs.items() if holds(pair.lanes)}
        if self.carries:
            self.carries = {n: carry for n, carry in self.carries.items() if holds(carry.lanes)}

    def join(self, other: State, block: int) -> bool:
        """Keep what also holds on another way to a block, whose state ends here; return whether
        that changed anything."""
        before = (self.exec, self.vectors, self.pairs, self.scalars, self.masks, self.carries)
        self._join_lanes(other, block)
        self.vectors = _both(self.vectors, other.vectors, _held)
        self.pairs = _both(self.pairs, other.pairs, _pair)
        self.scalars = _both(self.scalars, other.scalars, meet)
        self.masks = _both(self.masks, other.masks, _mask)
        self.carries = _both(self.carries, other.carries, _carry)
        after = (self.exec, self.vectors, self.pairs, self.scalars, self.masks, self.carries)
        return before != after

    def _join_lanes(self, other: State, block: int) -> None:
        mine = self.exec[:-1] if self.exec and self.exec[-1] == _at(block) else self.exec
        if mine == other.exec and mine == self.exec:
            return
        shared = _without(common(mine, other.exec), _at(block))
        for state in (self, other):
            state.forget(_at(block))
            state.exec = (*shared, _at(block))
            state._keep(lambda chain: shared[: len(chain)] == chain)


def _at(block: int) -> int:
    """Return the name of a set that is made where ways meet: no instruction has that address."""
    return ~block


def _without(chain: Chain, place: int) -> Chain:
    return chain[: chain.index(place)] if place in chain else chain


def _uses(carry: Carry, number: int) -> bool:
    return number == carry.low or any(half.high == number for half in carry.halves)


def _both(
    one: dict[int, _Known],
    other: dict[int, _Known],
    join: Callable[[_Known, _Known], _Known | None],
) -> dict[int, _Known]:
    found: dict[int, _Known] = {}
    for number, mine in one.items():
        theirs = other.get(number)
        if theirs is None:
            continue
        joined = mine if mine == theirs else join(mine, theirs)
        if joined is not None:
            found[number] = joined
    return found


def _held(one: Held, other: Held) -> Held | None:
    value = meet(one.value, other.value)
    return None if value is None else Held(value, max(one.lanes, other.lanes, key=len))


def _pair(one: Pair, other: Pair) -> Pair | None:
    if (one.high, one.steps) != (other.high, other.steps):
        return None
    return replace(one, lanes=max(one.lanes, other.lanes, key=len))


def _mask(one: LaneSet, other: LaneSet) -> LaneSet | None:
    if one.chain is None or other.chain is None:
        return LaneSet(one.chain or other.chain)
    return LaneSet(common(one.chain, other.chain))


def _carry(one: Carry, other: Carry) -> Carry | None:
    return None


# What is known of an instruction's operands.


def read(state: State, operand: Operand | None) -> Value | None:
    """Return what is known of an operand in the active lanes."""
    if isinstance(operand, InlineConstant):
        return constant(operand.value) if isinstance(operand.value, int) else UNIFORM
    if isinstance(operand, Literal):
        return constant(operand.value)
    if not isinstance(operand, Register):
        return UNIFORM
    if operand.file is RegisterFile.VGPR:
        return _vector(state, operand)
    if operand.file is RegisterFile.AGPR:
        return None
    if operand.dwords > 1 or operand.file is RegisterFile.SCC:
        return UNIFORM
    slot = scalar_slot(operand)
    return constant(0) if slot is None else state.scalars.get(slot, UNIFORM)


def _vector(state: State, register: Register) -> Value | None:
    values = [
        state.vector(number) for number in range(register.index, register.index + register.dwords)
    ]
    if len(values) == 1 and register.half is None:
        return values[0]
    is_uniform = all(value is not None and value.steps is None for value in values)
    return UNIFORM if is_uniform else None


# What a wave's registers hold when it starts (LLVM AMDGPU guide, "Initial Kernel Execution State").


# v0 has the work-item's ids: x in bits 9:0, y in 19:10, z in 29:20.
_Y, _Z = 10, 20


def workgroup_shape(kernel: Kernel, is_flat: bool = False) -> tuple[int, int, int] | None:
    """Return the shape of workgroups for which addresses are found: the one that the kernel fixes;
    else one-dimensional ones, if it only asks for ids along x; else None.

    is_flat: its source does not ask for others. Code may for a wave's number.
    """
    required = kernel.metadata.required_workgroup_size
    if required is not None:
        return required
    if kernel.descriptor.workitem_id_components > 1 and not is_flat:
        return None
    return (kernel.metadata.max_flat_workgroup_size, 1, 1)


def entry_state(
    kernel: Kernel, full: bool, shape: tuple[int, int, int] | None, wave: int | None = None
) -> State:
    """Return what is known when a wave starts. full: all of its lanes are active. shape: of the
    workgroups, None if it is not known. wave: its number in the workgroup, None for any."""
    wide_masks = kernel.descriptor.wave_size == 64
    state = State(ALL if full else ENTRY, wide_masks=wide_masks)
    ids = None if shape is None else _ids(shape, kernel.descriptor.wave_size, wave)
    if ids is not None:
        state.vectors[0] = Held(ids, state.exec)
    return state


def _ids(shape: tuple[int, int, int], wave_size: int, wave: int | None) -> Value | None:
    """Return the work-items' ids in a wave of a workgroup; in any, None if lanes differ differently
    in different waves."""
    found: Value | None = None
    firsts = range(0, prod(shape), wave_size)
    for first in firsts if wave is None else firsts[wave : wave + 1]:
        # Lanes beyond the workgroup are not there: they may hold anything.
        ids = each_lane([_id(number, shape) for number in range(first, first + wave_size)])
        found = ids if found is None else meet(found, ids)
        if found is None:
            return None
    return found


def _id(number: int, shape: tuple[int, int, int]) -> int:
    row, x = divmod(number, shape[0])
    z, y = divmod(row, shape[1])
    return x | y << _Y | z << _Z
