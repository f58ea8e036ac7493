"""Results of MFMA that are used before they are there: missing wait states.

gfx9 does not hold an instruction back until a matrix product that it depends on has ended; code has
to (CDNA 3 ISA, 4.5 "Manually inserted wait states"). Each instruction between the two is a wait
state, `s_nop N` is N + 1 of them. How many are needed is in the rows below, as LLVM 22 has them
(GCNHazardRecognizer: checkMAIHazards908, checkMAIHazards90A, checkMAIVALUHazards).

The state before an instruction says how many wait states ago each product was issued, on the path
with the fewest, and which of its registers still have its result. As LLVM does, it begins anew in
functions and behind calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from amdjit.emulator.checks.waits.places import Place, operands_of, places_of
from amdjit.emulator.checks.waits.search import MissingWait
from amdjit.isa import disassemble
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.traits import Idle

__all__ = ["missing_wait_states"]

# No row needs more.
_MOST = 20
# What one s_nop makes at most (CDNA 3 ISA, S_NOP).
_NOP = 16


class _Use(Enum):
    """What an instruction does with a register of the result."""

    FACTOR = "A, B, indices or scales of another product"
    SAME = "C of another product, in exactly the registers of the result"
    OVERLAPPING = "C of another product, in other registers with some of these"
    READ = "read by the vector ALU"
    SENT = "read by a memory instruction"
    OVERWRITTEN = "overwritten by the vector ALU or a load"


# Products of f64: wait states by passes. The results of 4x4x4 ones are late even as C of another.
_DOUBLE: Mapping[int, Mapping[_Use, int]] = {
    passes: dict(zip(_Use, states, strict=True))
    for passes, states in {
        4: (6, 4, 4, 6, 9, 6),
        8: (11, 0, 9, 11, 18, 11),
        16: (19, 0, 17, 19, 18, 11),
    }.items()
}


@dataclass(frozen=True, slots=True)
class _Product:
    """A product, whose result is in `result`."""

    pc: int
    processor: str
    passes: int
    is_double: bool
    is_xdl: bool
    result: Register

    @classmethod
    def of(cls, instruction: Instruction) -> _Product | None:
        """Return the product that an instruction is, None if it is another one."""
        product = instruction.traits.block_product
        if product is None:
            return None
        result = instruction.operands[0]
        assert isinstance(result, Register)
        processor = instruction.opcode.instruction_set.name
        return cls(
            instruction.pc,
            processor,
            product.passes(result.dwords, processor),
            product.result == "f64",
            product.is_xdl(processor),
            result,
        )

    def states(self, use: _Use, user: _Product | None) -> int:
        """Return the wait states that a use of the result needs. user: the product that uses it, if
        it is one."""
        if self.is_double:
            return self._double(use, user)
        if use is _Use.SAME:
            # Other results are handed on within the matrix unit.
            return 2 if self.passes == 2 and self._is_new else 0
        if self.processor == "gfx908":
            rows = {_Use.FACTOR: 4, _Use.OVERLAPPING: 2, _Use.OVERWRITTEN: self.passes - 1}
            return rows.get(use, self.passes + 2)
        if use is _Use.OVERLAPPING:
            assert user is not None
            return self._overlapping(user)
        return self.passes + (3 + self._late if self.is_xdl else 2)

    @property
    def _is_new(self) -> bool:
        return self.processor in ("gfx942", "gfx950")

    @property
    def _late(self) -> int:
        """The results of XDL are a wait state later on gfx950, except the fastest."""
        return int(self.processor == "gfx950" and self.passes != 2)

    def _overlapping(self, user: _Product) -> int:
        if not self._is_new:
            return self.passes + int(user.is_double)
        if not self.is_xdl:
            return 0 if user.is_xdl else self.passes
        late = int(self.processor == "gfx950") if user.is_xdl else self._late
        return self.passes + 1 + late

    def _double(self, use: _Use, user: _Product | None) -> int:
        states = _DOUBLE[self.passes][use]
        if use is _Use.SAME:
            return states if user is not None and user.is_double and user.passes == 4 else 0
        if use is _Use.OVERLAPPING and user is not None and user.is_xdl:
            return 0
        return states


# For each product on its way: how many wait states ago it was issued, and the registers that still
# have its result.
_State = dict[_Product, tuple[int, frozenset[Place]]]


def missing_wait_states(graph: Graph) -> tuple[MissingWait, ...]:
    """Return the uses of results of MFMA that come too early, one for each instruction and
    product, in the order of addresses."""
    by_pc = {item.pc: item for block in graph.blocks.values() for item in block.instructions}
    if all(item.traits.block_product is None for item in by_pc.values()):
        return ()
    found: dict[tuple[int, int], MissingWait] = {}
    for pc, state in _states(graph).items():
        for missing in _of_block(graph.blocks[pc], dict(state), by_pc):
            found.setdefault((missing.pc, missing.load_pc), missing)
    return tuple(found[key] for key in sorted(found))


def _states(graph: Graph) -> dict[int, _State]:
    """Return the state at each reachable block's start."""
    states: dict[int, _State] = {graph.entry: {}}
    work = [graph.entry]
    while work:
        block = graph.blocks[work.pop()]
        state = dict(states[block.pc])
        for instruction in block.instructions:
            _issue(instruction, state)
        last = block.instructions[-1].traits.flow
        if last.is_call or last.is_indirect:
            state.clear()
        for successor in block.successors:
            if successor in graph.blocks and _merge(states, successor, state):
                work.append(successor)
    return states


