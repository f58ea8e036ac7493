"""The vector ALU of a SIMD as host code: the queue between issue and execution, and the units."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.cycles.engine.layout import NEVER, PLACE_MASK, PLACES, Parameter, Row, Unit
from amdjit.cycles.engine.order import greater
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

__all__ = ["VectorUnit"]

# Older instructions have moved so far that they delay nobody.
_REMEMBERED = PLACES - 16
# A WMMA that is issued while the unit is idle takes longer to its first pass: the unit is idle if
# nothing executes this many cycles after the issue.
_IDLE = 5


@dataclass(frozen=True, slots=True)
class VectorUnit:
    """The unit of one SIMD while an instruction is issued. places: of its queue."""

    f: NativeFunction
    unit: Record
    parameters: Record

    def _at(self, column: Unit, number: Value) -> Value:
        """Return where a ring keeps what belongs to an instruction."""
        place = self.f.add(self.f.and_(number, i64(PLACE_MASK)), i64(column))
        return self.f.offset(self.unit.address, self.f.mul(place, i64(FIELD_BYTES)))

    def _kept(self, column: Unit, number: Value) -> Value:
        return self.f.load("i64", self._at(column, number), FIELD_BYTES)

    def _moved(self, number: Value, places: Value) -> Value:
        """Return when an instruction has moved `places` places in the queue."""
        f = self.f
        depth = self.parameters.get(Parameter.VALU_QUEUE)
        before = self._kept(Unit.LEAVES, f.add(f.sub(number, depth), places))
        return greater(f, f.add(self._kept(Unit.ISSUED, number), places), before)

    def moved_once(self) -> Value:
        """Return when the last instruction has moved one place in the queue."""
        return self._moved(self.f.sub(self.unit.get(Unit.COUNT), i64(1)), i64(1))

    def accepts(self, row: Record, wave: Value) -> Value:
        """Return the first cycle at which the queue takes a wave's instruction."""
        f, unit = self.f, self.unit
        number = unit.get(Unit.COUNT)
        last = f.sub(number, i64(1))
        depth = self.parameters.get(Parameter.VALU_QUEUE)
        issued = self._kept(Unit.ISSUED, last)
        left = self._kept(Unit.LEAVES, f.sub(number, depth))
        earliest = f.variable(greater(f, f.add(issued, i64(1)), left))
        pace = unit.get(Unit.PACE)
        with f.if_(f.compare("sgt", pace, i64(1))):
            steps = f.select(f.compare("slt", pace, depth), pace, depth)
            moved = self._moved(last, f.sub(steps, i64(1)))
            # Another wave goes first.
            own = f.resize(f.compare("eq", unit.get(Unit.LAST_WAVE), wave), 64)
            entered = greater(f, f.add(moved, own), f.add(issued, pace))
            earliest.set(greater(f, earliest.get(), entered))
        with f.if_(f.compare("ne", row.get(Row.AT_ISSUE), i64(0))):
            free = greater(f, unit.get(Unit.FREE), self._unit_free(row))
            earliest.set(greater(f, earliest.get(), free))
        slow = unit.get(Unit.LAST_TRANSCENDENTAL)
        recent = f.compare("sgt", slow, f.sub(number, i64(_REMEMBERED)))
        with f.if_(f.and_(recent, f.compare("ne", row.get(Row.IS_ORDINARY), i64(1)))):
            moved = f.add(
                self._moved(slow, self.parameters.get(Parameter.TRANSCENDENTAL_MOVES)), i64(1)
            )
            earliest.set(greater(f, earliest.get(), moved))
        return earliest.get()

    def execute(self, row: Record, cycle: Value, sources: Value, wave: Value) -> Value:
        """Take a wave's instruction that is issued at `cycle`; its sources are ready at `sources`.

        Return the cycle at which its last pass begins.
        """
        f, unit = self.f, self.unit
        number = unit.get(Unit.COUNT)
        is_matrix = f.compare("eq", row.get(Row.IS_MATRIX), i64(1))
        start = greater(f, f.add(cycle, self._latency(row, cycle, is_matrix)), sources)
        start = greater(f, greater(f, start, unit.get(Unit.FREE)), self._unit_free(row))
        at = f.add(start, row.get(Row.LAST_PASS))
        self._occupy(row, number, start, at)
        early = f.sub(at, row.get(Row.LEAD))
        leaves = greater(f, early, self._kept(Unit.LEAVES, f.sub(number, i64(1))))
        for column, value in ((Unit.ISSUED, cycle), (Unit.LEAVES, leaves)):
            f.store(value, self._at(column, number), FIELD_BYTES)
        unit.set(Unit.COUNT, f.add(number, i64(1)))
        unit.set(Unit.LAST, at)
        unit.set(Unit.LAST_WAVE, wave)
        return at

    def _latency(self, row: Record, cycle: Value, is_matrix: Value) -> Value:
        f = self.f
        is_idle = f.compare("slt", self.unit.get(Unit.LAST), f.add(cycle, i64(_IDLE)))
        matrix = self.parameters.get(Parameter.MATRIX_LATENCY)
        return f.select(f.and_(is_matrix, is_idle), matrix, row.get(Row.LATENCY))

    def _unit_free(self, row: Record) -> Value:
        """Return when the unit for this class of instructions is free."""
        f, unit = self.f, self.unit
        slow = f.select(
            f.compare("eq", row.get(Row.IS_MATRIX), i64(1)),
            unit.get(Unit.MATRIX_FREE),
            unit.get(Unit.TRANSCENDENTAL_FREE),
        )
        return f.select(f.compare("eq", row.get(Row.IS_ORDINARY), i64(1)), i64(NEVER), slow)

    def _occupy(self, row: Record, number: Value, start: Value, at: Value) -> None:
        f, unit = self.f, self.unit
        unit.set(Unit.PACE, row.get(Row.PACE))
        unit.set(Unit.FREE, f.add(at, row.get(Row.FREE_AFTER)))
        matrix_free = f.add(at, row.get(Row.MATRIX_AFTER))
        unit.set(Unit.MATRIX_FREE, greater(f, unit.get(Unit.MATRIX_FREE), matrix_free))
        is_slow = f.compare("eq", row.get(Row.IS_TRANSCENDENTAL), i64(1))
        busy = f.add(start, row.get(Row.PASSES))
        for column, value in ((Unit.LAST_TRANSCENDENTAL, number), (Unit.TRANSCENDENTAL_FREE, busy)):
            unit.set(column, f.select(is_slow, value, unit.get(column)))
