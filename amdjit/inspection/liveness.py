"""Live registers before each instruction: a backward analysis of machine code.

A register is live where its value may still be read. What an instruction writes leaves the lanes
alone that are inactive, so that a write ends the life of a VGPR only where nobody reads those lanes
before they are written: for each VGPR there are two facts, whether active lanes may be read later
and whether inactive ones may be (as in `isa.analysis.hidden_lanes`, for whole kernels with
calls and for halves of registers). Both are of whole waves, of 32 lanes or of 64.

What no instruction has written on any way to a place, and the launch has not set, holds no value
and is not live there.

A load's result is live from the load on, also while it is in flight. One that nobody reads is not
live, although hardware writes the register when the load lands: `InstructionFacts.needs` says which
waits come first. Where nothing is known of what runs next, all registers are live.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

from amdjit.code_object import Kernel
from amdjit.inspection.facts import InstructionFacts, LiveOrigin, SourcePlace
from amdjit.inspection.machine_code import MachineCode
from amdjit.isa.analysis.control_flow import Block
from amdjit.isa.analysis.dataflow import exec_slots, ones_after
from amdjit.isa.analysis.hidden_lanes import ExecChange, exec_change
from amdjit.isa.instruction import (
    Instruction,
    OperandSpec,
    Register,
    RegisterFile,
)
from amdjit.isa.traits import MemoryKind, Result, SingleLane, Traits, Unit

__all__ = ["Live", "RegisterSet", "live_origins", "live_registers", "register_set"]


# What each instruction does to general registers: what it reads, and what it overwrites.
#
# A set of registers is an integer with a bit for each. VGPRs have one for each half of 16 bits: the
# lower halves first, from `HIGH` on the upper ones.


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


# Registers that may be read later: VGPRs in active lanes, in inactive ones, and SGPRs.
_State = tuple[int, int, int]
# SGPRs that the launch may set after those that the kernel asks for.
_SYSTEM_SGPRS = 5
_NOTHING: _State = (0, 0, 0)
_ANYTHING: _State = (ALL_VECTORS, ALL_VECTORS, ALL_SCALARS)


@dataclass(frozen=True, slots=True)
class Live:
    """The registers that are live before an instruction."""

    vgprs: RegisterSet
    sgprs: RegisterSet


@dataclass(frozen=True, slots=True)
class _Step:
    """An instruction's effect, and whether all lanes are active before it."""

    address: int
    effect: Effect
    full: bool


def live_registers(code: MachineCode) -> dict[int, Live]:
    """Return what is live before each instruction, by address."""
    steps = {address: _steps(code, block) for address, block in code.graph.blocks.items()}
    at_start, written = _solve(code, steps), _written(code, steps)
    there, scalars_there = _allocated(code, steps)
    found: dict[int, Live] = {}
    sets: dict[int, RegisterSet] = {}

    def shared(bits: int) -> RegisterSet:
        return sets.setdefault(bits, RegisterSet(bits))

    for address, inside in steps.items():
        read = _read_later(inside, _behind(code, address, at_start))
        vectors_set, scalars_set = written.get(address, (ALL_VECTORS, ALL_SCALARS))
        for step, (active, hidden, scalars) in zip(inside, read, strict=True):
            vgprs = vectors((active | hidden) & vectors_set & there)
            sgprs = scalars & scalars_set & scalars_there
            found[step.address] = Live(shared(vgprs), shared(sgprs))
            vectors_set |= step.effect.writes
            scalars_set |= step.effect.scalar_writes
    return found


def _allocated(code: MachineCode, steps: Mapping[int, Sequence[_Step]]) -> tuple[int, int]:
    """Return the VGPRs and SGPRs that the kernel has: those that the metadata counts, and those
    that instructions name, should these be more."""
    metadata = code.kernel.metadata
    vgprs = halves_of(0, metadata.vgpr_count)
    sgprs = (1 << min(metadata.sgpr_count, SGPRS)) - 1
    for effect in (step.effect for inside in steps.values() for step in inside):
        for named in (effect.reads, effect.writes):
            vgprs |= named if named != ALL_VECTORS else 0
        for named in (effect.scalar_reads, effect.scalar_writes):
            sgprs |= named if named != ALL_SCALARS else 0
    return vgprs, sgprs


