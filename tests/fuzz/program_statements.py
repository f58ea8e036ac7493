"""Statements of random programs without loops and memories."""

from __future__ import annotations

import re

from amdjit.types import Scalar, Vector, bf16, boolean, f16, i32
from tests.fuzz.program_composites import Composites
from tests.fuzz.program_expressions import parts
from tests.fuzz.program_types import INTEGERS, NUMBERS, PARAMETERS, SLOTS

_LANE = re.compile(r"\bi\b")
_OWN = re.compile(r"\b(m\d|o_|taker)")
"""What belongs to a lane: another lane cannot read it."""


class Statements(Composites):
    """Writes simple statements and branches."""

    def statement(self, indent: int, depth: int) -> None:
        """Write any statement."""
        raise NotImplementedError

    def changeable(self) -> dict[str, Scalar]:
        """Return the numbers that can be assigned."""
        return {n: t for n, t in self.names.items() if n.startswith("x") and t in NUMBERS}  # type: ignore[misc]

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int, least: int = 1) -> None:
        """Write some statements; names that they introduce end with the block."""
        outer = dict(self.names)
        for _ in range(self.choices.number(least, 3)):
            self.statement(indent, depth)
        self.names = outer

    def assign_new(self, indent: int, depth: int) -> None:
        type = self.any_type()
        value = self.expression(type)
        name = self.fresh("x")
        self.line(indent, f"{name} = {value}")
        self.names[name] = type

    def assign_record(self, indent: int, depth: int) -> None:
        """Assign what a method or an operator of a record gives."""
        type = self.pick(*self.records)
        value = self.method(type, 2)
        name = self.fresh("x")
        self.line(indent, f"{name} = {value}")
        self.names[name] = type

    def assign_old(self, indent: int, depth: int) -> None:
        changeable = [name for name in self.names if name.startswith("x")]
        if not changeable:
            return self.assign_new(indent, depth)
        name = self.pick(*changeable)
        return self.line(indent, f"{name} = {self.expression(self.names[name])}")

    def update(self, indent: int, depth: int) -> None:
        changeable = self.changeable()
        if not changeable:
            return self.assign_new(indent, depth)
        name, type = self.pick(*changeable.items())
        value = self.expression(self.partner(type))
        return self.line(indent, f"{name} {self.pick('+', '-', '*')}= {value}")

    def swap(self, indent: int, depth: int) -> None:
        for name, type in self.names.items():
            others = [
                o
                for o, t in self.names.items()
                if t == type and o != name and o[0] == name[0] == "x"
            ]
            if others:
                other = self.pick(*others)
                return self.line(indent, f"{name}, {other} = {self.expression(type, 2)}, {name}")
        return self.assign_new(indent, depth)

    def store(self, indent: int, depth: int) -> None:
        type = self.pick(*PARAMETERS, f16, f16, bf16)
        value = self.expression(type)
        if type.is_float and self.chance(40):
            value = self.expression(self.pick(*NUMBERS, boolean))
        elif self.chance(20):
            value = self.expression(self.pick(*INTEGERS, boolean))
        self.line(indent, f"o_{type}[{self.place()}] = {value}")
        if self.chance(40) and not _OWN.search(value):
            # LLVM computes what all lanes share elsewhere, with other instructions.
            self.line(indent, f"o_{type}[{self.place()}] = {_LANE.sub('u', value)}")

    def show(self, indent: int) -> None:
        """Write parts of the names to the results."""
        known = [
            (text, part) for name, type in self.names.items() for text, part in parts(name, type)
        ]
        known = [
            (text, part)
            for text, part in known
            if isinstance(part, Scalar) and text not in ("i", "u")
        ]
        for k in range(min(len(known), SLOTS + 1)):
            text, part = known[k * 7 % len(known)]
            target = part if part in PARAMETERS else i32
            self.line(indent, f"o_{target}[i * {SLOTS} + {k % SLOTS}] = {text}")

    def update_element(self, indent: int, depth: int) -> None:
        type = self.pick(*PARAMETERS)
        self.line(
            indent,
            f"o_{type}[{self.place()}] {self.pick('+', '-', '*')}= "
            f"{self.expression(self.partner(type))}",
        )

    def set_item(self, indent: int, depth: int) -> None:
        """Write an element of a vector in a name."""
        vectors = [
            name
            for name, type in self.names.items()
            if isinstance(type, Vector) and name.startswith("x")
        ]
        if not vectors:
            return self.assign_new(indent, depth)
        name = self.pick(*vectors)
        type = self.names[name]
        assert isinstance(type, Vector)
        last = 1 << (type.length.bit_length() - 1)
        index = self.pick("1", "0", "-1", f"({self.expression(i32, 1)}) & {last - 1}")
        return self.line(indent, f"{name}[{index}] = {self.expression(type.element, 2)}")

    def joined(self, indent: int, depth: int) -> None:
        """Assign values of several types on the paths through a branch, in any order."""
        type = self.pick(*NUMBERS)
        kinds = [type, self.partner(type), self.partner(type)]
        turned, name = self.choices.number(0, 2), self.fresh("w")
        values = [self.expression(kind, 2) for kind in (*kinds[turned:], *kinds[:turned])]
        heads = f"if {self.condition(1)}:", f"elif {self.condition(1)}:", "else:"
        for head, value in zip(heads, values, strict=True):
            self.line(indent, head)
            self.line(indent + 1, f"{name} = {value}")
        result = self.fresh("x")
        self.line(indent, f"{result} = {type}({name})")
        self.names[result] = type

    def branch(self, indent: int, depth: int) -> None:
        self.line(indent, f"if {self.condition(2)}:")
        self.block(indent + 1, depth - 1)
        if self.chance(40):
            self.line(indent, f"elif {self.condition(2)}:")
            self.block(indent + 1, depth - 1)
        if self.chance(50):
            self.line(indent, "else:")
            self.block(indent + 1, depth - 1)
