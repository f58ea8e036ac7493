"""The reachable instructions of a kernel as basic blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import InlineConstant, Instruction, Literal, Register
from amdjit.isa.instruction_set import GFX12, InstructionSet
from amdjit.isa.traits import Arithmetic, Flow
from amdjit.late_methods import dataclass, field

_DEBUG_TRAP = 3


class WildBranch(Exception):
    """A direct branch leaves the code object's code."""

    def __init__(self, instruction: Instruction, target: int) -> None:
        super().__init__(f"the branch goes to {target:#x}, outside of the code object's code")
        self.instruction = instruction
        self.target = target


Unreadable = UndecodableInstruction | WildBranch


@dataclass(frozen=True, slots=True)
class Text:
    """The executable segment: its bytes, its first virtual address, where functions are known to
    start, and what the code is for: the wave size, and the processor family."""

    code: bytes
    address: int
    functions: tuple[int, ...] = ()
    wave_size: int = 32
    instruction_set: InstructionSet = GFX12
    cuts: frozenset[int] = frozenset()
    """Where `cut` has put something else in the place of an instruction."""
    repeats_clauses: bool = False
    """Whether the hardware may execute memory instructions of a clause again (XNACK)."""

    def holds(self, pc: int) -> bool:
        """Whether an instruction can start at `pc`."""
        return self.address <= pc < self.address + len(self.code) and pc % 4 == 0

    def cut(self, places: Iterable[int], word: int) -> Text:
        """Return the text with an instruction of one word, which ends its path, at these places."""
        code, cuts = bytearray(self.code), frozenset(places)
        # Where the code runs on past its end, the end is cut.
        code.extend(bytes(4))
        for place in cuts:
            struct.pack_into("<I", code, place - self.address, word)
        return replace(self, code=bytes(code), cuts=self.cuts | cuts)


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions that run one after the other; only the last may branch. successors: the first
    pcs of the blocks that may follow."""

    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]

    @property
    def pc(self) -> int:
        """The first instruction's address."""
        return self.instructions[0].pc


@dataclass(frozen=True, slots=True)
class Graph:
    """All reachable blocks by their first pc."""

    entry: int
    blocks: dict[int, Block]
    indirect_targets: tuple[int, ...]
    """Where indirect branches may go."""
    cuts: frozenset[int] = frozenset()
    """The addresses of instructions that `Text.cut` has replaced."""
    marks: Mapping[int, int] = field(default_factory=dict)
    """What the compiler says of accesses, by pc (`kernel_code.access_marks`)."""
    splits_workgroups: bool = False
    """The waves of a workgroup may run on two compute units."""
    wave_size: int = 32
    """As the code's."""
    repeats_clauses: bool = False
    """As the code's."""


def is_debug_trap(instruction: Instruction) -> bool:
    """Whether an instruction is the trap after which execution goes on (LLVM AMDGPU guide, "Trap
    Handler ABI")."""
    return instruction.traits.flow is Flow.TRAP and instruction.immediates["simm16"] == _DEBUG_TRAP


def branch_target(instruction: Instruction) -> int:
    """Return where a direct branch goes."""
    return instruction.pc + 4 + 4 * instruction.immediates["simm16"]


def build_graph(text: Text, entry: int) -> Graph:
    """Decode the code that is reachable from `entry`.

    UndecodableInstruction if reachable bytes are no instruction, WildBranch if a branch leaves the
    text.
    """
    found = _Discovery(text)
    found.follow(entry)
    targets = found.indirect_targets()
    for error in found.unknown.values():
        raise error
    blocks = {}
    for leader in sorted(found.leaders):
        if leader in found.instructions:
            blocks[leader] = _block(found, leader, targets)
    known = tuple(target for target in targets if target in blocks)
    return Graph(
        entry,
        blocks,
        known,
        text.cuts,
        wave_size=text.wave_size,
        repeats_clauses=text.repeats_clauses,
    )


def unknown_code(text: Text, entry: int) -> dict[int, Unreadable]:
    """Return the reachable places that are no instruction, or a branch out of the text."""
    found = _Discovery(text)
    found.follow(entry)
    found.indirect_targets()
    return found.unknown


def longest_run(graph: Graph) -> int | None:
    """Return a bound on how many instructions a wave executes, None if a branch goes back."""
    for block in graph.blocks.values():
        if any(successor <= block.instructions[-1].pc for successor in block.successors):
            return None
    return sum(len(block.instructions) for block in graph.blocks.values())