def _read_later(steps: Sequence[_Step], state: _State) -> list[_State]:
    """Return the state before each instruction of a block, from that after the block."""
    found = []
    for step in reversed(steps):
        state = _before(step.effect, step.full, state)
        found.append(state)
    return found[::-1]


def _written(code: MachineCode, steps: Mapping[int, Sequence[_Step]]) -> dict[int, tuple[int, int]]:
    """Return the VGPRs and SGPRs that may hold a value at each block's start; all of them may in
    blocks that are not there."""
    if code.hides_functions:
        return {}
    gained = {address: (0, 0) for address in steps}
    for address, inside in steps.items():
        for step in inside:
            vgprs, sgprs = gained[address]
            gained[address] = vgprs | step.effect.writes, sgprs | step.effect.scalar_writes
    found = {code.graph.entry: _set_by_launch(code.kernel)}
    work = [code.graph.entry]
    while work:
        address = work.pop()
        vgprs, sgprs = (old | new for old, new in zip(found[address], gained[address], strict=True))
        for target in code.edges[address]:
            old = found.get(target)
            new = (vgprs, sgprs) if old is None else (old[0] | vgprs, old[1] | sgprs)
            if new != old:
                found[target] = new
                work.append(target)
    return found


def _set_by_launch(kernel: Kernel) -> tuple[int, int]:
    """Return the registers with which a wave begins: v0 holds the work-item's ids (LLVM AMDGPU
    guide, "Initial Kernel Execution State")."""
    descriptor = kernel.descriptor
    scalars = descriptor.user_sgpr_count + descriptor.kernarg_preload_dwords + _SYSTEM_SGPRS
    return halves_of(0, 1), (1 << scalars) - 1


def _steps(code: MachineCode, block: Block) -> list[_Step]:
    executes = exec_slots(code.wave_size)
    ones = code.ones.get(block.pc, frozenset())
    found = []
    for instruction in block.instructions:
        effect = EVERYTHING if instruction.pc in code.unknown else effect_of(instruction)
        found.append(_Step(instruction.pc, effect, effect.needs_all or executes <= ones))
        if effect.writes_scalars:
            ones = ones_after(instruction, ones)
    return found


def _solve(code: MachineCode, steps: Mapping[int, Sequence[_Step]]) -> dict[int, _State]:
    """Return the state at each block's start."""
    before: dict[int, list[int]] = {address: [] for address in steps}
    for address, targets in code.edges.items():
        for target in targets:
            before[target].append(address)
    states: dict[int, _State] = {}
    work = sorted(steps)
    waiting = set(work)
    while work:
        address = work.pop()
        waiting.discard(address)
        state = _behind(code, address, states)
        for step in reversed(steps[address]):
            state = _before(step.effect, step.full, state)
        if state != states.get(address, _NOTHING):
            states[address] = state
            new = [block for block in before[address] if block not in waiting]
            waiting.update(new)
            work += sorted(new)
    return states


def _behind(code: MachineCode, address: int, states: Mapping[int, _State]) -> _State:
    """Return the state after a block."""
    targets = code.edges[address]
    if _goes_anywhere(code, address):
        return _ANYTHING
    active = hidden = scalars = 0
    for target in targets:
        state = states.get(target, _NOTHING)
        active |= state[0]
        hidden |= state[1]
        scalars |= state[2]
    return active, hidden, scalars


def _goes_anywhere(code: MachineCode, address: int) -> bool:
    flow = code.graph.blocks[address].instructions[-1].traits.flow
    return flow.is_indirect and (code.hides_functions or not code.edges[address])


