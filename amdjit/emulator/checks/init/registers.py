"""A wave's shadow registers while a kernel is translated: which lanes, or bits, of each register
are undefined.

They are in memory and cached inside a machine block, as the registers themselves are. Registers
that cannot be undefined, by `may_be_undefined`, have the constant 0 as their shadow, for which no
code is made. In wave64 a vector register has masks for each half of the wave: those of the selected
half are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from amdjit.emulator.checks.init.layout import SCALARS_AT, UPPER_AT, VECTOR_BYTES, VECTORS
from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.wave.registers import Registers
from amdjit.isa.register_numbers import numbers_in

ZERO = constant("i32", 0)
ONES = constant("i32", -1)
REGISTERS = Value("ptr", "%undefined.registers")

# Masks of a vector register's low and high halves; the same value if the two cannot differ.
Halves = tuple[Value, Value]
DEFINED: Halves = (ZERO, ZERO)


class MaskBuilder:
    """Bitwise operations on i32 masks, without code for what constants decide."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def either(self, *masks: Value) -> Value:
        """Bitwise or."""
        result = ZERO
        for mask in masks:
            if mask == ONES or result == ONES:
                return ONES
            if mask not in (ZERO, result):
                result = mask if result == ZERO else self.builder.or_(result, mask)
        return result

    def both(self, left: Value, right: Value) -> Value:
        """Bitwise and."""
        if ZERO in (left, right):
            return ZERO
        if left in (ONES, right):
            return right
        return left if right == ONES else self.builder.and_(left, right)

    def without(self, left: Value, right: Value) -> Value:
        """The bits of `left` that are not in `right`."""
        if left == ZERO or right == ONES:
            return ZERO
        return left if right == ZERO else self.builder.and_(left, self.builder.not_(right))

    def spread(self, mask: Value) -> Value:
        """All bits if any is set: a scalar that is undefined anywhere."""
        if mask in (ZERO, ONES):
            return mask
        b = self.builder
        return b.select(b.compare("ne", mask, ZERO), ONES, ZERO)


class ShadowRegisters:
    """Reads and writes of shadow registers in the current block."""

    def __init__(self, masks: MaskBuilder, wave: Registers) -> None:
        self._masks = masks
        self._wave = wave
        self._tainted = 0
        # By half of the wave and number.
        self._vectors: dict[tuple[int, int], Halves] = {}
        self._scalars: dict[int, Value] = {}
        self._dirty: set[int] = set()
        self._deferred: dict[int, Value] | None = None

    def begin_block(self, tainted: int) -> None:
        """Forget what is cached. Only the registers of the set may be undefined."""
        self._tainted = tainted
        self._vectors.clear()
        self._scalars.clear()
        self._dirty.clear()

    def _place(self, distance: int) -> Value:
        return self._masks.builder.offset(REGISTERS, distance)

    def vector(self, index: int) -> Halves:
        """Return the lanes in which a vector register's halves are undefined."""
        key = self._wave.wave_half, index
        if key not in self._vectors:
            self._vectors[key] = self._load(index) if self._tainted >> index & 1 else DEFINED
        return self._vectors[key]

    def _load(self, index: int) -> Halves:
        b = self._masks.builder
        place = index * VECTOR_BYTES + self._wave.wave_half * UPPER_AT
        return b.load("i32", self._place(place), 4), b.load("i32", self._place(place + 4), 4)

    def whole(self, index: int) -> Value:
        """Return the lanes in which any half is undefined."""
        return self._masks.either(*self.vector(index))

    def write_vector(self, index: int, new: Halves, lanes: Value) -> None:
        """Write in some lanes."""
        masks = self._masks
        old = DEFINED if lanes == ONES else self.vector(index)
        if old == DEFINED and new == DEFINED:
            self._set_vector(index, DEFINED)
            return
        low = masks.either(masks.both(new[0], lanes), masks.without(old[0], lanes))
        same = new[0] == new[1] and old[0] == old[1]
        high = (
            low if same else masks.either(masks.both(new[1], lanes), masks.without(old[1], lanes))
        )
        self._set_vector(index, (low, high))

    def _set_vector(self, index: int, halves: Halves) -> None:
        self._vectors[self._wave.wave_half, index] = halves
        self._dirty.add(index)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Read registers in code that does not always run: do not keep what is loaded there."""
        vectors, scalars = dict(self._vectors), dict(self._scalars)
        yield
        self._vectors, self._scalars = vectors, scalars

    def scalar(self, slot: int) -> Value:
        """Return the undefined bits of a scalar register: of SCC, all or none."""
        if slot not in self._scalars:
            known = ZERO
            if self._tainted >> (VECTORS + slot) & 1:
                known = self._masks.builder.load("i32", self._place(SCALARS_AT + 4 * slot), 4)
            self._scalars[slot] = known
        return self._scalars[slot]

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """Delay writes of scalar registers until both halves of a wave64 have read them."""
        self._deferred = {}
        yield
        written, self._deferred = self._deferred, None
        for slot, bits in written.items():
            self.write_scalar(slot, bits)

    def write_scalar(self, slot: int, bits: Value) -> None:
        """Write a scalar register."""
        if self._deferred is not None:
            self._deferred[slot] = bits
            return
        self._scalars[slot] = bits
        self._dirty.add(VECTORS + slot)

    def flush(self, kept: int, tainted_before: int) -> None:
        """Store what later blocks must know, in which the registers of `kept` may be undefined.

        tainted_before: what could be undefined when the block began. All others were defined, which
        memory need not say.
        """
        b = self._masks.builder
        for number in numbers_in(kept):
            if number not in self._dirty and tainted_before >> number & 1:
                continue
            if number >= VECTORS:
                slot = number - VECTORS
                b.store(self._scalars.get(slot, ZERO), self._place(SCALARS_AT + 4 * slot), 4)
                continue
            for half in range(self._wave.halves):
                self._flush_vector(number, half)
        self._dirty.clear()

    def _flush_vector(self, number: int, half: int) -> None:
        known = self._vectors.get((half, number))
        if known is None and self._tainted >> number & 1:
            return
        for part, mask in enumerate(known or DEFINED):
            place = number * VECTOR_BYTES + half * UPPER_AT + 4 * part
            self._masks.builder.store(mask, self._place(place), 4)
