"""One kernel as one host function: `i32 wave(state, context, resume)`.

In wave64 vector instructions are emitted twice, for the lower and for the upper 32 lanes; what the
first half writes to scalars becomes visible after the second.

Every machine block becomes an LLVM block. A wave that waits stores its registers to `state` and
returns the id to resume from; the driver calls again with that id. The text of the function is put
together at the end, when it is known which registers are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from amdjit.emulator.host.builder import LANES, RARELY, Builder, Value, constant, vector
from amdjit.emulator.host.record import Record
from amdjit.emulator.instructions.emission import emit_instruction
from amdjit.emulator.instructions.operation import VectorOp
from amdjit.emulator.instructions.refused import refusal
from amdjit.emulator.instructions.scalar.barriers import joined_signal
from amdjit.emulator.instructions.scalar.control import calls_host
from amdjit.emulator.instructions.tables import emitter_of, emitters_of
from amdjit.emulator.instructions.vector.dual_issue import DUAL
from amdjit.emulator.instructions.vector.packed import PackedOp
from amdjit.emulator.layout import DWORD_BYTES, MODE_SLOT, WAVE_ENDED, WAVE_STOPPED, Context
from amdjit.emulator.tiers.instruction_classes import registers_in_memory
from amdjit.emulator.tiers.pauses import (
    PATIENCE,
    Pause,
    Poll,
    take_from_budget,
    yield_when_spinning,
)
from amdjit.emulator.tiers.terminators import Ending, Terminators, label_of
from amdjit.emulator.tiers.upper_half import write_upper_context
from amdjit.emulator.wave.frame import (
    CONTEXT,
    LAUNCH,
    RESUME,
    STAGING,
    STAGING_VECTORS,
    UPPER_CONTEXT,
    Frame,
    Instruments,
    begin_function,
)
from amdjit.emulator.wave.index_modes import index_modes
from amdjit.emulator.wave.registers import V32, Registers
from amdjit.emulator.wave.rounding import RoundingBuilder
from amdjit.emulator.wave.sites import WAVE_SYMBOL, Sites, WaveFunction
from amdjit.emulator.wave.wave_state import (
    Name,
    place_of,
    reserve_together,
    restore,
    restore_together,
    save,
    save_and_compare,
    save_together,
    slot_of,
)
from amdjit.isa.analysis.control_flow import Block, Graph, longest_run
from amdjit.isa.analysis.dataflow import Ones, given_vectors, ones_after, ones_at_entries
from amdjit.isa.analysis.hidden_lanes import HiddenLanes
from amdjit.isa.analysis.mode import USUAL_MODE, Mode, modes_at_entries
from amdjit.isa.instruction import Instruction, Opcode, Register, RegisterFile
from amdjit.isa.register_numbers import HALF_LANES, HALF_VGPRS, SCC_SLOT
from amdjit.isa.traits import Idle, Unit

# In SSA form LLVM takes seconds for that many registers that a wave saves where it waits, or that
# join at the starts of blocks, and its time grows with their square (45 s for 9,600 instructions in
# 1,400 blocks, 237 of which wait). Beyond, registers stay in memory: 2 s for the same kernel, whose
# code takes up to twice as long to run. Code that is made in the background may take longer.
_MOST_SAVED, _MOST_JOINED, _BACKGROUND = 2_500, 20_000, 4
_PATIENCE = Value("ptr", "%patience")


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
    build in. enterable: waves can also start at loops, with the ids that `translate_threaded` gives
    them. Untranslatable if an instruction, operand or modifier has no translation.
    """
    translation = _Translation(graph, full_waves, mode, wave_size, instruments)
    return translation.run(attributes, enterable)


