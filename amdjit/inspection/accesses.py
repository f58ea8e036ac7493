"""The memory instructions of a kernel: what they move, and how the lanes' addresses differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from amdjit.emulator.counting.lds_banks import bank_cycles, order_of
from amdjit.inspection.facts import AccessFacts
from amdjit.inspection.lanes.state import State, entry_state, read
from amdjit.inspection.lanes.transfer import pass_instruction
from amdjit.inspection.lanes.values import Steps, Value, add, constant, widened
from amdjit.inspection.machine_code import MachineCode, starts_full
from amdjit.isa.immediate_text import policy_text
from amdjit.isa.instruction import Instruction, Operand, Register, RegisterFile
from amdjit.isa.traits import MemoryKind, Space, Unit

__all__ = ["Addresses", "known_states", "lane_addresses", "memory_accesses"]

# The work-items of a workgroup along x, y and z, None if they are not known.
Shape = tuple[int, int, int] | None


def memory_accesses(code: MachineCode, shape: Shape) -> tuple[AccessFacts, ...]:
    """Return the memory instructions of a kernel, by address. shape: of its workgroups."""
    known = {
        instruction.pc: lane_addresses(state, instruction, code.wave_size)
        for instruction, state in known_states(code, shape)
        if instruction.traits.memory is not None
    }
    return tuple(
        _facts(code, instruction, known.get(instruction.pc))
        for _, instruction in code.instructions()
        if instruction.traits.memory is not None and instruction.pc not in code.unknown
    )


def _facts(code: MachineCode, instruction: Instruction, known: Addresses | None) -> AccessFacts:
    access = instruction.access
    file, line = code.whole.line_of(instruction.pc) or (None, None)
    return AccessFacts(
        address=instruction.pc,
        space=_space(instruction),
        kind=access.kind.value,
        width=_width(instruction),
        uniform=None if known is None else known.uniform,
        lane_stride=None if known is None else known.stride,
        policy=_policy(instruction),
        bank_conflicts=_bank_conflicts(instruction, known),
        file=file,
        line=line,
    )


def _space(instruction: Instruction) -> str:
    if instruction.traits.unit is Unit.SCALAR_MEMORY:
        return "scalar"
    return instruction.access.space.value


def _width(instruction: Instruction) -> int:
    """Return the bytes of a lane, of a whole wave for scalar loads."""
    access = instruction.access
    if access.size:
        return access.size * (2 if access.has_two_addresses else 1)
    moved = [
        operand.dwords
        for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True)
        if spec.role in ("vdst", "vdata", "sdst") and isinstance(operand, Register)
    ]
    return 4 * moved[0] if moved else 0


def _policy(instruction: Instruction) -> str:
    kind = instruction.access.kind
    return policy_text(
        instruction.immediates, kind is MemoryKind.ATOMIC, kind is MemoryKind.STORE
    ).strip()


def _bank_conflicts(instruction: Instruction, known: Addresses | None) -> int | None:
    """Return the cycles that bank conflicts add to an access to LDS with all lanes active: where
    the place in a dword is not known, only if it is the same for each."""
    access = instruction.access
    if access.space is not Space.LDS or known is None or not access.size:
        return None
    if access.kind is MemoryKind.ATOMIC and instruction.traits.once_per_wave:
        return 0
    parts = 2 if access.has_two_addresses else 1
    found = {
        bank_cycles(
            [place + offset for offset in known.offsets],
            access.size,
            atomic=access.kind is MemoryKind.ATOMIC,
            order=order_of(instruction.opcode.instruction_set.name, access.kind is MemoryKind.LOAD),
        ).conflicts
        for place in known.places_in_dword
    }
    return found.pop() * parts if len(found) == 1 else None


# What is known of registers before each instruction of a kernel: a forward analysis whose meet
# keeps what holds on all paths.


def known_states(
    code: MachineCode, shape: Shape, wave: int | None = None
) -> Iterator[tuple[Instruction, State]]:
    """Yield each instruction with what is known before it: several times, of which the last one
    counts. The state is good until the next one is asked for. Instructions that are not reached are
    left out, and all of them if it is not known where branches go.

    wave: the number of a wave in its workgroup, of which more may be known than of all."""
    if _goes_anywhere(code):
        return
    entry = code.graph.entry
    states = {entry: entry_state(code.kernel, starts_full(code.kernel), shape, wave)}
    work = [entry]
    queued = {entry}
    while work:
        address = heappop(work)
        queued.discard(address)
        state = states[address].copy()
        for instruction in code.graph.blocks[address].instructions:
            yield instruction, state
            if instruction.operands or instruction.traits.writes_exec:
                pass_instruction(state, instruction, code.wave_size)
        for target in code.edges[address]:
            known = states.get(target)
            if known is None:
                states[target] = state.copy()
            elif not known.join(state.copy(), target):
                continue
            if target not in queued:
                queued.add(target)
                heappush(work, target)


def _goes_anywhere(code: MachineCode) -> bool:
    return code.hides_functions or any(
        block.instructions[-1].traits.flow.is_indirect and not code.edges[address]
        for address, block in code.graph.blocks.items()
    )


# How the addresses of a wave's lanes differ at one access.


_ALL_PLACES = range(4)


@dataclass(frozen=True, slots=True)
class Addresses:
    """offsets: of each lane's address from the first lane's, in bytes. places_in_dword: what the
    first lane's address modulo 4 may be. first: its address in LDS, None if it is not known."""

    offsets: tuple[int, ...]
    places_in_dword: tuple[int, ...] = tuple(_ALL_PLACES)
    first: int | None = None

    @property
    def uniform(self) -> bool:
        """Whether all lanes have one address."""
        return not any(self.offsets)

    @property
    def stride(self) -> int | None:
        """Bytes from each lane to the next, None if they differ."""
        steps = {b - a for a, b in zip(self.offsets, self.offsets[1:], strict=False)}
        return steps.pop() if len(steps) == 1 else None


