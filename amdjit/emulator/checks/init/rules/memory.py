"""How definedness passes between memory and registers: loads, stores and atomics.

Loads fill the shadows of registers from memory's shadow; stores and atomics put theirs there. What
is undefined is reported where it is stored to global memory or used by an atomic.
"""

from __future__ import annotations

from contextlib import nullcontext

from amdjit.emulator.checks.init.entry import CLEAN, MASKS, SHADOWS
from amdjit.emulator.checks.init.kinds import InitKind
from amdjit.emulator.checks.init.layout import Shadows
from amdjit.emulator.checks.init.may_be_undefined import Facts, reads_arguments
from amdjit.emulator.checks.init.memory_shadow import symbol_of
from amdjit.emulator.checks.init.operands import Shadow, results
from amdjit.emulator.checks.init.registers import ZERO, Halves
from amdjit.emulator.checks.init.rules.lanes import write_columns, write_transposed
from amdjit.emulator.checks.init.sinks import report_undefined
from amdjit.emulator.checks.lane_addresses import lane_addresses, lanes_in
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.layout import FIELD_BYTES, PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH
from amdjit.emulator.wave.frame import CONTEXT, AccessKind, MemoryAccess
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import numbers_of, scalar_slot, vector_number
from amdjit.isa.traits import HIGH_HALF, LOW_HALF, Exchange, Space, Unit


