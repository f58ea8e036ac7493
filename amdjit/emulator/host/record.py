"""The records of `layout.py` as host code sees them."""

from __future__ import annotations

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.layout import DWORD_BYTES, FIELD_BYTES, Field
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """A record at an address: each field is loaded and stored with the type that its declaration
    has."""

    builder: Builder
    address: Value

    def at(self, field: Field) -> Value:
        """Return the address of a field."""
        return self.builder.offset(self.address, field * FIELD_BYTES)

    def get(self, field: Field) -> Value:
        """Load a field."""
        return self.builder.load(field.type, self.at(field), FIELD_BYTES)

    def set(self, field: Field, value: Value) -> None:
        """Store a field."""
        assert value.type == field.type, f"{field.name} is {field.type}, not {value.type}"
        self.builder.store(value, self.at(field), FIELD_BYTES)

    def follow(self, field: Field) -> Record:
        """Return the record that a field points to."""
        return Record(self.builder, self.get(field))

    def row(self, index: Value, fields: int) -> Record:
        """Return a row of the table that starts here; each has that many fields."""
        b = self.builder
        distance = b.mul(b.resize(index, 64), constant("i64", fields * FIELD_BYTES))
        return Record(b, b.offset(self.address, distance))


@dataclass(frozen=True, slots=True)
class WaveState:
    """The scalar dwords of a wave's state at an address, by the numbers of `layout.py`."""

    builder: Builder
    address: Value

    def at(self, slot: int) -> Value:
        """Return the address of a dword."""
        return self.builder.offset(self.address, slot * DWORD_BYTES)

    def get(self, slot: int) -> Value:
        """Load a dword."""
        return self.builder.load("i32", self.at(slot), DWORD_BYTES)

    def set(self, slot: int, value: Value) -> None:
        """Store a dword."""
        self.builder.store(value, self.at(slot), DWORD_BYTES)
