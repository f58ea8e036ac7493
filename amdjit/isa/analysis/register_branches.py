"""Where branches through registers go, as far as constants in registers say it.

    s_getpc_b64 s[4:5]              ; s4, s5: the address of what follows
    s_add_u32 s4, s4, f - .         ; s4: the lower half of f, SCC: the carry
    s_addc_u32 s5, s5, 0            ; s5: the upper half
    s_swappc_b64 s[30:31], s[4:5]   ; goes to f; s30, s31: the address of what follows

A register has a set of values, of 32 bits each; one that is not in the state may hold anything.
Where paths meet, the sets are united. States follow only the branches that are possible, so that a
function returns to its own callers, and what no instruction of it writes is there what it was
before the call. Compilers keep return addresses in lanes of VGPRs, and find
functions of others in the global offset table, which is not written at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product

from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.analysis.dataflow import scalar_writes, vector_operands
from amdjit.isa.instruction import InlineConstant, Instruction, Literal, Operand, Register
from amdjit.isa.operand_codes import RegisterFile
from amdjit.isa.register_numbers import SCC_SLOT, scalar_slot
from amdjit.isa.traits import SingleLane
from amdjit.late_methods import dataclass

__all__ = ["RegisterBranches", "register_branches", "unfollowed"]


@dataclass(frozen=True, slots=True)
class RegisterBranches:
    """Where a kernel's branches through registers go."""

    targets: Mapping[int, tuple[int, ...]]
    """For each branch by its address, the blocks to which it may go. If `unknown` is empty, all
    that can be executed are there."""
    unknown: tuple[Instruction, ...]
    """Those that may go elsewhere, in the order of addresses. Only calls are followed past them, as
    if they changed no register."""


def register_branches(graph: Graph, pointers: Mapping[int, int]) -> RegisterBranches:
    """Return where the branches through registers go, of those that can be executed. pointers: the
    addresses that stand in memory which nothing changes, by where they stand."""
    if not any(block.instructions[-1].traits.flow.is_indirect for block in graph.blocks.values()):
        return RegisterBranches({}, ())
    return _Search(graph, pointers).result()


_MASK = 0xFFFFFFFF
# A register with more values may hold anything.
_MOST = 64
_Values = frozenset[int]
# A scalar register by its number, or a lane of a VGPR by both numbers.
_State = dict[int | tuple[int, int], _Values]
# What an instruction writes into the registers of its first operand, and into SCC, if it is known.
_Result = tuple[list[_Values | None], _Values | None]


