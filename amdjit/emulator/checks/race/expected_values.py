"""Loads that only guess what a compare-and-swap expects: they do not race, since the swap detects a
wrong guess.

LLVM writes atomics that the instruction set lacks, such as f64 additions, as a plain load and a
loop around a compare-and-swap (its AtomicExpand pass):

    global_load_b64 v[2:3], v6, s[0:1]                     ; not atomic: any value will do
  loop:
    v_add_f64 v[0:1], v[2:3], v[4:5]
    global_atomic_cmpswap_b64 v[0:1], v6, v[0:3], s[0:1]   ; expects v[2:3]
"""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.emulator.checks.waits.places import Place, places_of, register_operands
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import vector_number
from amdjit.isa.traits import Arithmetic, Exchange, MemoryKind, Space


def guessing_loads(graph: Graph) -> dict[int, int]:
    """Return these loads by pc, with the scope of the compare-and-swap that expects their value."""
    found: dict[int, int] = {}
    flow = _Flow(graph)
    for block in graph.blocks.values():
        for place, swap in enumerate(block.instructions):
            if _is_swap(swap):
                for load in flow.writers(block, place, _expected(swap)):
                    if _is_load(load) and flow.is_same_place(load, swap, block, place):
                        found[load.pc] = swap.scope
    return found


def _is_swap(instruction: Instruction) -> bool:
    access = instruction.traits.memory
    if access is None or access.has_descriptor:
        return False
    return access.exchange is Exchange.COMPARE


def _is_load(instruction: Instruction) -> bool:
    access = instruction.traits.memory
    if access is None or access.has_descriptor or access.space is Space.PRIVATE:
        return False
    return access.kind is MemoryKind.LOAD


def _expected(swap: Instruction) -> Place:
    """Return the first register of the expected value: one of the sources in LDS, elsewhere the
    upper half of the data."""
    if swap.access.space is Space.LDS:
        register = swap.operand("data0" if swap.access.expects_first else "data1")
        assert isinstance(register, Register)
        return "v", vector_number(register)
    register = swap.operand("vdata")
    assert isinstance(register, Register)
    return "v", vector_number(register) + register.dwords // 2


class _Flow:
    """Which definitions reach which uses in one kernel."""

    def __init__(self, graph: Graph) -> None:
        self._predecessors: dict[int, list[Block]] = {pc: [] for pc in graph.blocks}
        for block in graph.blocks.values():
            for successor in block.successors:
                if successor in self._predecessors:
                    self._predecessors[successor].append(block)

    def writers(self, block: Block, end: int, wanted: Place) -> Iterator[Instruction]:
        """Yield the instructions whose result, copied or not, a register may hold before an
        instruction of a block."""
        work: list[tuple[Block, int, Place]] = [(block, end, wanted)]
        seen: set[tuple[int, int, Place]] = set()
        while work:
            at, stop, register = work.pop()
            if (at.pc, stop, register) in seen:
                continue
            seen.add((at.pc, stop, register))
            number = next(
                (n for n in reversed(range(stop)) if _writes(at.instructions[n], register)), None
            )
            if number is None:
                work += [
                    (before, len(before.instructions), register)
                    for before in self._predecessors[at.pc]
                ]
                continue
            source = _copied(at.instructions[number], register)
            if source is None:
                yield at.instructions[number]
            else:
                work.append((at, number, source))

    def is_same_place(self, load: Instruction, swap: Instruction, block: Block, end: int) -> bool:
        """Return whether a load and a swap have the same address, as far as their registers tell.

        The swap may have a sum where the load has its terms: then one term must be the load's base.
        """
        in_lds = swap.access.space is Space.LDS
        if (load.access.space is Space.LDS) != in_lds:
            return False
        if in_lds:
            return load.operand("addr") == swap.operand("addr") and _offset(load) == _offset(swap)
        base = _register(load, "sbase") or _register(load, "saddr") or _register(load, "vaddr")
        mine = _register(swap, "saddr") or _register(swap, "vaddr")
        assert base is not None
        assert mine is not None
        if base == mine:
            return _offset(load) == _offset(swap)
        terms = {
            place for writer in self.writers(block, end, _first(mine)) for place in _reads(writer)
        }
        return _first(base) in terms


def _register(instruction: Instruction, role: str) -> Register | None:
    roles = [spec.role for spec in instruction.opcode.operands]
    operand = instruction.operands[roles.index(role)] if role in roles else None
    return operand if isinstance(operand, Register) else None


def _offset(instruction: Instruction) -> int:
    return instruction.immediates.get("offset", 0)


def _first(register: Register) -> Place:
    return next(iter(places_of(register)))


def _reads(instruction: Instruction) -> set[Place]:
    return {
        place
        for _, read, register in register_operands(instruction)
        if read
        for place in places_of(register)
    }


def _writes(instruction: Instruction, place: Place) -> bool:
    return any(
        written and place in places_of(register)
        for written, _, register in register_operands(instruction)
    )


def _copied(instruction: Instruction, target: Place) -> Place | None:
    """Return the register that a move copies to `target`."""
    halves = (instruction, instruction.pair) if instruction.pair else (instruction,)
    for half in halves:
        if half.traits.arithmetic is Arithmetic.MOVE and all(
            isinstance(operand, Register) for operand in half.operands
        ):
            written, read = (
                list(places_of(operand))
                for operand in half.operands
                if isinstance(operand, Register)
            )
            if target in written:
                return read[written.index(target)]
    return None
