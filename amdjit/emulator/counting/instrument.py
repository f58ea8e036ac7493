"""What counting adds to translated code: additions at the start of each block, where EXEC changes,
at conditional branches and at accesses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from amdjit.emulator.checks.lane_addresses import lane_addresses, lanes_in
from amdjit.emulator.counting.layout import (
    BLOCKS,
    IN_LDS,
    IN_UPPER_HALF,
    IS_ATOMIC,
    ORDER_SHIFT,
    PLACE_ROW,
    Cursor,
    Place,
    Stream,
)
from amdjit.emulator.counting.lds_banks import LdsOrder, order_of
from amdjit.emulator.counting.lds_native import lds_symbol
from amdjit.emulator.counting.lines_native import SCALAR, global_symbol
from amdjit.emulator.counting.places_native import ENTER, MORE, MOST_PLACES, PLACES
from amdjit.emulator.counting.plan import CountedBlock, CountingPlan, make_plan
from amdjit.emulator.host.builder import RARELY, Value, constant, sequence
from amdjit.emulator.host.record import Record
from amdjit.emulator.instructions.emission import branch_condition
from amdjit.emulator.instructions.memory.spaces import SIZES
from amdjit.emulator.layout import (
    DWORD_BYTES,
    FIELD_BYTES,
    PRIVATE_APERTURE_HIGH,
    SHARED_APERTURE_HIGH,
    Context,
)
from amdjit.emulator.wave.frame import CONTEXT, AccessKind, Frame, Instrument, MemoryAccess
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import EXEC_LO, HALF_LANES
from amdjit.late_methods import dataclass

__all__ = ["CountingInstrument"]


_AREA, _CURSOR = Value("ptr", "%count.area"), Value("ptr", "%count.cursor")
_ONE = constant("i64", 1)


class CountingInstrument(Instrument):
    """Counts executions, active lanes, branches and accesses."""

    name: ClassVar[str] = "counting"
    every_instruction: ClassVar[bool] = False

    def __init__(self) -> None:
        self._plan: CountingPlan
        # The counters of active lanes that begin before an instruction, by its address.
        self._segments: dict[int, int] = {}
        self._branches: dict[int, int] = {}
        # Where a wave begins, and the blocks that a block jumps back to.
        self._heads: frozenset[int] = frozenset()
        self._accesses: list[HalfAccess] = []
        self._most_places = 0

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Number the counters."""
        self._plan = make_plan(graph, full_waves, wave_size)
        for counted in self._plan.blocks:
            self._note(counted)
        backward = (
            successor
            for block in graph.blocks.values()
            for successor in block.successors
            if successor <= block.instructions[-1].pc
        )
        self._heads = frozenset((graph.entry, *backward))

    def _note(self, counted: CountedBlock) -> None:
        instructions = counted.block.instructions
        if counted.taken is not None:
            self._branches[instructions[-1].pc] = counted.taken
        for segment in counted.segments:
            if segment.first and segment.counter is not None:
                self._segments[instructions[segment.first - 1].pc] = segment.counter

    def entry(self, frame: Frame) -> None:
        """Find the counters of this thread, and where the wave is recorded."""
        b = frame.builder
        b.bind(_AREA, Record(b, CONTEXT).get(Context.COUNTERS))
        b.bind(_CURSOR, frame.native(ENTER.name, ENTER.result, [CONTEXT]))
        reserve_places(frame, self._most_places)

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Record and count the block, and the lanes with which it begins."""
        number = self._plan.block_numbers[block.pc]
        counted = self._plan.blocks[number]
        self._record(frame, block, number)
        _add(frame, counted.executions, _ONE)
        first = counted.segments[0].counter
        if first is not None:
            _add(frame, first, self._active_lanes(frame))

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Count a branch that is taken."""
        self._accesses = []
        counter = self._branches.get(instruction.pc)
        if counter is not None:
            taken = branch_condition(frame, instruction)
            _add(frame, counter, frame.builder.resize(taken, 64))

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Count what was accessed, and the lanes that are active after EXEC has changed."""
        first = self._plan.accesses.get(instruction.pc)
        if first is not None:
            row = frame.builder.offset(_AREA, first * FIELD_BYTES)
            counters = Counters(_AREA, row, _CURSOR)
            places = count_accesses(frame, counters, self._accesses)
            self._most_places = max(self._most_places, places)
        counter = self._segments.get(instruction.pc)
        if counter is not None:
            _add(frame, counter, self._active_lanes(frame))

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Keep an access until the instruction's end: it may make several."""
        name = instruction.opcode.instruction_set.name
        self._accesses.append(HalfAccess(access, frame.registers.wave_half, name))

    def _record(self, frame: Frame, block: Block, number: int) -> None:
        """Append the block's number to the path of the wave; if the wave is not recorded, it is
        written where nobody reads it."""
        b = frame.builder
        cursor = Record(b, _CURSOR)
        stream = Record(b, cursor.at(Cursor.STREAMS))
        if block.pc in self._heads:
            is_full = b.compare("uge", stream.get(Stream.NEXT), stream.get(Stream.END))
            with b.if_(is_full, RARELY):
                frame.native(MORE.name, MORE.result, [_CURSOR, constant("i64", BLOCKS)])
        place = stream.get(Stream.NEXT)
        b.store(constant("i32", number), place, DWORD_BYTES)
        stream.set(Stream.NEXT, b.offset(place, cursor.get(Cursor.STEP)))

    def _active_lanes(self, frame: Frame) -> Value:
        b, registers = frame.builder, frame.registers
        halves = [registers.scalar(EXEC_LO + half) for half in range(registers.halves)]
        whole = halves[0] if len(halves) == 1 else b.concat_bits(*halves)
        return b.resize(b.intrinsic("ctpop", whole), 64)