class _Search:
    def __init__(self, graph: Graph, pointers: Mapping[int, int]) -> None:
        self._graph = graph
        self._pointers = pointers
        self._calls = {
            block.instructions[-1].pc + block.instructions[-1].size: block
            for block in graph.blocks.values()
            if block.instructions[-1].traits.flow.is_call
        }
        self._never_called = {*self._calls, graph.entry}
        self._states: dict[int, _State] = {graph.entry: {}}
        # By the address after a call: what the function's returns leave.
        self._returned: dict[int, _State] = {}
        work = [graph.entry]
        while work:
            work += self._pass_block(graph.blocks[work.pop()])
            if not work:
                work += [pc for pc in self._returned if self._return_to(pc)]

    def _pass_block(self, block: Block) -> list[int]:
        """Bring a block's state to where it goes on; return what that changed."""
        changed = []
        state, last = self._end_of(block), block.instructions[-1]
        is_return = last.traits.flow.is_indirect and not last.traits.flow.is_call
        for successor in self._after(block):
            call = self._calls.get(successor) if is_return else None
            if call is not None and block.pc in self._called_by(call):
                _merge(self._returned, successor, state)
                is_changed = self._return_to(successor)
            else:
                is_changed = _merge(self._states, successor, state)
            if is_changed:
                changed.append(successor)
        following = last.pc + last.size
        if last.traits.flow.is_call and following in self._returned and self._return_to(following):
            changed.append(following)
        return changed

    def _return_to(self, pc: int) -> bool:
        """Bring what returns to after a call there, but what no instruction of the function writes
        as the caller left it; return whether that changed anything."""
        call = self._calls[pc]
        kept = self._end_of(call)
        for called in self._called_by(call):
            for instruction in self._graph.blocks[called].instructions:
                _forget(instruction, kept)
        return _merge(self._states, pc, {**self._returned[pc], **kept})

    def _called_by(self, call: Block) -> set[int]:
        """Return the blocks of the functions to which a call goes, and of those that they call."""
        found: set[int] = set()
        work = list(self._after(call))
        while work:
            pc = work.pop()
            if pc in found or pc not in self._states:
                continue
            found.add(pc)
            block = self._graph.blocks[pc]
            last = block.instructions[-1]
            is_call = last.traits.flow.is_call
            returns = self._calls if last.traits.flow.is_indirect and not is_call else {}
            work += [target for target in self._after(block) if target not in returns]
            work += [last.pc + last.size] if is_call else []
        return found

    def result(self) -> RegisterBranches:
        """Return what was found."""
        targets: dict[int, tuple[int, ...]] = {}
        unknown: list[Instruction] = []
        for pc in sorted(self._states):
            block = self._graph.blocks[pc]
            last = block.instructions[-1]
            if last.traits.flow.is_indirect:
                found = self._targets(block)
                if found is None:
                    unknown.append(last)
                else:
                    targets[last.pc] = found
        return RegisterBranches(targets, tuple(unknown))

    def _end_of(self, block: Block) -> _State:
        state = dict(self._states[block.pc])
        for instruction in block.instructions:
            self._pass(instruction, state)
        return state

    def _after(self, block: Block) -> tuple[int, ...]:
        """Return where a block goes on."""
        last = block.instructions[-1]
        if not last.traits.flow.is_indirect:
            return tuple(pc for pc in block.successors if pc in self._graph.blocks)
        found = self._targets(block)
        if found is not None:
            return found
        following = last.pc + last.size
        is_call = last.traits.flow.is_call and following in self._graph.blocks
        return (following,) if is_call else ()

    def _targets(self, block: Block) -> tuple[int, ...] | None:
        """Return where the branch through a register goes that ends a block, None if that is not
        known, or no block where the graph lets it go."""
        last = block.instructions[-1]
        possible = {pc for pc in block.successors if pc in self._graph.blocks}
        if last.traits.flow.is_call:
            possible -= self._never_called
        state = dict(self._states[block.pc])
        for instruction in block.instructions[:-1]:
            self._pass(instruction, state)
        low, high = self._read(last, len(last.operands) - 1, state, dwords=2)
        if low is None or high is None:
            return None
        wanted = {upper << 32 | lower for lower, upper in product(low, high)}
        return tuple(sorted(wanted)) if wanted <= possible else None

    def _pass(self, instruction: Instruction, state: _State) -> None:
        """Change a state to the one after an instruction."""
        values, carry = self._result(instruction, state)
        lanes = self._written_lanes(instruction, state)
        _forget(instruction, state)
        state.update(lanes)
        if carry is not None:
            state[SCC_SLOT] = carry
        first = instruction.operands[0] if instruction.operands else None
        slot = _slot(first)
        for number, value in enumerate(values if slot is not None else ()):
            if slot is not None and value is not None and len(value) <= _MOST:
                state[slot + number] = value

    def _result(self, instruction: Instruction, state: _State) -> _Result:
        traits = instruction.traits
        if traits.reads_pc or traits.flow.is_call:
            following = instruction.pc + instruction.size
            return [frozenset({following & _MASK}), frozenset({following >> 32})], None
        if traits.single_lane is SingleLane.READ:
            return [self._lane(instruction, state)], None
        compute = _COMPUTED.get(traits.operation)
        if compute is not None:
            dwords = instruction.opcode.operands[0].dwords
            places = range(1, len(instruction.operands))
            read = [self._read(instruction, place, state, dwords) for place in places]
            return compute(read, state.get(SCC_SLOT))
        if traits.operation in _LOADS:
            return self._loaded(instruction, state), None
        return [], None

    @staticmethod
    def _read(
        instruction: Instruction, place: int, state: _State, dwords: int
    ) -> list[_Values | None]:
        """Return the values of each register of an operand."""
        operand = instruction.operands[place]
        if isinstance(operand, InlineConstant) and isinstance(operand.value, int):
            value = operand.value & (1 << 32 * dwords) - 1
            return [frozenset({value >> 32 * number & _MASK}) for number in range(dwords)]
        if isinstance(operand, Literal):
            return [frozenset({value}) for value in (operand.value, 0)[:dwords]]
        slot = _slot(operand)
        if slot is None:
            return [None] * dwords
        return [state.get(slot + number) for number in range(dwords)]

    def _loaded(self, instruction: Instruction, state: _State) -> list[_Values | None]:
        """Return an address that a scalar load takes from memory that nothing changes."""
        if _slot(instruction.operand("soffset")) is not None:
            return []
        low, high = self._read(instruction, 1, state, dwords=2)
        if low is None or high is None:
            return []
        offset = instruction.immediates["offset"]
        places = [(upper << 32 | lower) + offset for lower, upper in product(low, high)]
        if any(place not in self._pointers for place in places):
            return []
        found = [self._pointers[place] for place in places]
        halves: list[_Values | None] = []
        for shift in (0, 32):
            halves.append(frozenset(address >> shift & _MASK for address in found))
        return halves

    def _lane(self, instruction: Instruction, state: _State) -> _Values | None:
        source, lane = instruction.operands[1], self._lane_number(instruction)
        if lane is None or not isinstance(source, Register):
            return None
        return state.get((source.index, lane)) if source.file is RegisterFile.VGPR else None

    def _written_lanes(self, instruction: Instruction, state: _State) -> _State:
        """Return what a lane gets, and what the other lanes of its register keep."""
        if instruction.traits.single_lane is not SingleLane.WRITE:
            return {}
        target, lane = instruction.operands[0], self._lane_number(instruction)
        if lane is None or not isinstance(target, Register):
            return {}
        kept = {key: values for key, values in state.items() if _is_lane_of(key, target.index)}
        (values,) = self._read(instruction, 1, state, dwords=1)
        kept.pop((target.index, lane), None)
        return kept if values is None else {**kept, (target.index, lane): values}

    def _lane_number(self, instruction: Instruction) -> int | None:
        """Return the lane that a constant selects."""
        lane = instruction.operands[2] if len(instruction.operands) > 2 else None
        if not isinstance(lane, InlineConstant) or not isinstance(lane.value, int):
            return None
        return lane.value % self._graph.wave_size


