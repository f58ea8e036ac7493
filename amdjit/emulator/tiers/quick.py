"""One kernel as a threaded program (`program.py`).

The quick tier compiles next to nothing, because kernels share the operations (`operations.py`), and
each record is a call of one. All registers are in the wave's state, where the host function of
the full tier finds them when a wave pauses: sites, pauses and the ids to resume from have the same
numbers in both (`terminators.py`), so that a launch can switch tiers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.host.declaration import Declaration
from amdjit.emulator.host.record import Record as Fields
from amdjit.emulator.instructions.emission import emit_instruction
from amdjit.emulator.instructions.scalar.barriers import joined_signal
from amdjit.emulator.instructions.scalar.control import calls_host
from amdjit.emulator.layout import (
    DWORD_BYTES,
    MODE_SLOT,
    WAVE_ENDED,
    WAVE_STOPPED,
    WAVE_YIELDED,
    Context,
    Launch,
)
from amdjit.emulator.tiers.operation_library import ThreadedProgram
from amdjit.emulator.tiers.operations import (
    FRAME,
    LEAVE,
    PATIENCE_OFFSET,
    Distance,
    Entry,
    NumberedSites,
    Operation,
    Parameter,
    Parameters,
    RegisterAt,
    StateRegisters,
    make_operation,
)
from amdjit.emulator.tiers.pauses import Pause, Poll, take_from_budget, yield_when_spinning
from amdjit.emulator.tiers.program import WHERE, Item, Record, lay_out
from amdjit.emulator.tiers.shapes import NOTHING, KnownShapes, Recipe, make_recipe, shape_of
from amdjit.emulator.tiers.steps import STEP
from amdjit.emulator.tiers.terminators import Ending, Terminators, label_of
from amdjit.emulator.wave.frame import CONTEXT, STATE, Frame, Instruments, begin_function
from amdjit.emulator.wave.index_modes import index_modes
from amdjit.emulator.wave.rounding import RoundingBuilder
from amdjit.isa.analysis.control_flow import Block, Graph, longest_run
from amdjit.isa.analysis.dataflow import (
    Ones,
    exec_slots,
    given_vectors,
    ones_after,
    ones_at_entries,
    vector_liveness,
)
from amdjit.isa.analysis.mode import USUAL_MODE, Mode, mode_after, modes_at_entries
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import HALF_LANES, HALF_VGPRS


def translate_threaded(
    graph: Graph,
    full_waves: bool,
    mode: Mode = USUAL_MODE,
    wave_size: int = HALF_LANES,
    known: KnownShapes | None = None,
    stepping: Instruments | None = None,
) -> ThreadedProgram:
    """Translate as `translate_wave` does, without checks.

    known: shapes that kernels translated before have had; those of this one are added. stepping:
    not None for a program that can stop before each instruction (`steps.py`): what is told of
    accesses. The ids of instructions come last, in the order of their pcs.
    Untranslatable if an instruction, operand or modifier has no translation.
    """
    known = KnownShapes() if known is None else known
    return _Threading(graph, full_waves, mode, wave_size, known, stepping).run()


def step_label(pc: int) -> str:
    """Return the label of the place before an instruction."""
    return f"step{pc:x}"


class _Threading:
    def __init__(
        self,
        graph: Graph,
        full_waves: bool,
        mode: Mode,
        wave_size: int,
        known: KnownShapes,
        stepping: Instruments | None,
    ) -> None:
        self._graph = graph
        self._steps: list[int] | None = None if stepping is None else []
        self._mode = mode
        self._ones = ones_at_entries(graph, full_waves, wave_size)
        self._live = vector_liveness(graph, self._ones, wave_size).at_start.get(
            graph.entry, frozenset()
        ) - given_vectors(graph)
        self._modes = modes_at_entries(graph, mode)
        self._records = records = _Records(graph, self._modes.rounds_to_nearest, wave_size)
        natives = records.natives
        sites, registers = records.sites, records.registers
        self._frame = Frame(records.builder, registers, sites, natives, modes=self._modes)
        self._frame.instruments = begin_function(stepping or (), graph, full_waves, wave_size)
        self._terminators = Terminators(graph, self._frame, records)
        self._executes = exec_slots(wave_size)
        self._recipes = known.of(self._kind(wave_size))

    def _kind(self, wave_size: int) -> tuple[object, ...]:
        """Return what decides how all instructions of a kernel are translated."""
        (first, *_) = self._graph.blocks[self._graph.entry].instructions
        modes = self._modes
        return (
            first.opcode.instruction_set.name,
            wave_size,
            modes.rounds_to_nearest,
            modes.varies,
            tuple(instrument.name for instrument in self._frame.instruments),
        )

    def run(self) -> ThreadedProgram:
        records, terminators = self._records, self._terminators
        order = sorted(self._ones)
        for pc, after in zip(order, [*order[1:], -1], strict=True):
            self._block(self._graph.blocks[pc], after)
        terminators.emit_shared_jump()
        for poll in terminators.polls:
            self._poll(poll)
        self._start()
        resumes = [pause.after for pause in terminators.pauses]
        loops = terminators.loops
        steps = self._steps or []
        labels = ["start", *map(terminators.place_of, (*resumes, *loops)), *map(step_label, steps)]
        code, calls = lay_out(records.items, labels)
        longest = longest_run(self._graph)
        return ThreadedProgram(
            code,
            calls,
            operations=tuple(records.operations.values()),
            site_pcs=tuple(records.sites.pcs),
            resume_pcs=(self._graph.entry, *resumes, *((*loops, *steps) if steps else ())),
            longest=longest,
            may_yield=longest is None and any(pause.yields for pause in terminators.pauses),
            calls_host=calls_host(self._graph),
            instructions=sum(len(self._graph.blocks[pc].instructions) for pc in order),
            blocks=len(order),
        )

    def _block(self, block: Block, after: int) -> None:
        """Translate a block. after: the pc of the next one in the program."""
        ones = self._ones[block.pc]
        self._records.begin_block(label_of(block.pc), after)
        self._records.registers.begin_block(ones)
        self._frame.set_mode(self._modes.at_start[block.pc])
        self._frame.index_modes = index_modes(block)
        joined = joined_signal(block)
        for instruction in block.instructions:
            if self._steps is not None:
                self._records.step(len(self._steps), instruction.pc)
                self._steps.append(instruction.pc)
            if instruction.traits.ends_block:
                break
            if instruction.pc != joined:
                self._instruction(instruction, ones)
            ones = ones_after(instruction, ones)
            self._records.registers.know_ones(ones)
        self._terminators.emit(block)

    def _instruction(self, instruction: Instruction, ones: Ones) -> None:
        shape = shape_of(instruction)
        if shape is None or instruction.pc in self._frame.index_modes:
            emit_instruction(self._frame, instruction)
            self._records.next()
            return
        key = (shape, self._frame.mode, ones & self._executes)
        recipe = self._recipes.get(key)
        if recipe is None:
            self._learn(instruction, key)
        else:
            self._repeat(instruction, recipe)

    def _learn(self, instruction: Instruction, key: tuple[object, ...]) -> None:
        sites = self._records.sites.pcs
        first = len(sites)
        emit_instruction(self._frame, instruction)
        record = self._records.next()
        if record is None:
            self._recipes[key] = NOTHING
            return
        operation = self._records.operations[record.symbol]
        recipe = make_recipe(instruction, operation, record.parameters, range(first, len(sites)))
        if recipe is not None:
            self._recipes[key] = recipe

    def _repeat(self, instruction: Instruction, recipe: Recipe) -> None:
        if recipe.operation is not None:
            sites = self._records.sites.pcs
            parameters = recipe.parameters(instruction, len(sites))
            sites += [instruction.pc] * recipe.sites
            self._records.add(recipe.operation, parameters)
        self._frame.set_mode(mode_after(instruction, self._frame.mode))

    def _poll(self, poll: Poll) -> None:
        """Stop if the launch has stopped, leave if the full tier's code is ready, and after some
        rounds let other waves run."""
        records, b = self._records, self._records.builder
        records.items.append(poll.label)
        parameters = records.parameters
        known = poll.site
        site = records.registers.jump()[1] if known is None else records.sites.value(known)
        cost = b.resize(parameters.number(poll.cost), 64)
        take_from_budget(self._frame, cost, site, records.give_stopped)
        launch = Fields(b, CONTEXT).follow(Context.LAUNCH)
        changed = b.load_atomic("i64", launch.at(Launch.CHANGED))
        with b.if_(b.compare("ne", changed, constant("i64", 0))):
            entry = parameters.value(Entry(self._terminators.place_of(poll.target)))
            records.give_leaving(b.or_(entry, constant("i32", WAVE_YIELDED)))
        if poll.pause is not None:
            patience = b.offset(FRAME, PATIENCE_OFFSET)
            result = parameters.number(poll.pause.result)
            yield_when_spinning(b, patience, partial(records.give_leaving, result))
        records.jump(self._terminators.place_of(poll.target))

    def _start(self) -> None:
        """Begin as a wave function does, with 0 in registers that may be read before they are
        written."""
        records, registers = self._records, self._records.registers
        records.items.append("start")
        for index in sorted(self._live):
            for half in range(registers.halves):
                slot = registers.slot("v", index + half * HALF_VGPRS)
                records.builder.store(Value(vector("i32"), "zeroinitializer"), slot, 64)
                records.next()
        if records.use(RegisterAt("s", MODE_SLOT)):
            mode = records.parameters.number(self._mode.value)
            records.builder.store(mode, registers.slot("s", MODE_SLOT), DWORD_BYTES)
            records.next()
        records.jump(label_of(self._graph.entry))


class _Records(Ending):
    """The program so far, and the operation under construction. Blocks end in a record that says
    which one comes next."""

    def __init__(self, graph: Graph, is_usual: bool, wave_size: int) -> None:
        self.natives: set[str] = set()
        self.builder = Builder() if is_usual else RoundingBuilder(self.natives)
        self.parameters = Parameters(self.builder)
        self.registers = StateRegisters(self.builder, self.parameters, wave_size)
        self.sites = NumberedSites([graph.entry], self.parameters)
        self.operations: dict[str, Operation] = {}
        self.items: list[Item] = []
        self._after = -1

    def begin_block(self, label: str, after: int) -> None:
        """Begin a block. after: the pc of the one that comes next in the program."""
        self.items.append(label)
        self._after = after

    def next(self) -> Record | None:
        """Go on with the next record. None if there is nothing to do here."""
        self.registers.flush()
        if not self.builder.lines:
            self.registers.forget()
            self.parameters.take()
            return None
        return self._close(self.parameters.record_size)

    def step(self, number: int, pc: int) -> None:
        """Begin an instruction before which the wave may stop."""
        self.items.append(step_label(pc))
        arguments = [CONTEXT, STATE, FRAME, self.parameters.number(number)]
        stops = self._call(STEP, arguments)
        with self.builder.if_(self.builder.compare("ne", stops, constant("i32", 0))):
            entry = self.parameters.value(Entry(step_label(pc)))
            self.give_leaving(self.builder.or_(entry, constant("i32", WAVE_YIELDED)))
        self.next()

    def _close(self, result: Value) -> Record:
        """End the operation. The registers are stored already."""
        self.registers.forget()
        self.builder.give(result)
        return self.add(*make_operation(self.builder, self.parameters))

    def add(self, operation: Operation, parameters: tuple[Parameter, ...]) -> Record:
        """Add a record for an operation."""
        self.operations[operation.symbol] = operation
        record = Record(operation.symbol, parameters)
        self.items.append(record)
        return record

    def use(self, parameter: Parameter) -> bool:
        """Return whether a record has this parameter."""
        return any(isinstance(item, Record) and parameter in item.parameters for item in self.items)

    def _leaving(self, result: Value) -> Value:
        """Return what an operation returns so that the wave function returns `result`."""
        return self.builder.or_(self.builder.resize(result, 64), constant("i64", LEAVE))

    def give_leaving(self, result: Value) -> None:
        """Return from the wave function."""
        self.builder.give(self._leaving(result))

    def give_stopped(self) -> None:
        """Return from the wave function: the launch is stopped."""
        self.builder.give(constant("i64", LEAVE | WAVE_STOPPED & 0xFFFFFFFF))

    def _to(self, label: str) -> Value:
        distance = self.parameters.value(Distance(label))
        return self.builder.resize(distance, 64, signed=True)

    # The ends of blocks

    def end_wave(self) -> None:
        self._leave(WAVE_ENDED)

    def stop(self) -> None:
        self.registers.flush()
        self._close(constant("i64", LEAVE | WAVE_STOPPED & 0xFFFFFFFF))

    def place(self, label: str) -> None:
        self.begin_block(label, -1)

    def jump(self, label: str) -> None:
        self.registers.flush()
        self._close(self._to(label))

    def jump_if(self, condition: Value, label: str, following: int) -> None:
        self.registers.flush()
        taken = self._to(label)
        self._close(self.builder.select(condition, taken, self.parameters.record_size))
        self.go_on(following)

    def go_on(self, following: int) -> None:
        self.next()
        if following != self._after:
            self.jump(label_of(following))

    def pause(self, pause: Pause) -> None:
        self._leave(pause.result)

    def pause_if(self, condition: Value, pause: Pause) -> None:
        self.registers.flush()
        leaving = self._leaving(self.parameters.number(pause.result))
        self._close(self.builder.select(condition, leaving, self.parameters.record_size))
        self.go_on(pause.after)

    def choose(self, pc: Value, labels: Mapping[int, str]) -> None:
        """Search the table in the record; distance 0, to the record itself, is none."""
        self.registers.flush()
        b, table = self.builder, self.parameters.table(labels)
        count = b.resize(self.parameters.number(len(labels)), 64)
        distance = self._call(WHERE, [table, count, pc])
        with b.if_(b.compare("ne", distance, constant("i64", 0))):
            b.give(distance)

    def _call(self, native: Declaration, arguments: list[Value]) -> Value:
        self.natives.add(native.name)
        return self.builder.call(native.name, native.result, arguments)

    def _leave(self, result: int) -> None:
        self.registers.flush()
        self._close(self._leaving(self.parameters.number(result)))
