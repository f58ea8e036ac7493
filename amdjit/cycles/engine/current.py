"""The wave, its instruction and its SIMD, as every part of the host code sees them."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.cycles.engine.layout import (
    PLACE_MASK,
    Parameter,
    Row,
    Shared,
    Simulation,
    Unit,
    Wave,
)
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import DWORD_BYTES, FIELD_BYTES, Field

__all__ = ["DELAY_OVER", "Current"]

# The place of a delay that is over.
DELAY_OVER = -1


@dataclass(frozen=True, slots=True)
class Current:
    """A wave at its next instruction."""

    f: NativeFunction
    simulation: Record
    """The `layout.Simulation`."""
    wave: Record
    """The `layout.Wave`."""
    parameters: Record
    """The `layout.Parameter` record."""
    row: Record
    """The `layout.Row` of the instruction."""
    unit: Record
    """The `layout.Unit` of the wave's SIMD."""

    @classmethod
    def of(cls, f: NativeFunction) -> Current:
        """Find what a function's parameters `simulation` and `wave` name."""
        simulation, wave = Record(f, f.parameter("simulation")), Record(f, f.parameter("wave"))
        index = cls._dword(f, wave.get(Wave.PATH), wave.get(Wave.STEP))
        return cls(
            f,
            simulation,
            wave,
            simulation.follow(Simulation.PARAMETERS),
            simulation.follow(Simulation.ROWS).row(index, Row.FIELDS),
            simulation.follow(Simulation.UNITS).row(wave.get(Wave.SIMD), Unit.FIELDS),
        )

    @staticmethod
    def _dword(f: NativeFunction, array: Value, index: Value) -> Value:
        place = f.offset(array, f.mul(index, i64(DWORD_BYTES)))
        return f.resize(f.load("i32", place, DWORD_BYTES), 64, signed=True)

    def dword(self, array: Value, index: Value) -> Value:
        """Return an element of an array of i32, as i64."""
        return self._dword(self.f, array, index)

    def parameter(self, parameter: Parameter) -> Value:
        """Return a parameter."""
        return self.parameters.get(parameter)

    def after(self, event: Wave, parameter: Parameter) -> Value:
        """Return the cycle that comes so long after an event of the wave."""
        return self.f.add(self.wave.get(event), self.parameter(parameter))

    def kind(self, *kinds: int) -> Value:
        """Return whether the instruction is of one of these kinds."""
        f = self.f
        found = [f.compare("eq", self.row.get(Row.KIND), i64(kind)) for kind in kinds]
        result, *others = found
        for other in others:
            result = f.or_(result, other)
        return result

    def flag(self, column: Row) -> Value:
        """Return whether a column of the instruction's row is not 0."""
        return self.f.compare("ne", self.row.get(column), i64(0))

    def is_set(self, field: Wave) -> Value:
        """Return whether a field of the wave is not 0."""
        return self.f.compare("ne", self.wave.get(field), i64(0))

    def shared(self) -> Record:
        """Return what the wave's SIMD shares with another."""
        pair = self.f.shift("lshr", self.wave.get(Wave.SIMD), 1)
        return self.simulation.follow(Simulation.SHARED).row(pair, Shared.FIELDS)

    def register(self, place: Value) -> Value:
        """Return the number of a register in `Simulation.REGISTERS`."""
        return self.dword(self.simulation.get(Simulation.REGISTERS), place)

    def element(self, record: Record, column: Field, index: Value) -> Value:
        """Return the address of an element of an array that begins at a field."""
        place = self.f.add(index, i64(column))
        return self.f.offset(record.address, self.f.mul(place, i64(FIELD_BYTES)))

    def in_ring(self, record: Record, column: Field, number: Value) -> Value:
        """Return the address of what a ring keeps under a number."""
        return self.element(record, column, self.f.and_(number, i64(PLACE_MASK)))

    def load(self, address: Value) -> Value:
        """Load an i64."""
        return self.f.load("i64", address, FIELD_BYTES)

    def store(self, value: Value, address: Value) -> None:
        """Store an i64."""
        self.f.store(value, address, FIELD_BYTES)

    def count_delays(self) -> None:
        """Bring the delays one instruction nearer; those that were there are over."""
        f, wave = self.f, self.wave
        for place in (Wave.PLACE, Wave.NEXT_PLACE):
            now = wave.get(place)
            later = f.compare("sgt", now, i64(0))
            wave.set(place, f.select(later, f.sub(now, i64(1)), i64(DELAY_OVER)))