def _add(frame: Frame, counter: int, amount: Value) -> None:
    b = frame.builder
    place = b.offset(_AREA, counter * FIELD_BYTES)
    b.store(b.add(b.load("i64", place, FIELD_BYTES), amount), place, FIELD_BYTES)


# The calls in translated code that count what an instruction accesses.
#
# An instruction may access several places: both halves of a wave64, two addresses, the dwords of a
# block. Loads and stores of one place have functions of their own; all others write their places to
# the stack, for `places_native`.


_PLACES = Value("ptr", "%count.places")
# Bits of the addresses that each host thread's private memory gets, and where they begin.
_PRIVATE_BITS, _PRIVATE_THREAD = 40, 1 << 12


@dataclass(frozen=True, slots=True)
class HalfAccess:
    """An access of one half of the wave, the half, and the name of the instruction set."""

    access: MemoryAccess
    half: int
    instruction_set: str

    @property
    def order(self) -> LdsOrder:
        """In which order LDS serves the lanes."""
        return order_of(self.instruction_set, self.access.kind is AccessKind.LOAD)


@dataclass(frozen=True, slots=True)
class Counters:
    """Where an instruction counts: the thread's area, its own counters, where the wave is
    recorded."""

    area: Value
    row: Value
    cursor: Value

    @property
    def arguments(self) -> list[Value]:
        """What each native function takes first."""
        return [self.area, self.row, self.cursor]


def reserve_places(frame: Frame, most: int) -> None:
    """Reserve the stack's memory for that many places. Only in the entry block."""
    if most:
        frame.builder.reserve(_PLACES, f"[{most * PLACE_ROW} x i64]")


def count_accesses(frame: Frame, counters: Counters, accesses: list[HalfAccess]) -> int:
    """Count what an instruction has accessed; return how many places the stack needs for it."""
    if len(accesses) == 1 and _count_one(frame, counters, accesses[0]):
        return 0
    if len(accesses) == 2 and _count_pair(frame, counters, accesses):
        return 0
    number = 0
    for half_access in accesses:
        for place in _places(frame, half_access):
            place.write(frame, number)
            number += 1
    assert number <= MOST_PLACES
    places = _PLACES if number else Value("ptr", "null")
    arguments = [*counters.arguments, places, constant("i64", number)]
    PLACES.check(arguments)
    frame.native_void(PLACES.name, arguments)
    return number


def _count_one(frame: Frame, counters: Counters, half_access: HalfAccess) -> bool:
    """Count a load or store of one place, if it has a function of its own."""
    access, first = half_access.access, counters.arguments
    if access.space == "k":
        size = constant("i64", access.size)
        frame.native_void(SCALAR.name, [*first, access.address[0], size])
        return True
    if access.kind is AccessKind.ATOMIC or access.size not in SIZES:
        return False
    if access.space == "l":
        # Two addresses that are neighbours are reported as one access.
        times = access.size // access.element
        _count_lds(frame, counters, half_access, access.element, times)
        return True
    if access.space not in ("s", "v"):
        return False
    symbol = global_symbol(access.space, access.size)
    frame.native_void(symbol, [*first, *access.address, access.lanes])
    return True


def _count_pair(frame: Frame, counters: Counters, pair: list[HalfAccess]) -> bool:
    """Count a load or store with two addresses in LDS, which are the same distance apart for all
    lanes."""
    first, second = (half_access.access for half_access in pair)
    is_pair = (
        first.space == second.space == "l"
        and AccessKind.ATOMIC not in (first.kind, second.kind)
        and (first.address[0], first.lanes, first.size)
        == (second.address[0], second.lanes, second.size)
        and first.size in (4, 8)
    )
    if is_pair:
        _count_lds(frame, counters, pair[0], first.size, 2)
    return is_pair


