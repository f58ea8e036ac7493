"""Registers that are used while a load into them may still be in flight: a missing `s_wait_*`.

The emulator runs every instruction to its end before the next one, so such code gives the right
result here and now and then a wrong one on hardware. This is a dataflow analysis of the machine
code, for which nothing has to run.

The state before an instruction maps what is in flight to its age: how many instructions that count
on the same counter have been issued since, on the path where they are fewest. `s_wait_loadcnt N`
lands everything of age N and above. Paths are merged by the lowest age.

Write-after-read needs no wait on gfx12: memory instructions read their registers under a hardware
interlock (RDNA 4 ISA, 5.6: VM_VSRC; LLVM waits for none either, exports excepted).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from amdjit.emulator.analysis.control_flow import Block, Graph
from amdjit.emulator.analysis.scalar_slots import scalar_slot
from amdjit.emulator.checks.waits.condition_code import reads_scc, writes_scc
from amdjit.emulator.checks.waits.counters import Counter, effect_of, lands_scc, waits_of
from amdjit.emulator.checks.waits.halves import BOTH, moved_halves
from amdjit.emulator.decoder import disassemble
from amdjit.emulator.decoder.instruction import Instruction, OperandSpec, Register, RegisterFile
from amdjit.emulator.layout import SCC_SLOT, VCC_LO

_OLDEST = 64  # what the widest counter holds
_LDS = ("lds", 0)
_SCC = ("s", SCC_SLOT)
_BARRIERS = frozenset({"s_barrier_signal", "s_barrier_signal_isfirst"})

# A register as ("v", number) or ("s", the ISA's operand code); `_LDS` stands for writes to LDS. In
# states, VGPRs are two halves of 16 bits.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Flight:
    """The youngest load into a place on a counter, and how many were issued behind it."""

    age: int
    pc: int


_State = dict[tuple[Place, Counter], _Flight]


@dataclass(frozen=True, slots=True)
class MissingWait:
    """A use of a register, or a barrier, that comes before what is in flight has landed.

    pc: where the use is; text: that instruction. register: v7, s4, vcc_lo; "" for writes to LDS
    before a barrier. overwrites: the use is a write. load_pc, load_text: the instruction in flight.
    wait: the instruction that is missing in front of the use, for example `s_wait_loadcnt 0x0`.
    """

    pc: int
    text: str
    register: str
    overwrites: bool
    load_pc: int
    load_text: str
    wait: str

    @property
    def message(self) -> str:
        """One sentence for people, without places."""
        if not self.register:
            return (
                f"the barrier is signalled while {self.load_text} may not have reached LDS: "
                f"{self.wait} is missing"
            )
        verb = "overwritten" if self.overwrites else "read"
        if self.register == "scc":
            return (
                f"scc is {verb} while {self.load_text} may still be writing it: {self.wait} is "
                "missing"
            )
        return (
            f"{self.register} is {verb} while {self.load_text} may still be loading it: "
            f"{self.wait} is missing"
        )


def missing_waits(graph: Graph) -> tuple[MissingWait, ...]:
    """Return the uses that need a wait and have none, one for each instruction and load, by
    address."""
    analysis = _Analysis(graph)
    found: dict[tuple[int, int], MissingWait] = {}
    for pc, state in sorted(analysis.solve().items()):
        for finding in analysis.findings(graph.blocks[pc], dict(state)):
            found.setdefault((finding.pc, finding.load_pc), finding)
    return tuple(found[key] for key in sorted(found))


class _Analysis:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        blocks = graph.blocks.values()
        self._by_pc = {item.pc: item for block in blocks for item in block.instructions}
        calls = [
            item for item in self._by_pc.values() if item.mnemonic in ("s_swappc_b64", "s_call_b64")
        ]
        returns = frozenset(item.pc + item.size for item in calls)
        self._never_called = returns | {graph.entry}

    def solve(self) -> dict[int, _State]:
        """Return the state at each reachable block's start."""
        states: dict[int, _State] = {self._graph.entry: {}}
        work = [self._graph.entry]
        while work:
            block = self._graph.blocks[work.pop()]
            state = dict(states[block.pc])
            for instruction in block.instructions:
                _issue(instruction, state, self._by_pc)
            for successor in self._successors(block):
                if _merge(states, successor, state):
                    work.append(successor)
        return states

    def _successors(self, block: Block) -> Iterator[int]:
        """A call goes to functions only, not to where another call comes back: callees land
        everything first (LLVM: SIInsertWaitcnts, callWaitsOnFunctionEntry), so that a caller may
        leave loads in flight."""
        call = block.instructions[-1].mnemonic == "s_swappc_b64"
        for successor in block.successors:
            if successor in self._graph.blocks and not (call and successor in self._never_called):
                yield successor

    def findings(self, block: Block, state: _State) -> Iterator[MissingWait]:
        """Yield what is wrong in a block that starts in `state`."""
        for instruction in block.instructions:
            if state:
                yield from self._early_uses(instruction, state)
            _issue(instruction, state, self._by_pc)

    def _early_uses(self, instruction: Instruction, state: _State) -> Iterator[MissingWait]:
        for place, overwrites, counter, flight in _early(instruction, state):
            yield self._finding(instruction, place, overwrites, counter, flight)

    def _finding(
        self,
        instruction: Instruction,
        place: Place,
        overwrites: bool,
        counter: Counter,
        flight: _Flight,
    ) -> MissingWait:
        wait = f"s_wait_{counter.value} {flight.age if counter.in_order else 0:#x}"
        load = disassemble(self._by_pc[flight.pc])
        text = disassemble(instruction)
        return MissingWait(instruction.pc, text, _name(place), overwrites, flight.pc, load, wait)


