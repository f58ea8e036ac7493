"""The check for undefined values, built into translated code: `sanitize("init")`.

Every register has a shadow that says in which lanes it is undefined; loads fill it from memory's
shadow, stores to LDS and private memory put it there, and `vector_rules`, `scalar_rules` and
`matrix_rules` pass it on. It is reported where the value matters: in an address, a branch, EXEC, a
store to global memory, an atomic's old value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from amdjit.emulator.analysis.control_flow import Block, Graph
from amdjit.emulator.analysis.dataflow import (
    Ones,
    exec_slots,
    ones_after,
    ones_at_entries,
    vector_liveness,
)
from amdjit.emulator.analysis.scalar_registers import scalar_slot
from amdjit.emulator.checks.init.entry import entry_lines
from amdjit.emulator.checks.init.kinds import InitKind
from amdjit.emulator.checks.init.lane_rules import (
    MOVES,
    move_between_lanes,
    read_lane,
    swap,
    write_lane,
    write_transposed,
)
from amdjit.emulator.checks.init.layout import Shadows
from amdjit.emulator.checks.init.matrix_rules import apply_matrix
from amdjit.emulator.checks.init.may_be_undefined import (
    Facts,
    facts_after,
    facts_at_entries,
    keeping_scalars,
    reads_arguments,
)
from amdjit.emulator.checks.init.memory_shadow import symbol_of
from amdjit.emulator.checks.init.operands import Shadow, results
from amdjit.emulator.checks.init.registers import ONES, ZERO, Halves, MaskBuilder, ShadowRegisters
from amdjit.emulator.checks.init.scalar_rules import apply_scalar, branch_condition
from amdjit.emulator.checks.init.vector_rules import (
    vector_results,
    write_half_results,
    write_wide_results,
)
from amdjit.emulator.decoder.instruction import Instruction, Register, RegisterFile
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.vector.special import PSEUDO_SCALAR
from amdjit.emulator.layout import (
    FIELD_BYTES,
    HALF_LANES,
    PRIVATE_APERTURE_HIGH,
    SHARED_APERTURE_HIGH,
)
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.emulator.wave.instrument import AccessKind, Instrument, MemoryAccess
from amdjit.emulator.wave.registers import V32

_SHADOWS = Value("ptr", "%undefined.shadows")
_MASKS = Value("ptr", "%undefined.masks")
_ADDRESS_ROLES = frozenset({"vaddr", "saddr", "sbase", "soffset", "rsrc", "addr"})
_VECTOR_MEMORY = frozenset({"VGLOBAL", "VSCRATCH", "VBUFFER", "VFLAT", "DS"})
_GLOBAL = frozenset({"VGLOBAL", "VBUFFER", "VFLAT"})
_SWAPS = re.compile(r"_(swap|storexchg)_")
_SPECIAL = {
    "v_swap_b32": swap,
    "v_swap_b16": swap,
    "v_readlane_b32": read_lane,
    "v_readfirstlane_b32": read_lane,
}
_SPECIAL |= {"v_writelane_b32": write_lane, **dict.fromkeys(PSEUDO_SCALAR, read_lane)}
# Scalar registers that the launch sets before a wave starts; compilers read no other ones.
_SET_AT_START = frozenset(range(32))


class UndefinedValues(Instrument):
    """See the module."""

    name: ClassVar[str] = "init"

    def __init__(self) -> None:
        self._facts: Mapping[int, Facts] = {}
        self._graph = Graph(0, {}, ())
        self._at_start: frozenset[int] = frozenset()
        self._shadow: Shadow | None = None
        self._successors: tuple[int, ...] = ()
        self._known = Facts(0, 0)
        self._entry_tainted = 0
        self._last = 0
        self._full: Ones = frozenset()
        self._ones: Mapping[int, Ones] = {}
        self._half = self._part = 0
        self._executes = exec_slots(HALF_LANES)

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Find out which registers can be undefined where."""
        self._graph = graph
        self._executes = exec_slots(wave_size)
        self._ones = ones_at_entries(graph, full_waves, wave_size)
        live = vector_liveness(graph, self._ones, wave_size).at_start.get(graph.entry, frozenset())
        self._at_start = live - {0} - keeping_scalars(graph)
        self._facts = facts_at_entries(
            graph, self._ones, self._at_start, _SET_AT_START, self._executes
        )

    def entry(self, frame: Frame) -> list[str]:
        """Find this thread's shadows; a wave that starts has none."""
        frame.natives.add("aj_begin_shadows")
        frame.builder.declarations["aj_begin_shadows"] = (
            "declare void @aj_begin_shadows(ptr, i64, i64)"
        )
        return entry_lines(self._at_start, frame.registers.halves)

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Start a block with what is known there."""
        if self._shadow is None:
            masks = MaskBuilder(frame.builder)
            self._shadow = Shadow(frame, masks, ShadowRegisters(masks, frame.registers))
        self._known, self._full = self._facts[block.pc], self._ones[block.pc]
        self._entry_tainted = self._known.tainted
        self._shadow.registers.begin_block(self._known.tainted)
        self._last = block.instructions[-1].pc
        self._successors = block.successors

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Report what matters, pass on the rest."""
        shadow = self._shadow
        assert shadow is not None
        with shadow.registers.deferring():
            halves = (0,) if instruction.traits.once_per_wave else range(frame.registers.halves)
            for half in halves:
                frame.registers.select_half(half)
                self._apply(shadow, instruction)
        frame.registers.select_half(0)
        self._half = self._part = 0
        if instruction.pc == self._last and instruction.opcode.encoding.startswith("SOP"):
            self._end_block()

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Keep up with what is known."""
        self._known = facts_after(instruction, self._known, self._executes <= self._full)
        self._full = ones_after(instruction, self._full)
        if instruction.pc == self._last:
            self._end_block()

    def _end_block(self) -> None:
        shadow = self._shadow
        assert shadow is not None
        kept = 0
        for successor in self._successors:
            kept |= self._facts[successor].tainted if successor in self._facts else 0
        shadow.registers.flush(kept, self._entry_tainted)

    # Instructions

    def _apply(self, shadow: Shadow, instruction: Instruction) -> None:
        name, encoding = instruction.mnemonic, instruction.opcode.encoding
        if name.startswith("s_cbranch"):
            self._sink(shadow, instruction, InitKind.BRANCH, branch_condition(shadow, instruction))
        elif encoding.startswith("SOP"):
            self._scalar(shadow, instruction)
        elif name in MOVES:
            move_between_lanes(shadow, instruction)
        elif encoding in _VECTOR_MEMORY or encoding == "SMEM":
            self._memory(shadow, instruction)
        elif name in _SPECIAL:
            _SPECIAL[name](shadow, instruction)
        elif name.startswith(("v_wmma", "v_swmmac")):
            apply_matrix(shadow, instruction, self._seen(shadow))
        elif not (
            write_half_results(shadow, instruction) or write_wide_results(shadow, instruction)
        ):
            self._vector(shadow, instruction)

    def _seen(self, shadow: Shadow) -> Value | None:
        """Return whether anything undefined was met, as an i1; None if registers are undefined from
        the start."""
        if self._at_start:
            return None
        b = shadow.frame.builder
        seen = b.load("i64", b.offset(_SHADOWS, Shadows.SEEN * FIELD_BYTES), 8)
        return b.compare("ne", seen, constant("i64", 0))

    def _scalar(self, shadow: Shadow, instruction: Instruction) -> None:
        if instruction.mnemonic in ("s_setpc_b64", "s_swappc_b64"):
            self._sink(
                shadow, instruction, InitKind.BRANCH, shadow.scalar(instruction.operand("src0"))
            )
        undefined = apply_scalar(shadow, instruction)
        self._sink(shadow, instruction, InitKind.BRANCH, undefined)

    def _vector(self, shadow: Shadow, instruction: Instruction) -> None:
        halves = (instruction, instruction.pair) if instruction.pair else (instruction,)
        pending = [entry for half in halves for entry in vector_results(shadow, half)]
        lanes = shadow.written_lanes(instruction) if pending else ONES
        for half, index, new in pending:
            target = half.operands[index]
            if isinstance(target, Register) and target.file is RegisterFile.EXEC:
                undefined = shadow.masks.both(shadow.masks.either(*new), shadow.lanes())
                self._sink(shadow, instruction, InitKind.BRANCH, undefined)
            else:
                shadow.write(half, index, new, lanes)

    def _memory(self, shadow: Shadow, instruction: Instruction) -> None:
        """Addresses, and what is stored to global memory. What is loaded comes with `accessed`."""
        masks = shadow.masks
        found = []
        for index, spec in enumerate(instruction.opcode.operands):
            if spec.role in _ADDRESS_ROLES:
                found.append(shadow.any_of(instruction, index))
        undefined = masks.either(*found)
        if instruction.opcode.encoding != "SMEM":
            undefined = masks.both(undefined, shadow.lanes())
        self._sink(shadow, instruction, InitKind.ADDRESS, undefined)

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Pass definedness between memory and registers."""
        shadow = self._shadow
        assert shadow is not None
        if self._half != frame.registers.wave_half:
            self._half, self._part = frame.registers.wave_half, 0
        if access.space == "k":
            self._scalar_load(shadow, instruction, access)
        elif access.kind is AccessKind.LOAD:
            self._load(shadow, instruction, access)
        elif access.kind is AccessKind.STORE:
            self._store(shadow, instruction, access)
        else:
            self._atomic(shadow, instruction, access)

    def _scalar_load(self, shadow: Shadow, instruction: Instruction, access: MemoryAccess) -> None:
        target = instruction.operands[0]
        assert isinstance(target, Register)
        slot = scalar_slot(target)
        if slot is None:
            return
        found = ZERO
        buffer = "buffer" in instruction.mnemonic
        if not buffer and not reads_arguments(instruction, self._known):
            frame = shadow.frame
            site = frame.sites.add(instruction.pc)
            arguments = [CONTEXT, _SHADOWS, site, access.address[0], constant("i32", access.size)]
            found = frame.native("aj_undefined_scalar", "i32", arguments)
        b = shadow.frame.builder
        for part in range(target.dwords):
            bit = ZERO if found == ZERO else b.sub(ZERO, b.mask(b.shift("lshr", found, part), 1))
            shadow.registers.write_scalar(slot + part, bit)

    def _call(
        self,
        shadow: Shadow,
        instruction: Instruction,
        access: MemoryAccess,
        stored: list[Value] | None = None,
    ) -> None:
        """Ask memory's shadow, or change it; not where all of that memory is known to be
        defined."""
        b = shadow.frame.builder
        needed = self._needed(shadow, access, stored)
        label = f"undefined.{b.name()[1:]}"
        if needed is not None:
            b.branch_if(needed, label, f"{label}.done")
            b.label(label)
        name = symbol_of(access.space, access.size, stored is not None)
        site = shadow.frame.sites.add(instruction.pc)
        arguments = [
            shadow.frame.lane_context,
            _SHADOWS,
            site,
            *access.address,
            access.lanes,
            _MASKS,
        ]
        shadow.frame.native_void(name, arguments)
        if needed is not None:
            b.branch(f"{label}.done")
            b.label(f"{label}.done")

    def _needed(
        self, shadow: Shadow, access: MemoryAccess, stored: list[Value] | None
    ) -> Value | None:
        b = shadow.frame.builder
        if access.space in ("s", "v"):
            some = b.load("i64", b.offset(_SHADOWS, Shadows.ANY * FIELD_BYTES), 8)
            return b.compare("ne", some, constant("i64", 0))
        if access.space != "l":
            return None
        clean = b.load("i64", Value("ptr", "%undefined.clean"), 8)
        dirty = b.compare("eq", clean, constant("i64", 0))
        undefined = shadow.masks.either(*(stored or []))
        return dirty if undefined == ZERO else b.or_(dirty, b.compare("ne", undefined, ZERO))

    def _loaded(
        self, shadow: Shadow, instruction: Instruction, access: MemoryAccess
    ) -> list[Halves]:
        """Return the lanes in which each dword that is loaded is undefined."""
        b = shadow.frame.builder
        count = max(access.size // 4, 1)
        kind = f"<{2 * count} x i32>"
        b.store(Value(kind, "zeroinitializer"), _MASKS, 4)
        self._call(shadow, instruction, access)
        masks = [b.load("i32", b.offset(_MASKS, 4 * index), 4) for index in range(2 * count)]
        return [(masks[2 * part], masks[2 * part + 1]) for part in range(count)]

    def _load(self, shadow: Shadow, instruction: Instruction, access: MemoryAccess) -> None:
        target = next(instruction.operands[index] for index in results(instruction))
        assert isinstance(target, Register)
        found = self._loaded(shadow, instruction, access)
        lanes = shadow.lanes()
        name = instruction.mnemonic
        if "_tr_" in name:
            write_transposed(shadow, instruction, target, found)
            return
        if "format" in name:
            # What is converted counts as defined.
            for number in range(target.index, target.index + target.dwords):
                shadow.registers.write_vector(number, (ZERO, ZERO), lanes)
            return
        if access.size < 4:
            self._narrow_load(shadow, name, target, shadow.masks.either(*found[0]), lanes)
            return
        for part, halves in enumerate(found):
            shadow.registers.write_vector(target.index + self._part + part, halves, lanes)
        self._part += len(found)

    def _narrow_load(
        self, shadow: Shadow, name: str, target: Register, mask: Value, lanes: Value
    ) -> None:
        old = shadow.registers.vector(target.index)
        kept = (old[0], mask) if "d16_hi" in name else (mask, old[1])
        new = kept if "d16" in name else (mask, mask)
        shadow.registers.write_vector(target.index, new, lanes)

    def _stored(
        self, shadow: Shadow, instruction: Instruction, access: MemoryAccess
    ) -> list[Halves]:
        """Return the lanes in which each dword that is stored is undefined."""
        roles = ("vdata", "data0", "data1")
        registers = [
            operand
            for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True)
            if spec.role in roles and isinstance(operand, Register)
        ]
        if "_format_" in instruction.mnemonic:
            # Channels are converted: each bit may be one of any of them.
            parts = [
                shadow.registers.vector(n)
                for r in registers
                for n in range(r.index, r.index + r.dwords)
            ]
            some = shadow.masks.either(*(mask for halves in parts for mask in halves))
            return [(some, some)] * max(access.size // 4, 1)
        if access.size < 4:
            halves = shadow.registers.vector(registers[0].index)
            mask = halves[1] if "d16_hi" in instruction.mnemonic else halves[0]
            return [(mask, mask)]
        numbers = [number for r in registers for number in range(r.index, r.index + r.dwords)]
        count = access.size // 4
        chosen = numbers[self._part : self._part + count]
        self._part += count
        return [shadow.registers.vector(number) for number in chosen]

    def _store(self, shadow: Shadow, instruction: Instruction, access: MemoryAccess) -> None:
        values = self._stored(shadow, instruction, access)
        if instruction.opcode.encoding in _GLOBAL:
            outside = access.lanes
            if access.space == "f":
                outside = shadow.masks.without(outside, self._local_lanes(shadow, access))
            undefined = shadow.masks.either(*(mask for halves in values for mask in halves))
            self._sink(shadow, instruction, InitKind.STORE, shadow.masks.both(undefined, outside))
            # What was reported counts as written.
            values = [tuple(shadow.masks.without(m, outside) for m in halves) for halves in values]  # type: ignore[misc]
        self._define(shadow, instruction, access, values)

    def _define(
        self, shadow: Shadow, instruction: Instruction, access: MemoryAccess, values: list[Halves]
    ) -> None:
        b = shadow.frame.builder
        masks = [mask for halves in values for mask in halves]
        for index, mask in enumerate(masks):
            b.store(mask, b.offset(_MASKS, 4 * index), 4)
        self._call(shadow, instruction, access, masks)

    def _local_lanes(self, shadow: Shadow, access: MemoryAccess) -> Value:
        """Return the lanes of a flat access that go to LDS or private memory."""
        b = shadow.frame.builder
        wide = b.add(
            b.concat_bits(access.address[0], access.address[1]), b.splat(access.address[2])
        )
        high = b.split_bits(wide)[1]
        hits = [
            b.mask_bits(b.compare("eq", high, constant(V32, aperture)))
            for aperture in (SHARED_APERTURE_HIGH, PRIVATE_APERTURE_HIGH)
        ]
        return b.or_(*hits)

    def _atomic(self, shadow: Shadow, instruction: Instruction, access: MemoryAccess) -> None:
        masks = shadow.masks
        old = self._loaded(shadow, instruction, access)
        before = masks.either(*(mask for halves in old for mask in halves))
        self._part = 0
        data = masks.either(
            *(mask for halves in self._stored(shadow, instruction, access) for mask in halves)
        )
        swaps = _SWAPS.search(instruction.mnemonic) is not None
        in_lds = instruction.opcode.encoding == "DS"
        if not in_lds:
            wrong = data if swaps else masks.either(before, data)
            self._sink(shadow, instruction, InitKind.ATOMIC, masks.both(wrong, access.lanes))
            after = ZERO
        else:
            after = data if swaps else masks.either(before, data)
        self._define(shadow, instruction, access, [(after, after)] * len(old))
        for index in results(instruction):
            target = instruction.operands[index]
            if isinstance(target, Register):
                for number in range(target.index, target.index + target.dwords):
                    shadow.registers.write_vector(number, (before, before), shadow.lanes())

    # Findings

    def _sink(
        self, shadow: Shadow, instruction: Instruction, kind: InitKind, undefined: Value
    ) -> None:
        """Report a value that matters if any of these bits, or lanes, is undefined."""
        if undefined == ZERO:
            return
        frame, b = shadow.frame, shadow.frame.builder
        name = b.name()[1:]
        found = b.compare("ne", undefined, ZERO)
        b.branch_if(found, f"undefined.{name}", f"undefined.{name}.done")
        b.label(f"undefined.{name}")
        uniform = instruction.opcode.encoding in ("SMEM", "SOPP") or instruction.mnemonic.endswith(
            "pc_b64"
        )
        lane = constant("i64", -1)
        if not uniform:
            lane = b.resize(b.intrinsic("cttz", undefined, flags=[constant("i1", 1)]), 64)
        site = frame.sites.add(instruction.pc)
        nothing = Value("ptr", "null")
        context = frame.lane_context
        arguments = [
            context,
            constant("i32", kind),
            site,
            lane,
            constant("i64", 0),
            constant("i32", 0),
            nothing,
        ]
        frame.native_void("aj_report", arguments)
        b.branch(f"undefined.{name}.done")
        b.label(f"undefined.{name}.done")