def _count_lds(
    frame: Frame, counters: Counters, half_access: HalfAccess, size: int, times: int
) -> None:
    access = half_access.access
    arguments = [*access.address, access.lanes, constant("i64", times)]
    frame.native_void(lds_symbol(size, half_access.order), [*counters.arguments, *arguments])


@dataclass(frozen=True, slots=True)
class _Place:
    """Addresses, lanes, the bytes of a lane, and flags."""

    addresses: Value
    lanes: Value
    size: int
    flags: int

    def write(self, frame: Frame, number: int) -> None:
        """Write it to the stack."""
        b = frame.builder
        row = Record(b, b.offset(_PLACES, number * PLACE_ROW * FIELD_BYTES))
        b.store(self.addresses, row.address, 64)
        row.set(Place.LANES, self.lanes)
        row.set(Place.SIZE, constant("i64", self.size))
        row.set(Place.FLAGS, constant("i64", self.flags))
        row.set(Place.TIMES, constant("i64", 1))


def _places(frame: Frame, half_access: HalfAccess) -> Iterator[_Place]:
    """Yield the places of an access."""
    access, half = half_access.access, half_access.half
    b = frame.builder
    flags = IN_UPPER_HALF * half | IS_ATOMIC * (access.kind is AccessKind.ATOMIC)
    in_lds = IN_LDS | half_access.order << ORDER_SHIFT
    if access.space == "p":
        offsets = b.add(access.address[0], b.splat(access.address[1]))
        yield from _private(
            frame,
            half,
            offsets=b.resize(offsets, 64),
            lanes=access.lanes,
            size=access.size,
            flags=flags,
        )
        return
    wide = lane_addresses(b, access)
    if access.space == "k":
        yield _Place(wide, _unless_null(frame, access), access.size, flags)
    elif access.space == "l":
        for part in range(0, access.size, access.element):
            moved = b.add(wide, constant(wide.type, part))
            yield _Place(moved, access.lanes, access.element, flags | in_lds)
    elif access.space == "f":
        shared = lanes_in(b, wide, SHARED_APERTURE_HIGH)
        private = lanes_in(b, wide, PRIVATE_APERTURE_HIGH)
        lanes = b.and_(access.lanes, b.not_(b.or_(shared, private)))
        yield _Place(wide, lanes, access.size, flags)
        offsets = b.resize(b.split_bits(wide)[0], 64)
        yield _Place(offsets, b.and_(access.lanes, shared), access.size, flags | in_lds)
        lanes = b.and_(access.lanes, private)
        yield from _private(
            frame, half, offsets=offsets, lanes=lanes, size=access.size, flags=flags
        )
    else:
        yield _Place(wide, access.lanes, access.size, flags)


def _unless_null(frame: Frame, access: MemoryAccess) -> Value:
    """Return the lane of a scalar load, none if it is outside of its buffer, which is address
    0."""
    b = frame.builder
    there = b.compare("ne", access.address[0], constant("i64", 0))
    return b.resize(there, 32)


def _private(
    frame: Frame, half: int, offsets: Value, lanes: Value, size: int, flags: int
) -> Iterator[_Place]:
    """Yield the places of private memory, whose dwords lie side by side for all lanes of the wave
    (LLVM AMDGPU guide, "Private": swizzled by dwords). The memory of each wave is taken to be
    somewhere above all addresses of the host, and to start with a cache line."""
    b = frame.builder
    wave_lanes = frame.registers.halves * HALF_LANES
    first = half * HALF_LANES
    lane_bytes = sequence("i64", range(first * DWORD_BYTES, (first + HALF_LANES) * DWORD_BYTES, 4))
    own = b.sub(frame.context(Context.SCRATCH), frame.context(Context.SCRATCH_ALL))
    thread = b.add(frame.context(Context.THREAD), constant("i64", _PRIVATE_THREAD))
    wave = b.add(own, b.shift("shl", thread, _PRIVATE_BITS))
    start = b.add(b.splat(wave), lane_bytes)
    for part in range(0, size, DWORD_BYTES):
        place = b.add(offsets, constant(offsets.type, part))
        dwords = b.and_(place, constant(place.type, -DWORD_BYTES))
        rows = b.mul(dwords, constant(dwords.type, wave_lanes))
        addresses = b.add(b.add(start, rows), b.mask(place, 2))
        yield _Place(addresses, lanes, min(size, DWORD_BYTES), flags)
