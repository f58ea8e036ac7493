"""The race check's part of translated code: it calls native code for each access, fence and
acquire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from amdjit.abi.code_marks import FENCE_MARK, FENCES_MARKED, RELEASE_MARK
from amdjit.emulator.checks.lane_addresses import lane_addresses, lanes_in
from amdjit.emulator.checks.race.conflicting_accesses import global_symbol, lds_symbol
from amdjit.emulator.checks.race.in_flight_accesses import access_code
from amdjit.emulator.checks.race.layout import DEVICE_SCOPE, MAYBE_ATOMIC, READS_ONLY
from amdjit.emulator.checks.race.time import Fence
from amdjit.emulator.checks.waits.counters import effect_of, waits_of
from amdjit.emulator.checks.waits.in_flight_at_barriers import in_flight_at_barriers
from amdjit.emulator.checks.waits.places import Place, places_of, register_operands
from amdjit.emulator.host.builder import Value, constant, vector
from amdjit.emulator.instructions.scalar.barriers import WORKGROUP, barrier_of_wait, named_signal
from amdjit.emulator.layout import PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH
from amdjit.emulator.wave.frame import CONTEXT, STATE, AccessKind, Frame, Instrument, MemoryAccess
from amdjit.emulator.wave.registers import V32
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.analysis.kernel_code import PLAIN
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import vector_number
from amdjit.isa.traits import (
    Arithmetic,
    Barrier,
    Exchange,
    Flow,
    Idle,
    Immediate,
    MemoryKind,
    Space,
)
from amdjit.isa.wait_counters import WaitEvent

_V64 = vector("i64")
_ADDRESSES = Value("ptr", "%race.addresses")
_VALUES = Value("ptr", "%race.values")
_LOWER = Value("ptr", "%race.lower")
# A record of an access in the lower half: 32 addresses of 64 bits, then up to four vectors of
# dwords.
_LOWER_VALUES = 256
_LOWER_BYTES = _LOWER_VALUES + 4 * 128
# How many accesses of an instruction are kept for the wave's upper half: both of a two-address
# form, or of a flat one.
_MOST_KEPT = 2


class RaceInstrument(Instrument):
    """Adds a call to each access, and notes what orders them."""

    name: ClassVar[str] = "race"

    def entry(self, frame: Frame) -> None:
        """Reserve memory for the addresses and values of an access."""
        frame.builder.reserve(_ADDRESSES, _V64)
        frame.builder.reserve(_VALUES, f"[4 x {V32}]")
        frame.builder.reserve(_LOWER, f"[{_MOST_KEPT} x [{_LOWER_BYTES} x i8]]")

    def __init__(self) -> None:
        self._by_lane = False
        self._split: frozenset[int] = frozenset()
        self._guesses: dict[int, int] = {}
        self._hides_atomic_stores = False
        self._marks: Mapping[int, int] = {}
        self._marks_fences = False
        self._in_flight: frozenset[int] = frozenset()
        # The lanes of an instruction's stores in the wave's lower half, and how many of those in
        # the upper half have been compared.
        self._kept: list[Value] = []
        self._compared = 0

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Find the signals of the workgroup's barrier that have accesses between them and the
        wait."""
        self._split = frozenset(
            pc for block in graph.blocks.values() for pc in _split_signals(block)
        )
        self._guesses = guessing_loads(graph)
        self._hides_atomic_stores = _hides_atomic_stores(graph)
        self._marks = graph.marks
        self._in_flight = in_flight_at_barriers(graph)
        start = graph.blocks[graph.entry].instructions
        self._marks_fences = any(is_mark(instruction, FENCES_MARKED) for instruction in start)

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Note signals of named barriers, and waits for them."""
        self._kept, self._compared = [], 0
        if self._in_flight:
            _count(frame, instruction)
        barrier = instruction.traits.barrier
        if barrier is None or barrier is Barrier.SYNC:
            return
        if barrier is Barrier.WAIT and barrier_of_wait(instruction) > 0:
            frame.native_void("aj_race_waits", [CONTEXT, STATE])
        elif barrier.signals:
            number = named_signal(frame, instruction)
            if instruction.pc in self._split:
                frame.native_void("aj_race_split", [CONTEXT])
            elif number is not None:
                frame.native_void("aj_race_arrive", [CONTEXT, STATE, number])
        elif barrier is Barrier.LEAVE:
            frame.native_void("aj_race_arrive", [CONTEXT, STATE, constant("i32", -1)])

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Note what releases and what acquires."""
        event = self._fence(instruction)
        if event is not None:
            frame.native_void("aj_race_fence", [frame.lane_context, constant("i32", event)])

        if self._orders_lanes(instruction):
            frame.native_void("aj_race_lane_order", [CONTEXT])

    def _orders_lanes(self, instruction: Instruction) -> bool:
        return False

    def _fence(self, instruction: Instruction) -> Fence | None:
        cache = instruction.traits.cache
        if _waits_for_all_stores(instruction):
            return Fence.WAIT if self._marks_fences else Fence.WAIT_AND_RELEASE
        if cache is not None and cache.invalidates and instruction.scope >= DEVICE_SCOPE:
            return Fence.ACQUIRE
        return Fence.RELEASE if self._marks_fences and is_mark(instruction, RELEASE_MARK) else None

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Check and note an access; private memory is a lane's own."""
        if access.space == "p":
            return
        values = _keep_values(frame, access)
        if access.space == "f":
            self._flat(frame, instruction, access, values)
            return
        addresses = lane_addresses(frame.builder, access)
        lds = access.space == "l"
        self._call(
            frame,
            instruction,
            access=access,
            addresses=addresses,
            lds=lds,
            lanes=access.lanes,
            values=values,
        )

    def _flat(
        self, frame: Frame, instruction: Instruction, access: MemoryAccess, values: Value
    ) -> None:
        b = frame.builder
        wide = lane_addresses(frame.builder, access)
        shared = lanes_in(b, wide, SHARED_APERTURE_HIGH)
        private = lanes_in(b, wide, PRIVATE_APERTURE_HIGH)
        rest = b.and_(access.lanes, b.not_(b.or_(shared, private)))
        self._call(
            frame, instruction, access=access, addresses=wide, lds=False, lanes=rest, values=values
        )
        in_lds, offsets = b.and_(access.lanes, shared), b.resize(b.split_bits(wide)[0], 64)
        self._call(
            frame,
            instruction,
            access=access,
            addresses=offsets,
            lds=True,
            lanes=in_lds,
            values=values,
        )

    def _call(
        self,
        frame: Frame,
        instruction: Instruction,
        access: MemoryAccess,
        addresses: Value,
        lds: bool,
        lanes: Value,
        values: Value,
    ) -> None:
        frame.builder.store(addresses, _ADDRESSES, 64)
        mark = self._marks.get(instruction.pc)
        kind, flags = _kind_of(instruction, access, lds, mark)
        if kind is AccessKind.STORE and self._hides_atomic_stores and mark is None and not lds:
            flags = DEVICE_SCOPE | MAYBE_ATOMIC
        guess = self._guesses.get(instruction.pc)
        if guess is not None:
            kind, flags = AccessKind.ATOMIC, (DEVICE_SCOPE if lds else guess) | READS_ONLY
        plain = access.space == "k" and guess is None
        symbol = "aj_race_scalar" if plain else _noting(kind, lds, self._by_lane)
        site = frame.sites.add(instruction.pc)
        size = constant("i32", access.size)
        arguments = [frame.lane_context, site, _ADDRESSES, lanes, size]
        frame.native_void(symbol, [*arguments, constant("i32", flags), values])
        if instruction.pc in self._in_flight:
            more = [constant("i32", int(not lds)), constant("i32", access_code(kind, lds))]
            frame.native_void("aj_race_keep", [*arguments, constant("i32", flags), values, *more])
        if kind is AccessKind.STORE and frame.registers.halves == 2:
            self._compare_halves(frame, access.values, addresses, lds, arguments)

    def _compare_halves(
        self,
        frame: Frame,
        values: tuple[Value, ...],
        addresses: Value,
        lds: bool,
        arguments: list[Value],
    ) -> None:
        """Keep a store of a wave64's lower half, and compare it with that of the upper half.

        Both halves make the accesses of an instruction in the same order.
        """
        b, lanes = frame.builder, arguments[3]
        if frame.registers.wave_half == 0:
            place = b.offset(_LOWER, _LOWER_BYTES * len(self._kept))
            self._kept.append(lanes)
            if len(self._kept) <= _MOST_KEPT:
                b.store(addresses, place, 64)
                for index, value in enumerate(values):
                    b.store(value, b.offset(place, _LOWER_VALUES + 128 * index), 64)
            return
        number = self._compared
        self._compared += 1
        if number < _MOST_KEPT:
            place = b.offset(_LOWER, _LOWER_BYTES * number)
            lower = [place, self._kept[number], b.offset(place, _LOWER_VALUES)]
            kind = constant("i64", int(lds))
            frame.native_void("aj_lane_conflicts_across", [*arguments, kind, _VALUES, *lower])