class _Translation:
    def __init__(
        self, graph: Graph, full_waves: bool, mode: Mode, wave_size: int, instruments: Instruments
    ) -> None:
        self._graph = graph
        self._given = given_vectors(graph)
        self._mode = mode
        self._wave_size = wave_size
        self._ones = ones_at_entries(graph, full_waves, wave_size)
        self._lanes = HiddenLanes(graph, self._ones, wave_size)
        self._modes = modes_at_entries(graph, mode)
        natives: set[str] = set()
        self._builder = Builder() if self._modes.rounds_to_nearest else RoundingBuilder(natives)
        self._in_memory = registers_in_memory(graph, wave_size)
        self._registers = Registers(self._builder, self._in_memory, wave_size)
        sites = Sites([graph.entry])
        self._frame = Frame(self._builder, self._registers, sites, natives, modes=self._modes)
        self._frame.instruments = begin_function(instruments, graph, full_waves, wave_size)
        self._one_by_one = any(kind.every_instruction for kind in instruments)
        ending = _Branches(self._builder, self._registers)
        self._terminators = Terminators(graph, self._frame, ending)
        self._entries: list[int] = []
        self._together = False

    def run(self, attributes: str, enterable: bool) -> WaveFunction:
        for pc in sorted(self._ones):
            self._block(self._graph.blocks[pc])
        self._terminators.emit_shared_jump()
        body, self._builder.lines = self._builder.lines, []
        if enterable:
            self._entries = self._terminators.loops
        self._together = self._is_large(_BACKGROUND if enterable else 1)
        self._ends()
        tail, self._builder.lines = self._builder.lines, []
        self._entry()
        text = self._text(attributes, [*self._builder.lines, *body, *tail])
        pauses = self._terminators.pauses
        natives = frozenset(self._frame.natives)
        resumes = (self._graph.entry, *(pause.after for pause in pauses))
        longest = longest_run(self._graph)
        may_yield = longest is None and any(pause.yields for pause in pauses)
        sites = tuple(self._frame.sites.pcs)
        asks = calls_host(self._graph)
        return WaveFunction(
            text,
            natives,
            site_pcs=sites,
            resume_pcs=resumes,
            longest=longest,
            may_yield=may_yield,
            calls_host=asks,
            keeps_slots=self._together,
        )

    def _is_large(self, factor: int) -> bool:
        """Whether LLVM would take long to make SSA values of all registers."""
        each = len(self._registers.used) / factor
        saved, joined = len(self._terminators.pauses), len(self._ones)
        return saved * each > _MOST_SAVED or joined * each > _MOST_JOINED

    def _text(self, attributes: str, lines: list[str]) -> str:
        declarations = "\n".join(self._builder.declarations.values())
        head = f"define i32 @{WAVE_SYMBOL}(ptr %state, ptr %context, i32 %resume) {attributes} {{"
        return "\n".join([declarations, head, *lines, "}", ""])

    # Blocks

    def _block(self, block: Block) -> None:
        ones = self._ones[block.pc]
        self._builder.label(label_of(block.pc))
        self._registers.begin_block(ones)
        self._frame.set_mode(self._modes.at_start[block.pc])
        self._frame.index_modes = index_modes(block)
        self._frame.begin_block(block)
        joined = joined_signal(block)
        steps = zip(block.instructions, self._lanes.unseen(block.pc), strict=True)
        for stretch in in_stretches(steps, itemgetter(0)):
            if stretch[0][0].traits.ends_block:
                self._registers.leave_unseen(stretch[0][1])
                self._frame.before(stretch[0][0])
                break
            if stretch[0][0].pc == joined or len(stretch) == 1 or self._one_by_one:
                ones = self._emit(stretch, ones, joined)
            else:
                emit_stretch(self._frame, partial(self._emit, stretch, ones, joined))
                for instruction, _ in stretch:
                    ones = ones_after(instruction, ones)
        self._terminators.emit(block)

    def _emit(self, stretch: list[tuple[Instruction, int]], ones: Ones, joined: int | None) -> Ones:
        for instruction, unseen in stretch:
            self._registers.leave_unseen(unseen)
            self._frame.before(instruction)
            if instruction.pc != joined:
                emit_instruction(self._frame, instruction)
            ones = ones_after(instruction, ones)
            self._registers.know_ones(ones)
            self._frame.after(instruction)
        return ones

    # The code around the blocks

    def _ends(self) -> None:
        pauses = self._terminators.pauses
        for pause in pauses:
            self._save_and_resume(pause)
        for poll in self._terminators.polls:
            self._poll(poll)
        for number, pc in enumerate(self._entries, len(pauses) + 1):
            self._resume(number, pc)

    def _poll(self, poll: Poll) -> None:
        """Go back to a loop's start unless the launch stops or another wave should run."""
        b = self._builder
        b.label(poll.label)
        self._registers.begin_block(frozenset())
        cost, known = constant("i64", poll.cost), poll.site
        site = self._registers.jump()[1] if known is None else self._frame.sites.value(known)
        take_from_budget(self._frame, cost, site, partial(b.give, constant("i32", WAVE_STOPPED)))
        if poll.pause is not None:
            yield_when_spinning(b, _PATIENCE, partial(b.branch, _save_label(poll.pause)))
        b.branch(self._terminators.place_of(poll.target))

    def _kept(self, pc: int) -> list[Name]:
        places = (pc,) if pc in self._graph.blocks else self._graph.indirect_targets
        live = frozenset().union(*map(self._lanes.live, places))
        return [
            (file, index)
            for file, index in sorted(self._registers.used)
            if file == "s" or (index & ~HALF_VGPRS in live and index not in self._in_memory)
        ]

    def _save_and_resume(self, pause: Pause) -> None:
        kept = self._kept(pause.after)
        self._builder.label(_save_label(pause))
        if self._together:
            result = save_together(self._frame, kept, pause.result, compares=pause.polls)
            self._builder.give(result)
        elif pause.polls:
            self._builder.give(save_and_compare(self._builder, kept, pause.result))
        else:
            save(self._builder, kept)
            self._builder.give(constant("i32", pause.result))
        self._resume(pause.number, pause.after)

    def _resume(self, number: int, pc: int) -> None:
        self._builder.label(_resume_label(number))
        self._restore(self._kept(pc))
        self._builder.branch(self._terminators.place_of(pc))

    def _restore(self, registers: list[Name]) -> None:
        if self._together:
            restore_together(self._frame, registers)
        else:
            restore(self._builder, registers)

    def _entry(self) -> None:
        b = self._builder
        b.label("entry")
        self._reserve()
        b.store(constant("i32", PATIENCE), _PATIENCE, DWORD_BYTES)
        context = Record(b, CONTEXT)
        b.bind(LAUNCH, context.get(Context.LAUNCH))
        if self._wave_size > HALF_LANES:
            b.reserve(UPPER_CONTEXT, f"[{Context.FIELDS:d} x i64]")
            write_upper_context(context, Record(b, UPPER_CONTEXT))
        for instrument in self._frame.instruments:
            instrument.entry(self._frame)
        resumes = range(1, len(self._terminators.pauses) + len(self._entries) + 1)
        labels = {number: _resume_label(number) for number in resumes}
        b.switch(RESUME, labels, "start")
        b.label("start")
        self._start()
        b.branch(label_of(self._graph.entry))

    def _reserve(self) -> None:
        """Reserve the stack's memory."""
        b = self._builder
        slots = [
            (file, index)
            for file, index in sorted(self._registers.used)
            if file == "s" or index not in self._in_memory
        ]
        if self._together:
            reserve_together(b, slots)
        else:
            for file, index in slots:
                kind = V32 if file == "v" else "i1" if index == SCC_SLOT else "i32"
                b.reserve(slot_of(b, (file, index)), kind, 64 if file == "v" else DWORD_BYTES)
        b.reserve(STAGING, f"[{STAGING_VECTORS * LANES} x i32]")
        b.reserve(_PATIENCE, "i32", 4)

    def _start(self) -> None:
        """Load what the driver has set: the scalars, and the ids of work-items."""
        b, used = self._builder, sorted(self._registers.used)
        self._restore([register for register in used if self._is_set_at_start(register)])
        if ("s", MODE_SLOT) in used:
            slot = self._registers.slot("s", MODE_SLOT)
            b.store(constant("i32", self._mode.value), slot, DWORD_BYTES)
        self._clear_undefined()

    def _is_set_at_start(self, register: Name) -> bool:
        file, index = register
        return file == "s" or (index & ~HALF_VGPRS in self._given and index not in self._in_memory)

    def _clear_undefined(self) -> None:
        """Set registers to 0 that may be read before they are written, so that runs are
        reproducible."""
        live = self._lanes.live(self._graph.entry) - self._given
        for file, index in sorted(self._registers.used):
            if file == "v" and index & ~HALF_VGPRS in live:
                find = place_of if index in self._in_memory else slot_of
                place = find(self._builder, ("v", index))
                self._builder.store(Value(vector("i32"), "zeroinitializer"), place, 64)