def _name(place: Place) -> str:
    file, number = place
    if place == _LDS:
        return ""
    if file in BOTH:
        return f"v{number}"
    if number < VCC_LO:
        return f"s{number}"
    return {VCC_LO: "vcc_lo", VCC_LO + 1: "vcc_hi", SCC_SLOT: "scc"}.get(
        number, f"scalar register {number}"
    )


def _merge(states: dict[int, _State], target: int, new: _State) -> bool:
    """Add a path's state to a block's; tell whether that changed it."""
    old = states.get(target)
    if old is None:
        states[target] = dict(new)
        return True
    changed = False
    for key, flight in new.items():
        known = old.get(key)
        if known is None or (flight.age, flight.pc) < (known.age, known.pc):
            old[key] = flight
            changed = True
    return changed


def _lands_in_order(instruction: Instruction, counter: Counter) -> bool:
    """Tell whether a result follows an older load's of that counter, so that writing over it needs
    no wait."""
    effect = effect_of(instruction)
    return counter.in_order and effect.fills and effect.counts == (counter,)


def _early(
    instruction: Instruction, state: _State
) -> Iterator[tuple[Place, bool, Counter, _Flight]]:
    """Yield each (place, whether it is only written, counter, flight) that an instruction meets too
    early."""
    landed = _waited(instruction, state) if instruction.opcode.encoding == "VINTERP" else state
    for place, overwrites in _uses(instruction):
        for counter in Counter:
            flight = landed.get((place, counter))
            if flight and not (overwrites and _lands_in_order(instruction, counter)):
                yield place, overwrites, counter, flight


def _waited(instruction: Instruction, state: _State) -> _State:
    """Return what is still in flight behind an instruction's waits."""
    waits = waits_of(instruction)
    if not waits:
        return state
    return {
        key: flight
        for key, flight in state.items()
        if not _landed(key[1], flight, waits.get(key[1]))
    }


def _landed(counter: Counter, flight: _Flight, left: int | None) -> bool:
    if left is None:
        return False
    return flight.age >= left if counter.in_order else left == 0


def _issue(instruction: Instruction, state: _State, by_pc: Mapping[int, Instruction]) -> None:
    """Change a state to the one behind an instruction. A load that is used too early is reported
    there only."""
    if state:
        reported = {flight.pc for _, _, _, flight in _early(instruction, state)}
        for key in [key for key, flight in state.items() if flight.pc in reported]:
            del state[key]
    left = _waited(instruction, state)
    if len(left) != len(state):
        state.clear()
        state.update(left)
    signal = state.get((_SCC, Counter.KM))
    if signal is not None and lands_scc(instruction, by_pc[signal.pc]):
        del state[_SCC, Counter.KM]
    effect = effect_of(instruction)
    for key, flight in list(state.items()):
        if key[1] in effect.counts and flight.age < _OLDEST:
            state[key] = _Flight(flight.age + 1, flight.pc)
    places = list(_results(instruction)) if effect.fills else []
    places += [_LDS] if effect.writes_lds else []
    places += [_SCC] if effect.writes_scc else []
    for place in places:
        for counter in effect.counts:
            state[place, counter] = _Flight(0, instruction.pc)


def places_of(register: Register) -> Iterable[Place]:
    """Return the registers that an operand covers."""
    if register.file is RegisterFile.SCC:
        return [("s", SCC_SLOT)]
    if register.file is RegisterFile.VGPR:
        return [("v", number) for number in range(register.index, register.index + register.dwords)]
    slot = scalar_slot(register)
    return [] if slot is None else [("s", number) for number in range(slot, slot + register.dwords)]


def register_operands(instruction: Instruction) -> Iterator[tuple[bool, bool, Register]]:
    """Yield (written, read, register) of both halves of an instruction."""
    for spec, register in _operands(instruction):
        yield spec.written, spec.read, register


def _operands(instruction: Instruction) -> Iterator[tuple[OperandSpec, Register]]:
    for half in (instruction, instruction.pair) if instruction.pair else (instruction,):
        for spec, operand in zip(half.opcode.operands, half.operands, strict=True):
            if isinstance(operand, Register):
                yield spec, operand


def _halves(register: Register, halves: tuple[str, ...]) -> Iterator[Place]:
    for file, number in places_of(register):
        for half in halves if file == "v" else (file,):
            yield half, number


def _results(instruction: Instruction) -> Iterator[Place]:
    for spec, register in _operands(instruction):
        if spec.written:
            yield from _halves(register, moved_halves(instruction, spec.role))


def _uses(instruction: Instruction) -> Iterator[tuple[Place, bool]]:
    """Yield each place that an instruction needs, and whether it only writes it; reads first.

    A load to half of a register counts as a write of both: it keeps the other half, and lands in
    order.
    """
    filled = effect_of(instruction).fills
    written_later: list[Place] = []
    for spec, register in _operands(instruction):
        merges = filled and spec.written and register.dwords == 1
        if spec.read and not merges:
            for place in _halves(
                register, BOTH if spec.written else moved_halves(instruction, spec.role)
            ):
                yield place, False
        elif spec.written:
            written_later += _halves(register, BOTH)
    if instruction.mnemonic in ("s_cbranch_vccz", "s_cbranch_vccnz"):
        yield ("s", VCC_LO), False
    if instruction.mnemonic in _BARRIERS:
        yield _LDS, False
    if reads_scc(instruction.mnemonic):
        yield _SCC, False
    elif writes_scc(instruction.mnemonic):
        yield _SCC, True
    for place in written_later:
        yield place, True