class LaneRaceInstrument(RaceInstrument):
    """Compares the lanes of each wave, too, in code that says where its fences are: many barriers
    of a wave become no instruction."""

    name: ClassVar[str] = "race lanes"

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Find out whether the code says it."""
        super().begin_function(graph, full_waves, wave_size)
        self._by_lane = self._marks_fences

    def _orders_lanes(self, instruction: Instruction) -> bool:
        marks = (FENCE_MARK, RELEASE_MARK)
        return self._by_lane and any(is_mark(instruction, mark) for mark in marks)


def _noting(kind: AccessKind, lds: bool, by_lane: bool) -> str:
    return lds_symbol(kind, by_lane) if lds else global_symbol(kind, by_lane)


def _count(frame: Frame, instruction: Instruction) -> None:
    """Note what counts on the wait counters of LDS and of loads, what waits for them, and signals
    of barriers."""
    counted = instruction.opcode.instruction_set.wait_counters.counted
    counts, waits = effect_of(instruction).counts, waits_of(instruction)
    barrier = instruction.traits.barrier
    signals = barrier is not None and barrier.signals
    if signals or waits:
        frame.native_void("aj_race_repeat", [CONTEXT, constant("i32", int(signals))])
    for number, event in enumerate((WaitEvent.LDS, WaitEvent.VECTOR_LOAD)):
        counter, place = counted[event][0], constant("i32", number)
        if counter in waits:
            left = constant("i32", waits[counter])
            frame.native_void("aj_race_landed", [CONTEXT, place, left])
        if counter in counts:
            frame.native_void("aj_race_issue", [CONTEXT, place])


def is_mark(instruction: Instruction, mark: int) -> bool:
    """Whether an instruction is an S_NOP by which amdjit's compiler marks something."""
    traits = instruction.traits
    is_nop = traits.idle is Idle.DELAY and traits.immediate is Immediate.NUMBER
    return is_nop and instruction.immediates["simm16"] & 0xFFFF == mark