class _Branches(Ending):
    """Blocks end in branches to other blocks, or in a return."""

    def __init__(self, builder: Builder, registers: Registers) -> None:
        self._builder = builder
        self._registers = registers

    def end_wave(self) -> None:
        self._builder.give(constant("i32", WAVE_ENDED))

    def stop(self) -> None:
        self._builder.give(constant("i32", WAVE_STOPPED))

    def place(self, label: str) -> None:
        self._builder.label(label)

    def jump(self, label: str) -> None:
        self._registers.flush()
        self._builder.branch(label)

    def jump_if(self, condition: Value, label: str, following: int) -> None:
        self._registers.flush()
        self._builder.branch_if(condition, label, label_of(following))

    def go_on(self, following: int) -> None:
        self.jump(label_of(following))

    def pause(self, pause: Pause) -> None:
        self.jump(_save_label(pause))

    def pause_if(self, condition: Value, pause: Pause) -> None:
        self.jump_if(condition, _save_label(pause), pause.after)

    def choose(self, pc: Value, labels: Mapping[int, str]) -> None:
        self._registers.flush()
        wild = self._builder.block("wild")
        self._builder.switch(pc, labels, wild)
        self._builder.label(wild)


def executes(opcode: Opcode) -> bool:
    """Whether the translator has an instruction, at least in some of its forms."""
    if refusal(opcode.traits.operation, opcode.instruction_set.name):
        return False
    family = emitters_of(opcode.instruction_set.name)
    table: Mapping[str, object] = DUAL if opcode.traits.is_dual else family
    return opcode.traits.ends_block or table.get(opcode.traits.operation) is not None