class _Discovery:
    def __init__(self, text: Text) -> None:
        self._text = text
        self.instructions: dict[int, Instruction] = {}
        self.leaders: set[int] = set()
        self.unknown: dict[int, Unreadable] = {}
        self._returns: set[int] = set()
        self._computed: set[int] = set()
        self._indirect = False

    def follow(self, entry: int) -> None:
        """Decode everything reachable from `entry` by direct control flow."""
        work = [entry]
        while work:
            start = work.pop()
            self.leaders.add(start)
            pc: int | None = start
            while pc is not None and pc not in self.instructions:
                try:
                    instruction = self._decode(pc)
                    work += self._leave(instruction)
                except (UndecodableInstruction, WildBranch) as error:
                    self.unknown[pc] = error
                    break
                self.instructions[pc] = instruction
                pc = None if instruction.traits.ends_block else pc + instruction.size

    def _decode(self, pc: int) -> Instruction:
        text = self._text
        return decode(text.code, pc - text.address, pc, text.wave_size, text.instruction_set)

    def _leave(self, instruction: Instruction) -> list[int]:
        traits, following = instruction.traits, instruction.pc + instruction.size
        if traits.reads_pc:
            self._note_constants(instruction)
        if not traits.ends_block:
            return []
        flow = traits.flow
        if flow.is_call:
            self._returns.add(following)
        self._indirect |= flow.is_indirect
        if flow is Flow.CONDITIONAL:
            return [following, self._target(instruction)]
        if flow in (Flow.JUMP, Flow.CALL):
            return [self._target(instruction)] + ([following] if flow is Flow.CALL else [])
        goes_on = flow.is_pause or flow is Flow.INDIRECT_CALL or is_debug_trap(instruction)
        return [following] if goes_on else []

    def _target(self, instruction: Instruction) -> int:
        target = branch_target(instruction)
        if not self._text.holds(target):
            raise WildBranch(instruction, target)
        return target

    def _note_constants(self, getpc: Instruction) -> None:
        """Take base + constant of the additions after `s_getpc_b64` as possible code addresses.

        The literal that is added to the upper half is its sign only. Small constants count where
        they are added to the address itself.
        """
        pc = base = getpc.pc + getpc.size
        for _ in range(4):
            try:
                instruction = self._decode(pc)
            except UndecodableInstruction:
                return
            if _starts_addition(instruction):
                self._computed |= {base + value for value in _added(instruction, getpc)}
            pc += instruction.size

    def indirect_targets(self) -> list[int]:
        """Decode the places to which indirect branches may go, and return them."""
        if not self._indirect:
            return []
        done: set[int] = set()
        while True:
            open_targets = (self._returns | self._computed | set(self._text.functions)) - done
            if not open_targets:
                return sorted(done)
            for target in open_targets:
                done.add(target)
                if not self._text.holds(target):
                    continue
                if target in self._returns or target in self._text.functions:
                    self.follow(target)
                else:
                    self._follow_if_code(target)

    def _follow_if_code(self, target: int) -> None:
        """A possible target that is no code is not an error: going there is a fault at run time."""
        known, leaders, unknown = dict(self.instructions), set(self.leaders), dict(self.unknown)
        self.follow(target)
        if len(self.unknown) > len(unknown):
            self.instructions, self.leaders, self.unknown = known, leaders, unknown


def _starts_addition(instruction: Instruction) -> bool:
    """Whether an instruction adds to a lower half or a whole address: it takes no carry."""
    traits = instruction.traits
    return traits.arithmetic is Arithmetic.ADD and not traits.reads_scc


def _added(instruction: Instruction, getpc: Instruction) -> Iterator[int]:
    """Yield the constants of an addition, small ones if it adds to what `s_getpc_b64` wrote."""
    first = getpc.operands[0]
    assert isinstance(first, Register)
    to_address = any(
        isinstance(operand, Register) and (operand.file, operand.index) == (first.file, first.index)
        for operand in instruction.operands[1:]
    )
    for operand in instruction.operands:
        if isinstance(operand, Literal):
            yield operand.value - (operand.value >> 31 << 32)
        elif isinstance(operand, InlineConstant) and to_address:
            yield int(operand.value)


def _block(found: _Discovery, leader: int, targets: Iterable[int]) -> Block:
    instructions = []
    pc = leader
    while True:
        instruction = found.instructions[pc]
        instructions.append(instruction)
        pc += instruction.size
        if instruction.traits.ends_block or pc in found.leaders:
            break
    return Block(tuple(instructions), _successors(instructions[-1], targets))


def _successors(last: Instruction, targets: Iterable[int]) -> tuple[int, ...]:
    flow, following = last.traits.flow, last.pc + last.size
    if flow is Flow.CONDITIONAL:
        return (branch_target(last), following)
    if flow in (Flow.JUMP, Flow.CALL):
        return (branch_target(last),)
    if flow.is_indirect:
        return tuple(targets)
    if flow is Flow.END or (flow is Flow.TRAP and not is_debug_trap(last)):
        return ()
    return (following,)