def _merge(states: dict[int, _State], pc: int, new: _State) -> bool:
    """Add a path's state to a block's; return whether that changed it."""
    old = states.get(pc)
    both = new if old is None else _united(old, new)
    if old is not None and both == old:
        return False
    states[pc] = both
    return True


def _united(old: _State, new: _State) -> _State:
    both = {key: values | new[key] for key, values in old.items() if key in new}
    return {key: values for key, values in both.items() if len(values) <= _MOST}


def _slot(operand: Operand | None) -> int | None:
    """Return the number of the first scalar register of an operand, None if it is none."""
    if not isinstance(operand, Register) or operand.file in _NOT_SCALAR:
        return None
    return scalar_slot(operand)


_NOT_SCALAR = (RegisterFile.VGPR, RegisterFile.AGPR, RegisterFile.SCC)


def _is_lane_of(key: int | tuple[int, int], vector: int) -> bool:
    return isinstance(key, tuple) and key[0] == vector


def _forget(instruction: Instruction, state: _State) -> None:
    """Remove what an instruction writes from a state."""
    traits = instruction.traits
    if traits.moves_relative_scalars:
        state.clear()
    if traits.is_relative:
        for key in [key for key in state if isinstance(key, tuple)]:
            del state[key]
    for slot in scalar_writes(instruction):
        state.pop(slot, None)
    if traits.writes_scc:
        state.pop(SCC_SLOT, None)
    for half in (instruction, instruction.pair) if instruction.pair else (instruction,):
        for _, written, _, register in vector_operands(half):
            if written and register.file is RegisterFile.VGPR:
                numbers = range(register.index, register.index + register.dwords)
                for key in [key for key in state if isinstance(key, tuple) and key[0] in numbers]:
                    del state[key]


# What scalar instructions compute of the registers that they read, and of SCC.

_Read = list[list[_Values | None]]


def _move(read: _Read, _: _Values | None) -> _Result:
    return read[0], None


def _select(read: _Read, _: _Values | None) -> _Result:
    pairs = zip(*read, strict=True)
    return [None if a is None or b is None else a | b for a, b in pairs], None


def _extend(read: _Read, _: _Values | None) -> _Result:
    (values,) = read[0]
    if values is None:
        return [None], None
    return [frozenset(((value & 0xFFFF ^ 0x8000) - 0x8000) & _MASK for value in values)], None


def _add(read: _Read, _: _Values | None) -> _Result:
    return _sum(read[0][0], read[1][0], frozenset({0}))


def _add_carry(read: _Read, carry: _Values | None) -> _Result:
    return _sum(read[0][0], read[1][0], carry)


def _sum(a: _Values | None, b: _Values | None, carry: _Values | None) -> _Result:
    if a is None or b is None or carry is None:
        return [None], None
    sums = {one + other + more for one, other, more in product(a, b, carry)}
    return [frozenset(total & _MASK for total in sums)], frozenset(total >> 32 for total in sums)


def _add_wide(read: _Read, _: _Values | None) -> _Result:
    (low,), carry = _sum(read[0][0], read[1][0], frozenset({0}))
    (high,), _ = _sum(read[0][1], read[1][1], carry)
    return [low, high], None


_COMPUTED: Mapping[str, Callable[[_Read, _Values | None], _Result]] = {
    "s_mov_b32": _move,
    "s_mov_b64": _move,
    "s_cselect_b32": _select,
    "s_cselect_b64": _select,
    "s_sext_i32_i16": _extend,
    "s_add_co_u32": _add,
    "s_add_co_ci_u32": _add_carry,
    "s_add_nc_u64": _add_wide,
}


_LOADS = ("s_load_b64", "s_load_dwordx2")


def unfollowed(instructions: Iterable[Instruction]) -> Iterable[Instruction]:
    """Yield the instructions after which the wave may go on where no analysis follows it: returns
    from the trap handler, and branches that split a wave or ask the debugger."""
    for instruction in instructions:
        if instruction.traits.leaves_graph:
            yield instruction