def _save_label(pause: Pause) -> str:
    return f"save{pause.number}"


def _resume_label(number: int) -> str:
    return f"resume{number}"


# Stretches of VALU instructions whose results are searched for NaNs only once, at their end.
#
# A check of each instruction's result (`nans.py`) would take as long as the instruction. So a
# stretch is translated twice: first as if there were no NaNs, then, for the rare case that there is
# one, with the right NaN everywhere.
#
#     v_mul_f32 v4, v1, v2       %t5 = fmul ...        nan.1: both again, exactly
#     v_add_f32 v5, v4, v3  ->   %t6 = fadd %t5, ...          br end.2
#                                br any NaN in %t6 ->  end.2: %t9 = phi [ %t6, ... ], [ ..., nan.1 ]
#
# A NaN among the sources of an instruction is a NaN in its result, so that only the last results
# need a look.

# Registers that are written in a stretch live on to its end, for the second translation.
_LONGEST = 12

_Step = TypeVar("_Step")


def may_stretch(instruction: Instruction) -> bool:
    """Return whether an instruction only computes vector registers and lane masks, but not EXEC."""
    traits = instruction.traits
    if any(
        isinstance(operand, Register) and operand.file is RegisterFile.EXEC
        for operand in instruction.operands
    ):
        return False
    if instruction.pair is not None:
        halves = (instruction, instruction.pair)
        return all(DUAL.get(half.traits.operation) is not None for half in halves)
    if traits.idle is Idle.DELAY or traits.is_mixed or _is_lanewise(instruction):
        return True
    return isinstance(emitter_of(instruction), (VectorOp, PackedOp))


def _is_lanewise(instruction: Instruction) -> bool:
    """Whether it is a comparison, transcendental, or the first step of a division (v_div_scale)."""
    traits, opcode = instruction.traits, instruction.opcode
    if traits.compares:
        return not traits.writes_exec
    if traits.unit is Unit.TRANSCENDENTAL:
        return traits.lane_by_lane
    return opcode.encoding == "VOP3SD" and opcode.operands[0].type in ("f32", "f64")


def in_stretches(
    steps: Iterable[_Step], instruction_of: Callable[[_Step], Instruction]
) -> Iterator[list[_Step]]:
    """Yield the steps of a block in stretches; each other instruction is one of its own."""
    for together, group in groupby(steps, lambda step: may_stretch(instruction_of(step))):
        run = list(group)
        size = _LONGEST if together else 1
        yield from (run[start : start + size] for start in range(0, len(run), size))


def emit_stretch(frame: Frame, emit: Callable[[], object]) -> None:
    """Emit a stretch, by calls of `emit`."""
    b, registers = frame.builder, frame.registers
    before = registers.snapshot()
    b.unchecked = {}
    emit()
    results, b.unchecked = list(b.unchecked.values()), None
    if not results:
        return
    plain, start = registers.snapshot(), b.current
    # Inactive lanes often hold infinities and NaNs, which made them leave a loop. Each half of a
    # wave64 has its own EXEC.
    active = None if registers.exec_is_full or registers.halves == 2 else registers.exec_mask()
    with b.if_(b.any_nan(results, active), RARELY, "nan"):
        registers.restore(before)
        b.is_exact = True
        emit()
        b.is_exact = False
        end = b.current
    registers.join((plain, start), end)