class MemoryRules:
    """The accesses of one instruction after another.

    An instruction may access memory several times, and a wave64 does so in each half: `_part`
    counts the registers that earlier accesses of this half have taken.
    """

    def __init__(self) -> None:
        self._half = self._part = 0
        # What a load without a register as its result has found; a store to LDS follows.
        self._direct: list[Halves] = []

    def begin_instruction(self) -> None:
        """Start with the lower half and the first register."""
        self._half = self._part = 0

    def accessed(
        self, shadow: Shadow, instruction: Instruction, access: MemoryAccess, known: Facts
    ) -> None:
        """Pass definedness between memory and registers."""
        half = shadow.frame.registers.wave_half
        if self._half != half:
            self._half, self._part = half, 0
        if access.space == "k":
            self._scalar_load(shadow, instruction, access, known)
        elif instruction.traits.unit is Unit.SCALAR_MEMORY:
            self._scalar_change(shadow, instruction, access)
        elif access.kind is AccessKind.LOAD:
            self._load(shadow, instruction, access)
        elif access.kind is AccessKind.STORE:
            self._store(shadow, instruction, access)
        else:
            self._atomic(shadow, instruction, access)

    def _scalar_load(
        self, shadow: Shadow, instruction: Instruction, access: MemoryAccess, known: Facts
    ) -> None:
        target = instruction.operands[0]
        assert isinstance(target, Register)
        slot = scalar_slot(target)
        if slot is None:
            return
        found = ZERO
        if not instruction.access.has_descriptor and not reads_arguments(instruction, known):
            frame = shadow.frame
            site = frame.sites.add(instruction.pc)
            arguments = [CONTEXT, SHADOWS, site, access.address[0], constant("i32", access.size)]
            found = frame.native("aj_undefined_scalar", "i32", arguments)
        b = shadow.frame.builder
        for part in range(target.dwords):
            bit = ZERO if found == ZERO else b.sub(ZERO, b.mask(b.shift("lshr", found, part), 1))
            shadow.registers.write_scalar(slot + part, bit)

    def _scalar_change(
        self, shadow: Shadow, instruction: Instruction, access: MemoryAccess
    ) -> None:
        """A scalar store or atomic: what it leaves in memory is defined, or reported."""
        data = instruction.operand("sdst")
        undefined, kind = shadow.scalar(data), InitKind.STORE
        count = max(access.size // 4, 1)
        if access.kind is AccessKind.ATOMIC:
            kind = InitKind.ATOMIC
            if instruction.access.exchange is not Exchange.SWAP:
                old = self._loaded(shadow, instruction, access)
                undefined = shadow.masks.either(undefined, *(mask for pair in old for mask in pair))
        report_undefined(shadow, instruction, kind, undefined)
        self._define(shadow, instruction, access, [(ZERO, ZERO)] * count)
        slot = scalar_slot(data) if isinstance(data, Register) else None
        if instruction.returns_old and slot is not None:
            for part in range(count):
                shadow.registers.write_scalar(slot + part, ZERO)

    def _call(
        self,
        shadow: Shadow,
        instruction: Instruction,
        access: MemoryAccess,
        stored: list[Value] | None = None,
    ) -> None:
        """Read or write memory's shadow, unless all of that memory is known to be defined."""
        b = shadow.frame.builder
        needed = self._needed(shadow, access, stored)
        name = symbol_of(access.space, access.size, stored is not None)
        with nullcontext() if needed is None else b.if_(needed):
            arguments = [
                shadow.frame.lane_context,
                SHADOWS,
                shadow.frame.sites.add(instruction.pc),
                *access.address,
                access.lanes,
                MASKS,
            ]
            shadow.frame.native_void(name, arguments)

    def _needed(
        self, shadow: Shadow, access: MemoryAccess, stored: list[Value] | None
    ) -> Value | None:
        b = shadow.frame.builder
        if access.space in ("s", "v"):
            some = b.load("i64", b.offset(SHADOWS, Shadows.ANY * FIELD_BYTES), 8)
            return b.compare("ne", some, constant("i64", 0))
        if access.space != "l":
            return None
        clean = b.load("i64", CLEAN, 8)
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
        b.store(Value(kind, "zeroinitializer"), MASKS, 4)
        self._call(shadow, instruction, access)
        masks = [b.load("i32", b.offset(MASKS, 4 * index), 4) for index in range(2 * count)]
        return [(masks[2 * part], masks[2 * part + 1]) for part in range(count)]

    def _load(self, shadow: Shadow, instruction: Instruction, access: MemoryAccess) -> None:
        target = next((instruction.operands[index] for index in results(instruction)), None)
        found = self._loaded(shadow, instruction, access)
        lanes = shadow.lanes()
        how = instruction.access
        if not isinstance(target, Register):
            some = shadow.masks.either(*found[0])
            self._direct = [(some, some)] if access.size < 4 else found
            return
        if how.is_transposed:
            write = write_columns if how.space is Space.LDS else write_transposed
            write(shadow, instruction, target, found)
            return
        if how.converts:
            # Converted values count as defined.
            for number in range(vector_number(target), vector_number(target) + target.dwords):
                shadow.registers.write_vector(number, (ZERO, ZERO), lanes)
            return
        if access.size < 4:
            self._narrow_load(shadow, how.half, target, shadow.masks.either(*found[0]), lanes)
            return
        for part, halves in enumerate(found):
            shadow.registers.write_vector(vector_number(target) + self._part + part, halves, lanes)
        self._part += len(found)

    def _narrow_load(
        self, shadow: Shadow, half: int | None, target: Register, mask: Value, lanes: Value
    ) -> None:
        low, high = shadow.registers.vector(vector_number(target))
        new = (mask if half != HIGH_HALF else low, mask if half != LOW_HALF else high)
        shadow.registers.write_vector(vector_number(target), new, lanes)

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
        how = instruction.access
        if not registers:
            return self._direct
        if how.converts:
            # Channels are converted: each bit may come from any of them.
            parts = [shadow.registers.vector(n) for r in registers for n in numbers_of(r)]
            some = shadow.masks.either(*(mask for halves in parts for mask in halves))
            return [(some, some)] * max(access.size // 4, 1)
        if access.size < 4:
            halves = shadow.registers.vector(vector_number(registers[0]))
            mask = halves[how.half or LOW_HALF]
            return [(mask, mask)]
        numbers = [number for r in registers for number in numbers_of(r)]
        count = access.size // 4
        chosen = numbers[self._part : self._part + count]
        self._part += count
        return [shadow.registers.vector(number) for number in chosen]

    def _store(self, shadow: Shadow, instruction: Instruction, access: MemoryAccess) -> None:
        values = self._stored(shadow, instruction, access)
        if access.space != "l" and instruction.access.space in (Space.GLOBAL, Space.FLAT):
            outside = access.lanes
            if access.space == "f":
                outside = shadow.masks.without(outside, self._local_lanes(shadow, access))
            undefined = shadow.masks.either(*(mask for halves in values for mask in halves))
            report_undefined(
                shadow, instruction, InitKind.STORE, shadow.masks.both(undefined, outside)
            )
            # What was reported counts as written.
            values = [tuple(shadow.masks.without(m, outside) for m in halves) for halves in values]  # type: ignore[misc]
        self._define(shadow, instruction, access, values)

    def _define(
        self, shadow: Shadow, instruction: Instruction, access: MemoryAccess, values: list[Halves]
    ) -> None:
        b = shadow.frame.builder
        masks = [mask for halves in values for mask in halves]
        for index, mask in enumerate(masks):
            b.store(mask, b.offset(MASKS, 4 * index), 4)
        self._call(shadow, instruction, access, masks)

    def _local_lanes(self, shadow: Shadow, access: MemoryAccess) -> Value:
        """Return the lanes of a flat access that go to LDS or private memory."""
        b = shadow.frame.builder
        wide = lane_addresses(b, access)
        return b.or_(
            lanes_in(b, wide, SHARED_APERTURE_HIGH), lanes_in(b, wide, PRIVATE_APERTURE_HIGH)
        )

    def _atomic(self, shadow: Shadow, instruction: Instruction, access: MemoryAccess) -> None:
        masks = shadow.masks
        old = self._loaded(shadow, instruction, access)
        before = masks.either(*(mask for halves in old for mask in halves))
        self._part = 0
        data = masks.either(
            *(mask for halves in self._stored(shadow, instruction, access) for mask in halves)
        )
        how = instruction.access
        swaps = how.exchange is Exchange.SWAP
        in_lds = how.space is Space.LDS
        if not in_lds:
            wrong = data if swaps else masks.either(before, data)
            report_undefined(shadow, instruction, InitKind.ATOMIC, masks.both(wrong, access.lanes))
            after = ZERO
        else:
            after = data if swaps else masks.either(before, data)
        if not in_lds and how.exchange is Exchange.COMPARE:
            before = ZERO
            _settle(shadow, instruction)
        self._define(shadow, instruction, access, [(after, after)] * len(old))
        for index in results(instruction):
            target = instruction.operands[index]
            if isinstance(target, Register):
                for number in range(vector_number(target), vector_number(target) + target.dwords):
                    shadow.registers.write_vector(number, (before, before), shadow.lanes())


def _settle(shadow: Shadow, instruction: Instruction) -> None:
    """Take what a compare-and-swap expects for defined from here on.

    LLVM writes atomics that a processor lacks as loops around one. What is undefined has been
    reported there, and the loop's branch, which compares the old value with it, says nothing new.
    """
    data = instruction.operand("vdata")
    assert isinstance(data, Register)
    for number in range(vector_number(data) + data.dwords // 2, vector_number(data) + data.dwords):
        shadow.registers.write_vector(number, (ZERO, ZERO), shadow.lanes())
