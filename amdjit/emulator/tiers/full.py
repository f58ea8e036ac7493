"""One kernel as one host function: `i32 wave(state, context, resume)`.

In wave64 vector instructions are emitted twice, for the lower and for the upper 32 lanes; what the
first half writes to scalars becomes visible behind the second.

Every machine block becomes an LLVM block. A wave that waits stores its registers to `state` and
returns the id to resume from; the driver calls again with that id. Text of the function is put
together at the end, when it is known which registers were used.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter

from amdjit.emulator.analysis.control_flow import (
    Block,
    Graph,
    branch_target,
    is_debug_trap,
    longest_run,
)
from amdjit.emulator.analysis.dataflow import Ones, ones_after, ones_at_entries
from amdjit.emulator.analysis.hidden_lanes import HiddenLanes
from amdjit.emulator.analysis.instruction_classes import may_poll, registers_in_memory
from amdjit.emulator.analysis.mode import USUAL_MODE, Mode, modes_at_entries
from amdjit.emulator.decoder.instruction import Instruction, Opcode
from amdjit.emulator.decoder.traits import Flow
from amdjit.emulator.host.builder import LANES, Builder, Value, constant, vector
from amdjit.emulator.instructions.emission import branch_condition, emit_instruction
from amdjit.emulator.instructions.scalar.barriers import (
    WORKGROUP,
    Ends,
    barrier_of_wait,
    emit_wait,
    joined_signal,
)
from amdjit.emulator.instructions.tables import EMITTERS
from amdjit.emulator.instructions.vector.dual import DUAL
from amdjit.emulator.layout import (
    FIELD_BYTES,
    HALF_LANES,
    HALF_VGPRS,
    MODE_SLOT,
    SCC_SLOT,
    WAVE_ARRIVES,
    WAVE_ENDED,
    WAVE_NAMED,
    WAVE_STOPPED,
    WAVE_WAITS,
    WAVE_YIELDED,
    Context,
    FaultKind,
)
from amdjit.emulator.tiers.stretches import emit_stretch, in_stretches
from amdjit.emulator.wave.frame import CONTEXT, STAGING_VECTORS, UPPER_CONTEXT, Frame, Sites
from amdjit.emulator.wave.instrument import Instruments, begin_function
from amdjit.emulator.wave.pauses import Pause, Poll
from amdjit.emulator.wave.registers import V32, Registers
from amdjit.emulator.wave.rounding import RoundingBuilder
from amdjit.emulator.wave.wave_function import WaveFunction
from amdjit.emulator.wave.wave_state import place_of, restore, save, save_and_compare, slot_of

WAVE_SYMBOL = "aj_wave"

# Most instructions have 8 bytes or 4.
INSTRUCTION_BYTES = 6
# The budget is spent seldom: what lives in registers need not make room for that call.
_SELDOM = '!0 = !{!"branch_weights", i32 1, i32 1000000}'

# How often a wave may go round a loop that may wait for another wave before that one runs.
PATIENCE = 128


def translate_wave(
    graph: Graph,
    full_waves: bool,
    attributes: str,
    mode: Mode = USUAL_MODE,
    wave_size: int = HALF_LANES,
    instruments: Instruments = (),
    enterable: bool = False,
) -> WaveFunction:
    """Translate; `full_waves` promises that all lanes of every wave start active.

    mode: how the kernel starts, by its descriptor. wave_size: 32 or 64. instruments: the checks to
    build in. enterable: waves can start at loops, too, with the ids that `translate_threaded` gives
    them. Untranslatable if an instruction, operand or modifier has no translation.
    """
    translation = _Translation(graph, full_waves, mode, wave_size, instruments)
    return translation.run(attributes, enterable)


class _Translation:
    def __init__(
        self, graph: Graph, full_waves: bool, mode: Mode, wave_size: int, instruments: Instruments
    ) -> None:
        self._graph = graph
        self._mode = mode
        self._wave_size = wave_size
        self._ones = ones_at_entries(graph, full_waves, wave_size)
        self._lanes = HiddenLanes(graph, self._ones, wave_size)
        self._modes = modes_at_entries(graph, mode)
        natives: set[str] = set()
        self._builder = Builder() if self._modes.rounds_to_nearest else RoundingBuilder(natives)
        self._in_memory = registers_in_memory(graph, wave_size)
        registers = Registers(self._builder, self._in_memory, wave_size)
        self._frame = Frame(
            self._builder, registers, Sites([graph.entry]), natives, modes=self._modes
        )
        self._frame.instruments = begin_function(instruments, graph, full_waves, wave_size)
        self._pauses: list[Pause] = []
        self._ends_of_waves = Ends(graph)
        self._polls = 0
        self._exits: list[Poll] = []
        self._entries: list[int] = []

    def run(self, attributes: str, enterable: bool) -> WaveFunction:
        for pc in sorted(self._ones):
            self._block(self._graph.blocks[pc])
        body, self._builder.lines = self._builder.lines, []
        if enterable:
            self._entries = sorted({poll.target for poll in self._exits})
        self._ends()
        tail, self._builder.lines = self._builder.lines, []
        self._entry()
        text = self._text(attributes, [*self._builder.lines, *body, *tail])
        pauses = tuple(pause.after for pause in self._pauses)
        natives = frozenset(self._frame.natives)
        sites, resumes = tuple(self._frame.sites.pcs), (self._graph.entry, *pauses)
        longest = longest_run(self._graph)
        gives_way = longest is None and any(pause.yields for pause in self._pauses)
        return WaveFunction(text, natives, sites, resumes, longest, gives_way)

    def _text(self, attributes: str, lines: list[str]) -> str:
        declarations = "\n".join(self._builder.declarations.values())
        head = f"define i32 @{WAVE_SYMBOL}(ptr %state, ptr %context, i32 %resume) {attributes} {{"
        return "\n".join([declarations, head, *lines, "}", _SELDOM, ""])

    # Blocks

    def _block(self, block: Block) -> None:
        ones = self._ones[block.pc]
        self._builder.label(_label(block.pc))
        self._frame.registers.begin_block(ones)
        self._frame.set_mode(self._modes.at_start[block.pc])
        self._frame.begin_block(block)
        joined = joined_signal(block)
        steps = zip(block.instructions, self._lanes.unseen(block.pc), strict=True)
        for stretch in in_stretches(steps, itemgetter(0)):
            if stretch[0][0].traits.ends_block:
                self._frame.registers.leave_unseen(stretch[0][1])
                self._frame.before(stretch[0][0])
                break
            if stretch[0][0].pc == joined or len(stretch) == 1 or self._frame.instruments:
                ones = self._emit(stretch, ones, joined)
            else:
                emit_stretch(self._frame, partial(self._emit, stretch, ones, joined))
                for instruction, _ in stretch:
                    ones = ones_after(instruction, ones)
        self._terminate(block)

    def _emit(self, stretch: list[tuple[Instruction, int]], ones: Ones, joined: int | None) -> Ones:
        for instruction, unseen in stretch:
            self._frame.registers.leave_unseen(unseen)
            self._frame.before(instruction)
            if instruction.pc != joined:
                emit_instruction(self._frame, instruction)
            ones = ones_after(instruction, ones)
            self._frame.registers.know_ones(ones)
            self._frame.after(instruction)
        return ones

    def _terminate(self, block: Block) -> None:
        last = block.instructions[-1]
        following = last.pc + last.size
        flow = last.traits.flow
        self._ends_of_waves.note(self._frame, block)
        if flow is Flow.END:
            self._builder.line(f"ret i32 {WAVE_ENDED}")
        elif flow is Flow.CONDITIONAL:
            self._conditional(last, following)
        elif flow in (Flow.JUMP, Flow.CALL):
            if flow is Flow.CALL:
                self._link(last, following)
            self._frame.registers.flush()
            self._builder.branch(self._destination(last, branch_target(last)))
        elif flow.is_indirect:
            self._indirect(last, following)
        elif flow is Flow.BARRIER:
            self._wait(last, following, joined_signal(block) is not None)
        elif flow is Flow.SLEEP:
            self._pause(following, True)
        elif flow is Flow.TRAP:
            self._trap(last)
        else:
            self._frame.registers.flush()
            self._builder.branch(_label(following))

    def _conditional(self, last: Instruction, following: int) -> None:
        condition = branch_condition(self._frame, last)
        self._frame.registers.flush()
        yes = self._destination(last, branch_target(last))
        self._builder.branch_if(condition, yes, _label(following))

    def _destination(self, last: Instruction, target: int) -> str:
        """Return the label to jump to; a jump backwards goes through the count of instructions."""
        if target > last.pc:
            return _label(target)
        self._polls += 1
        label = f"poll{self._polls}"
        site = self._frame.sites.add(last.pc)
        goal = (
            self._patience(label, target)
            if may_poll(self._graph, target, last.pc)
            else _label(target)
        )
        self._exits.append(
            Poll(label, goal, target, site, (last.pc - target) // INSTRUCTION_BYTES + 1)
        )
        return label

    def _patience(self, label: str, target: int) -> str:
        """Give way to the group's other waves every so often: one of them may have to end this
        loop."""
        self._pauses.append(Pause(len(self._pauses) + 1, target, True, True))
        return f"{label}.count{len(self._pauses)}"

    def _link(self, last: Instruction, following: int) -> None:
        address = self._builder.add(
            self._frame.context(Context.LOAD_BIAS), constant("i64", following)
        )
        self._frame.write_scalar(last.operands[0], address)

    def _indirect(self, last: Instruction, following: int) -> None:
        source = last.operand("src0")
        address = self._frame.scalar_operand(source, "b64", last)
        if last.traits.flow is Flow.INDIRECT_CALL:
            self._link(last, following)
        pc = self._builder.sub(address, self._frame.context(Context.LOAD_BIAS))
        self._frame.registers.flush()
        self._polls += 1
        wild = f"wild{self._polls}"
        cases = []
        for target in self._graph.indirect_targets:
            cases.append(f"i64 {target}, label %{self._destination(last, target)}")
        self._builder.line(f"switch i64 {pc.text}, label %{wild} [ {' '.join(cases)} ]")
        self._builder.label(wild)
        self._fault(FaultKind.WILD_BRANCH, last, address)

    def _trap(self, last: Instruction) -> None:
        if is_debug_trap(last):
            self._frame.registers.flush()
            self._builder.branch(_label(last.pc + last.size))
            return
        self._fault(FaultKind.TRAP, last, constant("i64", 0))

    def _fault(self, kind: FaultKind, last: Instruction, address: Value) -> None:
        site = self._frame.sites.add(last.pc)
        lane = constant("i64", -1)
        arguments = [CONTEXT, constant("i32", kind), site, lane, address, constant("i32", 0)]
        self._frame.native_void("aj_fault", arguments)
        self._builder.line(f"ret i32 {WAVE_STOPPED}")

    def _pause(self, following: int, yields: bool, flags: int = 0) -> None:
        self._frame.registers.flush()
        number = len(self._pauses) + 1
        self._pauses.append(Pause(number, following, yields, flags=flags))
        self._builder.branch(f"save{number}")

    def _wait(self, last: Instruction, following: int, arrives: bool) -> None:
        number = barrier_of_wait(last)
        if number == WORKGROUP:
            self._pause(following, False, WAVE_ARRIVES if arrives else 0)
            return
        registers, b = self._frame.registers, self._builder
        if number < WORKGROUP:  # the trap handler's: nothing happens (RDNA 4 ISA, 5.6)
            registers.flush()
            b.branch(_label(following))
            return
        waits = emit_wait(self._frame, last, number)
        registers.flush()
        pause = Pause(len(self._pauses) + 1, following, False, flags=WAVE_NAMED)
        self._pauses.append(pause)
        b.branch_if(waits, f"save{pause.number}", _label(following))

    # What stands around the blocks

    def _ends(self) -> None:
        for pause in self._pauses:
            self._save_and_resume(pause)
        for poll in self._exits:
            self._count_down(poll)
        for number, pc in enumerate(self._entries, len(self._pauses) + 1):
            self._resume(number, pc)

    def _count_down(self, poll: Poll) -> None:
        """Take the loop's instructions from the budget; when it is spent, see whether the launch
        goes on."""
        b = self._builder
        b.label(poll.label)
        place = b.offset(CONTEXT, Context.BUDGET * FIELD_BYTES)
        left = b.sub(b.load("i64", place, 8), constant("i64", poll.cost))
        b.store(left, place, 8)
        spent = b.compare("slt", left, constant("i64", 0))
        b.line(f"br i1 {spent.text}, label %{poll.label}.tick, label %{poll.goal}, !prof !0")
        b.label(f"{poll.label}.tick")
        stop = b.compare(
            "ne", self._frame.native("aj_tick", "i32", [CONTEXT, poll.site]), constant("i32", 0)
        )
        b.line(f"br i1 {stop.text}, label %{poll.label}.stop, label %{poll.goal}, !prof !0")
        b.label(f"{poll.label}.stop")
        b.line(f"ret i32 {WAVE_STOPPED}")
        if poll.goal == _label(poll.target):
            return
        b.label(poll.goal)
        patience = Value("ptr", "%patience")
        left = b.sub(b.load("i32", patience, 4), constant("i32", 1))
        spent = b.compare("eq", left, constant("i32", 0))
        b.store(b.select(spent, constant("i32", PATIENCE), left), patience, 4)
        b.branch_if(spent, f"save{poll.goal.rpartition('count')[2]}", _label(poll.target))

    def _kept(self, pc: int) -> list[tuple[str, int]]:
        live = self._lanes.live(pc)
        used = self._frame.registers.used
        return [
            (file, index)
            for file, index in sorted(used)
            if file == "s" or (index % HALF_VGPRS in live and index not in self._in_memory)
        ]

    def _save_and_resume(self, pause: Pause) -> None:
        kept = self._kept(pause.after)
        self._builder.label(f"save{pause.number}")
        if pause.polls:
            result = save_and_compare(self._builder, kept, pause.number | WAVE_YIELDED)
        else:
            save(self._builder, kept)
            result = str(
                pause.number | pause.flags | (WAVE_YIELDED | WAVE_WAITS if pause.yields else 0)
            )
        self._builder.line(f"ret i32 {result}")
        self._resume(pause.number, pause.after)

    def _resume(self, number: int, pc: int) -> None:
        self._builder.label(f"resume{number}")
        restore(self._builder, self._kept(pc))
        self._builder.branch(_label(pc))

    def _entry(self) -> None:
        b = self._builder
        b.label("entry")
        for file, index in sorted(self._frame.registers.used):
            if file == "s":
                b.line(f"%s{index}.slot = alloca {'i1' if index == SCC_SLOT else 'i32'}, align 4")
            elif index not in self._in_memory:
                b.line(f"%v{index}.slot = alloca {V32}, align 64")
        b.line(f"%staging = alloca [{STAGING_VECTORS * LANES} x i32], align 64")
        b.line("%patience = alloca i32, align 4")
        b.line(f"store i32 {PATIENCE}, ptr %patience, align 4")
        b.line("%launch = load ptr, ptr %context, align 8")
        if self._wave_size > HALF_LANES:
            self._upper_context()
        b.lines += [
            f"  {line}"
            for instrument in self._frame.instruments
            for line in instrument.entry(self._frame)
        ]
        resumes = range(1, len(self._pauses) + len(self._entries) + 1)
        cases = " ".join(f"i32 {number}, label %resume{number}" for number in resumes)
        b.line(f"switch i32 %resume, label %start [ {cases} ]")
        b.label("start")
        used = sorted(self._frame.registers.used)
        restore(
            b,
            [
                r
                for r in used
                if r[0] == "s" or (r[1] % HALF_VGPRS == 0 and r[1] not in self._in_memory)
            ],
        )
        if ("s", MODE_SLOT) in used:
            b.store(
                constant("i32", self._mode.value), self._frame.registers.slot("s", MODE_SLOT), 4
            )
        self._clear_undefined()
        b.branch(_label(self._graph.entry))

    def _upper_context(self) -> None:
        """Copy the context and change what is different for the upper half."""
        b = self._builder
        b.line(f"{UPPER_CONTEXT.text} = alloca [{Context.FIELDS:d} x i64], align 64")
        for field in Context:
            if field is not Context.FIELDS:
                b.store(self._frame.context(field), b.offset(UPPER_CONTEXT, field * FIELD_BYTES), 8)
        b.store(
            constant("i64", HALF_LANES), b.offset(UPPER_CONTEXT, Context.LANE_BASE * FIELD_BYTES), 8
        )
        lower = b.mul(self._frame.context(Context.SCRATCH_LANE_BYTES), constant("i64", HALF_LANES))
        scratch = b.add(self._frame.context(Context.SCRATCH), lower)
        b.store(scratch, b.offset(UPPER_CONTEXT, Context.SCRATCH * FIELD_BYTES), 8)

    def _clear_undefined(self) -> None:
        """Registers that may be read before they are written start as 0, so that runs repeat."""
        live = self._lanes.live(self._graph.entry) - {0}
        for file, index in sorted(self._frame.registers.used):
            if file == "v" and index % HALF_VGPRS in live:
                place = (place_of if index in self._in_memory else slot_of)(
                    self._builder, ("v", index)
                )
                self._builder.store(Value(vector("i32"), "zeroinitializer"), place, 64)


def executes(opcode: Opcode) -> bool:
    """Whether the translator has an instruction, at least in some of its forms."""
    table = DUAL if opcode.traits.is_dual else EMITTERS
    return opcode.traits.ends_block or opcode.traits.operation in table


def _label(pc: int) -> str:
    return f"at{pc:x}"