def _merge(states: dict[int, _State], target: int, new: _State) -> bool:
    """Add a path's state to a block's; return whether that changed it."""
    if target not in states:
        states[target] = dict(new)
        return True
    old, changed = states[target], False
    for product, (age, places) in new.items():
        known_age, known_places = old.get(product, (_MOST, frozenset()))
        merged = min(age, known_age), places | known_places
        if merged != (known_age, known_places):
            old[product] = merged
            changed = True
    return changed


def _of_block(
    block: Block, state: _State, by_pc: Mapping[int, Instruction]
) -> Iterator[MissingWait]:
    """Yield what comes too early in a block that starts in `state`."""
    for instruction in block.instructions:
        for product, (place, use, states) in _early(instruction, state).items():
            name = f"{'v' if place[1] < 256 else 'a'}{place[1] % 256}"
            yield MissingWait(
                instruction.pc,
                disassemble(instruction),
                register=name,
                overwrites=use is _Use.OVERWRITTEN,
                load_pc=product.pc,
                load_text=disassemble(by_pc[product.pc]),
                wait=_nops(states),
                under_way="writing",
            )
        _issue(instruction, state)


def _nops(states: int) -> str:
    whole = ["s_nop 15"] * (states // _NOP)
    return " and ".join([*whole, *([f"s_nop {states % _NOP - 1}"] if states % _NOP else [])])


def _early(instruction: Instruction, state: _State) -> dict[_Product, tuple[Place, _Use, int]]:
    """Return the products whose result an instruction uses too early: the first such register, the
    use, and the wait states that are missing."""
    found: dict[_Product, tuple[Place, _Use, int]] = {}
    if not state:
        return found
    user = _Product.of(instruction)
    for role, register, written in _vectors(instruction):
        places = places_of(register)
        for product, (age, left) in state.items():
            use = _use(instruction, role, register, product, written)
            place = next((place for place in places if place in left), None)
            if use is None or place is None:
                continue
            missing = product.states(use, user) - age
            if missing > 0 and missing > found.get(product, (place, use, 0))[2]:
                found[product] = place, use, missing
    return found


def _vectors(instruction: Instruction) -> Iterator[tuple[str, Register, bool]]:
    """Yield the role of each vector register that an instruction reads or only writes, and which of
    both it does; reads come first."""
    found = [
        (spec.role, register, not spec.read)
        for spec, register in operands_of(instruction)
        if register.file in (RegisterFile.VGPR, RegisterFile.AGPR)
    ]
    yield from sorted(found, key=lambda each: each[2])


def _use(
    instruction: Instruction, role: str, register: Register, product: _Product, written: bool
) -> _Use | None:
    """Return what an operand does with a product's result; products end in order, so that one may
    overwrite the result of another."""
    traits = instruction.traits
    if traits.block_product is None:
        if written:
            return _Use.OVERWRITTEN
        return _Use.SENT if traits.unit.is_memory else _Use.READ
    if written:
        return None
    if role == ("vdst" if traits.block_product.sparse else "src2"):
        return _Use.SAME if register == product.result else _Use.OVERLAPPING
    return _Use.FACTOR


def _issue(instruction: Instruction, state: _State) -> None:
    """Change a state to the one after an instruction. A product whose result is used too early is
    reported only there."""
    for product in _early(instruction, state):
        del state[product]
    written = {
        place
        for spec, register in operands_of(instruction)
        if spec.written
        for place in places_of(register)
    }
    passed = 1
    if instruction.traits.idle is Idle.DELAY:
        passed += instruction.immediates.get("simm16", 0) & (_NOP - 1)
    for product, (age, places) in list(state.items()):
        left = places - written
        if age + passed < _MOST and left:
            state[product] = age + passed, left
        else:
            del state[product]
    issued = _Product.of(instruction)
    if issued is not None:
        state[issued] = 0, frozenset(places_of(issued.result))