def lane_addresses(state: State, instruction: Instruction, wave_size: int) -> Addresses | None:
    """Return how the addresses of an access differ between its active lanes, None if that is not
    known.

    Of an access with two addresses, both differ alike. Addresses of private memory are those in a
    lane's own. Scalar offsets of 32 bits are taken not to wrap around.
    """
    access, traits = instruction.access, instruction.traits
    same = (0,) * wave_size
    if traits.unit is Unit.SCALAR_MEMORY:
        return Addresses(same)
    if access.has_descriptor:
        # The resource may add lane numbers, or swizzle.
        return None
    if access.space is Space.LDS:
        return _in_lds(state, instruction, wave_size)
    roles = [spec.role for spec in instruction.opcode.operands]
    if "vaddr" not in roles:
        return Addresses(_counting(wave_size))
    operand = instruction.operand("vaddr")
    if operand is None:
        return Addresses(same)
    known, steps = _steps(state, operand)
    return Addresses(_signed(steps, wave_size, 64)) if known else None


def _counting(wave_size: int) -> tuple[int, ...]:
    """ADDTID adds 4 bytes for each lane."""
    return tuple(4 * lane for lane in range(wave_size))


def _in_lds(state: State, instruction: Instruction, wave_size: int) -> Addresses | None:
    if instruction.traits.once_per_wave:
        return Addresses((0,) * wave_size)
    if all(spec.role != "addr" for spec in instruction.opcode.operands):
        return Addresses(_counting(wave_size))
    value = read(state, instruction.operand("addr"))
    if value is None:
        return None
    immediates, size = instruction.immediates, instruction.access.size
    if not instruction.access.has_two_addresses:
        value = add(value, constant(immediates["offset"]))
    first = value.low if value.known == value.width else None
    return Addresses(_signed(value.steps, wave_size, 32), _places(value, size), first)


def _places(value: Value, size: int) -> tuple[int, ...]:
    known = min(value.known, 2)
    return tuple(place for place in _ALL_PLACES if place % (1 << known) == value.low % (1 << known))


def _steps(state: State, operand: Operand) -> tuple[bool, Steps | None]:
    assert isinstance(operand, Register)
    assert operand.file is RegisterFile.VGPR
    if operand.dwords == 2:
        return state.wide_steps(operand.index)
    value = state.vector(operand.index)
    return (False, None) if value is None else (True, widened(value.steps))


def _signed(steps: Steps | None, wave_size: int, bits: int) -> tuple[int, ...]:
    if steps is None:
        return (0,) * wave_size
    return tuple(step - (1 << bits) if step >> bits - 1 else step for step in steps)