def _hides_atomic_stores(graph: Graph) -> bool:
    """Whether stores may be atomic although they do not look so, if nothing else says what they
    are: on gfx908, gfx90a and gfx11, in kernels with atomics, loads that miss the caches, or
    fences."""
    return any(
        _synchronises(instruction)
        for block in graph.blocks.values()
        for instruction in block.instructions
        if not instruction.opcode.instruction_set.marks_atomic_stores
    )


def _synchronises(instruction: Instruction) -> bool:
    access, cache = instruction.traits.memory, instruction.traits.cache
    if access is None:
        return cache is not None and cache.invalidates
    is_atomic = access.kind is MemoryKind.ATOMIC and access.space is not Space.LDS
    return is_atomic or instruction.scope > 0


def _split_signals(block: Block) -> Iterator[int]:
    """Yield the signals of a block after which an access or the block's end comes before the
    wait."""
    pending = None
    for instruction in block.instructions:
        operand = instruction.operands[0] if instruction.operands else None
        barrier = instruction.traits.barrier
        if barrier is not None and barrier.signals:
            pending = instruction.pc if getattr(operand, "value", None) == WORKGROUP else None
        elif pending is not None and _accesses(instruction):
            yield pending
            pending = None
    if pending is not None and block.instructions[-1].traits.flow is not Flow.BARRIER:
        yield pending


def _accesses(instruction: Instruction) -> bool:
    return instruction.traits.unit.is_memory


def _waits_for_all_stores(instruction: Instruction) -> bool:
    """Whether an instruction may stand between a store and what releases it."""
    if not instruction.traits.waits:
        return False
    counters = instruction.opcode.instruction_set.wait_counters.counted[WaitEvent.VECTOR_STORE]
    waits = waits_of(instruction)
    return all(waits.get(counter) == 0 for counter in counters)


def _keep_values(frame: Frame, access: MemoryAccess) -> Value:
    if access.kind is not AccessKind.STORE:
        return Value("ptr", "null")
    for index, value in enumerate(access.values):
        frame.builder.store(value, frame.builder.offset(_VALUES, 128 * index), 64)
    return _VALUES


def _kind_of(
    instruction: Instruction, access: MemoryAccess, lds: bool, mark: int | None
) -> tuple[AccessKind, int]:
    """Return the kind and flags of an access. LLVM writes atomic loads and stores of global memory
    as plain ones with a scope (AMDGPU guide, "gfx12"). mark: what the compiler says of it."""
    reads = READS_ONLY if access.kind is AccessKind.LOAD else 0
    if mark is not None and mark != PLAIN:
        return AccessKind.ATOMIC, (DEVICE_SCOPE if lds else mark) | reads
    if lds:
        return access.kind, DEVICE_SCOPE
    scope = instruction.scope
    if access.kind is AccessKind.ATOMIC or scope == 0 or access.space == "k":
        return access.kind, scope
    return AccessKind.ATOMIC, scope | reads


# Loads that only guess what a compare-and-swap expects: they do not race, since the swap detects a
# wrong guess.
#
# LLVM writes atomics that the instruction set lacks, such as f64 additions, as a plain load and a
# loop around a compare-and-swap (its AtomicExpand pass):
#
#     global_load_b64 v[2:3], v6, s[0:1]                     ; not atomic: any value will do
#   loop:
#     v_add_f64 v[0:1], v[2:3], v[4:5]
#     global_atomic_cmpswap_b64 v[0:1], v6, v[0:3], s[0:1]   ; expects v[2:3]


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