def _before(effect: Effect, full: bool, after: _State) -> _State:
    active, hidden, scalars = after
    change = effect.change
    if change is not ExecChange.NONE:
        # A lane that is active before may be inactive afterwards, unless EXEC only gains lanes, and
        # the other way round.
        if change is not ExecChange.GAINS:
            active, hidden = (
                active | hidden,
                (hidden if change is ExecChange.LOSES else active | hidden),
            )
        else:
            hidden |= active
    kept = ~effect.kills_all
    active = active & ~effect.kills & kept | effect.reads | effect.across
    hidden = 0 if full else hidden & kept | effect.across
    return active, hidden, scalars & ~effect.scalar_kills | effect.scalar_reads


# Where the values come from that are live at a place: the lines whose instructions wrote them.
#
# The search goes backwards from the place, along all paths, until each register has been written
# whole. It needs line numbers only, which machine code has more often than names of variables.


def live_origins(
    code: MachineCode, highest: InstructionFacts, places: Mapping[int, SourcePlace | None]
) -> tuple[LiveOrigin, ...]:
    """Return which lines wrote the VGPRs that are live before an instruction, most registers first.

    places: of each instruction, by address. A register that several lines may have written counts
    for each of them; one that nobody has written holds a value with which the wave starts.
    """
    wanted = sum(1 << number for number in highest.live_vgprs)
    found: dict[SourcePlace | None, int] = {}
    for address, registers in _writers(code, highest, wanted):
        place = places.get(address)
        found[place] = found.get(place, 0) | registers
    origins = (_origin(place, r) for place, r in found.items())
    return tuple(sorted(origins, key=lambda o: (-len(o.vgprs), o.file or "", o.line or 0)))


def _origin(place: SourcePlace | None, registers: int) -> LiveOrigin:
    file, line = place or (None, None)
    return LiveOrigin(file, line, RegisterSet(registers))


def _writers(
    code: MachineCode, highest: InstructionFacts, wanted: int
) -> Iterator[tuple[int, int]]:
    """Yield the addresses of instructions with those of the wanted registers that they wrote."""
    before: dict[int, list[int]] = {address: [] for address in code.graph.blocks}
    for address, targets in code.edges.items():
        for target in targets:
            before[target].append(address)
    searched: dict[int, int] = dict.fromkeys(code.graph.blocks, 0)
    home = next(a for a, b in code.graph.blocks.items() if _holds(b, highest.address))
    inside = code.graph.blocks[home].instructions
    work = [(home, [i for i in inside if i.pc < highest.address], wanted)]
    while work:
        address, instructions, open_ones = work.pop()
        for instruction in reversed(instructions):
            written = _vectors_written(instruction) & open_ones
            if written:
                yield instruction.pc, written
                kills = effect_of(instruction)
                open_ones &= ~_whole(kills.kills | kills.kills_all)
        for earlier in before[address]:
            new = open_ones & ~searched[earlier]
            if new:
                searched[earlier] |= new
                work.append((earlier, list(code.graph.blocks[earlier].instructions), new))


def _holds(block: Block, address: int) -> bool:
    return block.pc <= address <= block.instructions[-1].pc


def _whole(halves: int) -> int:
    """Return the registers of which both halves are in a set of halves."""
    return halves & halves >> VGPRS & (1 << VGPRS) - 1


def _vectors_written(instruction: Instruction) -> int:
    """Return the VGPRs that an instruction writes, whole or in part."""
    registers = 0
    for part in (instruction, instruction.pair) if instruction.pair else (instruction,):
        for spec, operand in zip(part.opcode.operands, part.operands, strict=True):
            if not spec.written or not isinstance(operand, Register):
                continue
            if operand.file in (RegisterFile.VGPR, RegisterFile.AGPR):
                registers |= ((1 << operand.dwords) - 1) << vector_number(operand)
    return registers
