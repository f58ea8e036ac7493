"""One kernel as a threaded program: a record for each instruction, run by `aj_threaded32` or
`aj_threaded64`.

The quick tier: next to nothing is compiled, since kernels share the operations (`operations.py`),
and each record is run by a call. All registers are in the wave's state, where the host function of
the full tier finds them when a wave pauses: sites, pauses and the ids to resume from have the same
numbers in both, so that a launch can change over.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amdjit.emulator.analysis.control_flow import (
    Block,
    Graph,
    branch_target,
    is_debug_trap,
    longest_run,
)
from amdjit.emulator.analysis.dataflow import (
    Ones,
    exec_slots,
    ones_after,
    ones_at_entries,
    vector_liveness,
)
from amdjit.emulator.analysis.instruction_classes import may_poll
from amdjit.emulator.analysis.mode import USUAL_MODE, Mode, modes_at_entries
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.decoder.traits import Flow
from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.instructions.emission import branch_condition, emit_instruction
from amdjit.emulator.instructions.scalar.barriers import (
    WORKGROUP,
    Ends,
    barrier_of_wait,
    emit_wait,
    joined_signal,
)
from amdjit.emulator.layout import (
    FIELD_BYTES,
    HALF_LANES,
    HALF_VGPRS,
    MODE_SLOT,
    WAVE_ARRIVES,
    WAVE_ENDED,
    WAVE_NAMED,
    WAVE_STOPPED,
    WAVE_WAITS,
    WAVE_YIELDED,
    Context,
    FaultKind,
    Launch,
)
from amdjit.emulator.tiers.full import INSTRUCTION_BYTES, PATIENCE
from amdjit.emulator.tiers.operations import (
    LEAVE,
    NumberedSites,
    Operation,
    StateRegisters,
    distance,
    loop_entry,
    make_operation,
    number,
    parameter_kind,
    record_bytes,
)
from amdjit.emulator.tiers.shapes import Recipe, make_recipe, numbered_registers, shape_of
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.emulator.wave.rounding import RoundingBuilder

_ALL_VGPRS = frozenset(range(2 * HALF_VGPRS))
_NEXT = "ret i64 %size"
_STOPPED = f"ret i64 {LEAVE | WAVE_STOPPED & 0xFFFFFFFF}"


@dataclass(frozen=True, slots=True)
class ThreadedProgram:
    """A translated kernel.

    code: the offset of each resume id's record, 64 bits each, then the records; operations'
    addresses are 0. calls: for each operation's symbol, where in the code its address must be put.
    operations: those that it needs. instructions: those of the kernel. The rest is as in
    `WaveFunction`.
    """

    code: bytes
    calls: dict[str, tuple[int, ...]]
    operations: tuple[Operation, ...]
    site_pcs: tuple[int, ...]
    resume_pcs: tuple[int, ...]
    longest: int | None
    gives_way: bool
    instructions: int


def is_threadable(graph: Graph) -> bool:
    """Whether there are threaded programs for such kernels: calls of functions have none."""
    flows = {block.instructions[-1].traits.flow for block in graph.blocks.values()}
    return not any(flow.is_indirect or flow.is_call for flow in flows)


def translate_threaded(
    graph: Graph, full_waves: bool, mode: Mode = USUAL_MODE, wave_size: int = HALF_LANES
) -> ThreadedProgram:
    """Translate as `translate_wave` does, without checks; `is_threadable` must hold.

    Untranslatable if an instruction, operand or modifier has no translation.
    """
    return _Threading(graph, full_waves, mode, wave_size).run()


# A record: its operation's symbol, and the names of its parameters. A label is a str.
_Record = tuple[str, tuple[str, ...]]
_Item = _Record | str


class _Threading:
    def __init__(self, graph: Graph, full_waves: bool, mode: Mode, wave_size: int) -> None:
        self._graph = graph
        self._mode = mode
        self._ones = ones_at_entries(graph, full_waves, wave_size)
        self._live = vector_liveness(graph, self._ones, wave_size).at_start.get(
            graph.entry, frozenset()
        ) - {0}
        self._modes = modes_at_entries(graph, mode)
        natives: set[str] = set()
        self._builder = Builder() if self._modes.rounds_to_nearest else RoundingBuilder(natives)
        self._registers = StateRegisters(self._builder, _ALL_VGPRS, wave_size)
        self._sites = NumberedSites([graph.entry])
        self._frame = Frame(self._builder, self._registers, self._sites, natives, modes=self._modes)
        self._operations: dict[str, Operation] = {}
        self._items: list[_Item] = []
        self._tail: list[_Item] = []
        self._pauses: list[int] = []
        self._yields = False
        self._ends = Ends(graph)
        self._loops: set[int] = set()
        self._executes = exec_slots(wave_size)
        # None: such instructions do nothing.
        self._recipes: dict[tuple[object, ...] | None, Recipe | None] = {}

    def run(self) -> ThreadedProgram:
        order = sorted(self._ones)
        for pc, after in zip(order, [*order[1:], -1], strict=True):
            self._block(self._graph.blocks[pc], after)
        self._start()
        entries = sorted(self._loops)
        labels = ["start", *(_label(pc) for pc in (*self._pauses, *entries))]
        ids = {str(pc): 1 + len(self._pauses) + place for place, pc in enumerate(entries)}
        code, calls = lay_out([*self._items, *self._tail], labels, ids)
        longest = longest_run(self._graph)
        return ThreadedProgram(
            code,
            calls,
            tuple(self._operations.values()),
            tuple(self._sites.pcs),
            (self._graph.entry, *self._pauses),
            longest,
            longest is None and self._yields,
            sum(len(self._graph.blocks[pc].instructions) for pc in order),
        )

    def _take(self, *last: str) -> _Record:
        """Make a record of what the builder has, with these lines behind; the next one starts
        afresh."""
        self._registers.flush()
        self._registers.forget()
        for line in last:
            self._builder.line(line)
        operation, names = make_operation(self._builder.lines, self._builder.declarations)
        self._builder.restart()
        self._operations[operation.symbol] = operation
        return operation.symbol, names

    # Blocks

    def _block(self, block: Block, after: int) -> None:
        ones = self._ones[block.pc]
        self._items.append(_label(block.pc))
        self._registers.begin_block(ones)
        self._frame.set_mode(self._modes.at_start[block.pc])
        joined = joined_signal(block)
        for instruction in block.instructions:
            if instruction.traits.ends_block:
                break
            if instruction.pc != joined:
                self._instruction(instruction, ones)
            ones = ones_after(instruction, ones)
            self._registers.know_ones(ones)
        last = block.instructions[-1]
        following = last.pc + last.size
        self._ends.note(self._frame, block)
        goes_on = self._terminate(last, following, joined is not None)
        if self._builder.lines:
            self._items.append(self._take(_NEXT))
        if goes_on and following != after:
            self._items.append(self._jump(_label(following)))

    def _instruction(self, instruction: Instruction, ones: Ones) -> None:
        shape = shape_of(instruction)
        key = None if shape is None else (shape, self._frame.mode, ones & self._executes)
        if key in self._recipes:
            recipe = self._recipes[key]
            if recipe is not None:
                self._repeat(instruction, recipe)
            return
        first = len(self._sites.pcs)
        emit_instruction(self._frame, instruction)
        self._registers.flush()
        if not self._builder.lines:
            if key is not None:
                self._recipes[key] = None
            return
        lines = self._builder.lines
        symbol, names = item = self._take(_NEXT)
        self._items.append(item)
        recipe = make_recipe(instruction, symbol, names, lines, range(first, len(self._sites.pcs)))
        if key is not None and recipe is not None:
            self._recipes[key] = recipe

    def _repeat(self, instruction: Instruction, recipe: Recipe) -> None:
        first = len(self._sites.pcs)
        self._sites.pcs += [instruction.pc] * recipe.sites
        registers = numbered_registers(instruction)
        self._items.append((recipe.symbol, tuple(name(registers, first) for name in recipe.names)))

    def _terminate(self, last: Instruction, following: int, arrives: bool) -> bool:
        """Emit the block's end; tell whether it may go on with what follows. arrives: it signals
        before it waits."""
        flow = last.traits.flow
        if flow is Flow.END:
            self._items.append(self._leave(WAVE_ENDED))
        elif flow is Flow.BARRIER:
            return self._wait(last, following, arrives)
        elif flow is Flow.SLEEP:
            self._items.append(self._leave(self._new_pause(following, True, waits=True)))
        elif flow is Flow.JUMP:
            self._items.append(self._jump(self._destination(last, branch_target(last))))
        elif flow is Flow.CONDITIONAL:
            self._conditional(last)
            return True
        elif flow is Flow.TRAP and not is_debug_trap(last):
            self._trap(last)
        else:
            return True
        return False

    def _wait(self, last: Instruction, following: int, arrives: bool) -> bool:
        barrier = barrier_of_wait(last)
        if barrier == WORKGROUP:
            pause = self._new_pause(following, False, False)
            self._items.append(self._leave(pause | (WAVE_ARRIVES if arrives else 0)))
            return False
        if barrier > WORKGROUP:  # else the trap handler's: nothing happens (RDNA 4 ISA, 5.6)
            b = self._builder
            waits = emit_wait(self._frame, last, barrier)
            result = number(self._new_pause(following, False, False) | WAVE_NAMED)
            leaving = b.or_(b.resize(result, 64), constant("i64", LEAVE))
            self._items.append(
                self._take(f"ret i64 {b.select(waits, leaving, Value('i64', '%size')).text}")
            )
        return True

    def _conditional(self, last: Instruction) -> None:
        b = self._builder
        label = self._destination(last, branch_target(last))
        condition = branch_condition(self._frame, last)
        taken = b.resize(distance(label), 64, signed=True)
        chosen = b.select(condition, taken, Value("i64", "%size"))
        self._items.append(self._take(f"ret i64 {chosen.text}"))

    def _jump(self, label: str) -> _Record:
        return self._take(f"ret i64 {self._builder.resize(distance(label), 64, signed=True).text}")

    def _leave(self, result: int) -> _Record:
        return self._take(self._leaving(number(result)))

    def _leaving(self, result: Value) -> str:
        b = self._builder
        return f"ret i64 {b.or_(b.resize(result, 64), constant('i64', LEAVE)).text}"

    def _new_pause(self, following: int, yields: bool, waits: bool) -> int:
        self._pauses.append(following)
        self._yields |= yields
        return len(self._pauses) | (WAVE_YIELDED if yields else 0) | (WAVE_WAITS if waits else 0)

    def _trap(self, last: Instruction) -> None:
        arguments = [
            CONTEXT,
            constant("i32", FaultKind.TRAP),
            self._sites.add(last.pc),
            constant("i64", -1),
            constant("i64", 0),
            constant("i32", 0),
        ]
        self._frame.native_void("aj_fault", arguments)
        self._items.append(self._take(_STOPPED))

    # Loops

    def _destination(self, last: Instruction, target: int) -> str:
        """Return the label to jump to; a jump backwards goes through a look at the launch."""
        if target > last.pc:
            return _label(target)
        label = f"poll{len(self._tail)}"
        self._loops.add(target)
        site = self._sites.add(last.pc)
        self._tail.append(label)
        patient = may_poll(self._graph, target, last.pc)
        cost = number((last.pc - target) // INSTRUCTION_BYTES + 1)
        self._tail.append(
            self._poll(
                site, target, cost, self._new_pause(target, True, False) if patient else None
            )
        )
        return label

    def _poll(self, site: Value, target: int, cost: Value, pause: int | None) -> _Record:
        """Stop if the launch does, leave if the full tier takes over, and after some rounds let
        other waves run."""
        b = self._builder
        budget = b.offset(CONTEXT, Context.BUDGET * FIELD_BYTES)
        left = b.sub(b.load("i64", budget, 8), b.resize(cost, 64))
        b.store(left, budget, 8)
        b.branch_if(b.compare("slt", left, constant("i64", 0)), "own.tick", "own.run")
        b.label("own.tick")
        stop = b.compare(
            "ne", self._frame.native("aj_tick", "i32", [CONTEXT, site]), constant("i32", 0)
        )
        b.branch_if(stop, "own.stop", "own.run")
        b.label("own.stop")
        b.line(_STOPPED)
        b.label("own.run")
        place = b.offset(Value("ptr", "%launch"), Launch.CHANGED * FIELD_BYTES)
        changed = b.emit("i64", f"load atomic i64, ptr {place.text} monotonic, align 8")
        b.branch_if(b.compare("ne", changed, constant("i64", 0)), "own.change", "own.stay")
        b.label("own.change")
        b.line(self._leaving(b.or_(loop_entry(target), constant("i32", WAVE_YIELDED))))
        b.label("own.stay")
        if pause is not None:
            self._count_round(pause)
        return self._jump(_label(target))

    def _count_round(self, pause: int) -> None:
        b = self._builder
        patience = Value("ptr", "%patience")
        left = b.sub(b.load("i32", patience, 4), constant("i32", 1))
        spent = b.compare("eq", left, constant("i32", 0))
        b.store(b.select(spent, constant("i32", PATIENCE), left), patience, 4)
        b.branch_if(spent, "own.yield", "own.on")
        b.label("own.yield")
        b.line(self._leaving(number(pause)))
        b.label("own.on")

    def _start(self) -> None:
        """Begin as a wave function does: registers that may be read before they are written are
        0."""
        b = self._builder
        self._tail.append("start")
        for index in sorted(self._live):
            for half in range(self._registers.halves):
                slot = self._registers.slot("v", index + half * HALF_VGPRS)
                b.store(Value(vector("i32"), "zeroinitializer"), slot, 64)
                self._tail.append(self._take(_NEXT))
        if ("s", MODE_SLOT) in self._registers.used:
            b.store(number(self._mode.value), self._registers.slot("s", MODE_SLOT), 4)
            self._tail.append(self._take(_NEXT))
        self._tail.append(self._jump(_label(self._graph.entry)))


def lay_out(
    items: Sequence[_Item], resumes: Sequence[str], entries: Mapping[str, int]
) -> tuple[bytes, dict[str, tuple[int, ...]]]:
    """Put records behind each other, a table of the places of `resumes` in front; return also the
    calls' places.

    entries: the ids of loops by their pc.
    """
    places, end = _places(items, len(resumes) * FIELD_BYTES)
    parts = [struct.pack(f"<{len(resumes)}Q", *(places[label] for label in resumes))]
    calls: dict[str, list[int]] = {}
    here = len(resumes) * FIELD_BYTES
    for item in items:
        if isinstance(item, str):
            continue
        symbol, names = item
        values = [_parameter(name, here, places, entries) for name in names]
        calls.setdefault(symbol, []).append(here)
        size = record_bytes(len(names))
        parts.append(struct.pack(f"<Q{len(values)}i", 0, *values).ljust(size, b"\0"))
        here += size
    assert here == end
    return b"".join(parts), {symbol: tuple(found) for symbol, found in calls.items()}


def _places(items: Sequence[_Item], first: int) -> tuple[dict[str, int], int]:
    """Return where the labels are, and where the program ends."""
    places = {}
    here = first
    for item in items:
        if isinstance(item, str):
            places[item] = here
        else:
            here += record_bytes(len(item[1]))
    return places, here


def _parameter(name: str, here: int, places: Mapping[str, int], entries: Mapping[str, int]) -> int:
    kind, argument = parameter_kind(name)
    if kind == "to":
        return places[argument] - here
    return entries[argument] if kind == "entry" else int(argument)


def _label(pc: int) -> str:
    return f"at{pc:x}"
