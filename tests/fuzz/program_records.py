"""Random structured types of NumPy, and random functions that read and assign their fields."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS = ("f2", "f4", "f8")
COMPLEX = ("c8", "c16")
ELEMENTS = 4


def record_type(random: Random, depth: int = 1) -> np.dtype[Any]:
    """Return a structured type: packed, aligned, or with offsets of its own."""
    align = random.random() < 0.5
    fields = []
    for name in "abcdefgh"[: random.randint(2, 6 if depth else 3)]:
        choice = random.random()
        if choice < 0.55 or not depth:
            kind: Any = random.choice((*INTEGERS, *FLOATS, "?"))
        elif choice < 0.7:
            kind = random.choice((*COMPLEX, "S5", "U2", "M8[s]"))
        else:
            kind = record_type(random, depth - 1)
        shapes: tuple[tuple[int, ...], ...] = ((), (), (2, 3), (3,), (20,) if depth else (2,))
        fields.append((name, kind, random.choice(shapes) if choice < 0.9 else ()))
    made = np.dtype(fields, align=align)
    if random.random() < 0.2:
        return _spread(made, random)
    return made


def _spread(made: np.dtype[Any], random: Random) -> np.dtype[Any]:
    """Return the type with its fields in another order in memory, and gaps between them."""
    names = list(made.names or ())
    offsets, at = {}, 0
    for name in random.sample(names, len(names)):
        at += random.randint(0, 3)
        offsets[name] = at
        at += made[name].itemsize
    return np.dtype(
        {
            "names": names,
            "formats": [made[name] for name in names],
            "offsets": [offsets[name] for name in names],
            "itemsize": at + random.randint(0, 4),
        }
    )


def filled(kind: np.dtype[Any], shape: tuple[int, ...], random: Random) -> Any:
    """Return an array of small numbers."""
    array = np.zeros(shape, kind)
    _fill(array, random)
    return array


def _fill(array: Any, random: Random) -> None:
    if array.dtype.names is not None:
        for name in array.dtype.names:
            _fill(array[name], random)
        return
    numbers = [random.randint(0, 40) for _ in range(array.size)]
    if array.dtype.kind in "SU":
        array[...] = np.array([str(n) for n in numbers]).astype(array.dtype).reshape(array.shape)
    else:
        array[...] = np.array(numbers).reshape(array.shape).astype(array.dtype)


def _has_arrays_of_records(kind: np.dtype[Any]) -> bool:
    """Whether NumPy would take a tuple for an array of records below as one record."""
    if kind.shape and kind.base.names:
        return True
    return any(_has_arrays_of_records(kind[name]) for name in kind.names or ())


@dataclass
class RecordWriter:
    """Writes a function of two arrays of records, `x` and `y`, and one record, `r`."""

    random: Random
    kind: np.dtype[Any]
    lines: list[str] = field(default_factory=list)

    def write(self, statements: int) -> str:
        """Return the source of `program(x, y, r, n)`."""
        for _ in range(statements):
            self.statement("    ")
        body = "\n".join(self.lines)
        return f"def program(x, y, r, n):\n    e = x[1]\n{body}\n"

    def statement(self, indent: str) -> None:
        """Write one statement."""
        makers = [self.number, self.number, self.update, self.whole, self.part, self.column]
        if indent == "    ":
            makers.append(self.loop)
        self.random.choice(makers)(indent)

    def index(self) -> str:
        """Return an index of an element, some known at run time only."""
        return self.random.choice(("0", "1", "2", "n", "n - 1", "n + 1"))

    def element(self) -> str:
        """Return one record."""
        return self.random.choice((f"x[{self.index()}]", f"y[{self.index()}]", "r", "e"))

    def leaf(self, start: str, kind: np.dtype[Any]) -> tuple[str, np.dtype[Any]] | None:
        """Return a number below a record, None if the fields that were chosen are none."""
        while kind.names is not None or kind.shape:
            if kind.shape:
                places = [str(self.random.randrange(extent)) for extent in kind.shape]
                separator = self.random.choice((", ", "]["))
                start, kind = f"{start}[{separator.join(places)}]", kind.base
                continue
            name = self.random.choice(kind.names)
            start, kind = f'{start}["{name}"]', kind[name]
        return None if kind.kind in "SUM" else (start, kind)

    def number(self, indent: str) -> None:
        """Assign a number: a constant, or the value of another field."""
        target = self.leaf(self.element(), self.kind)
        source = self.leaf(self.element(), self.kind)
        if target is None:
            return
        value = str(self.random.randint(0, 1 if target[1].kind == "b" else 40))
        if source is not None and self.random.random() < 0.7:
            value = source[0]
            ranks = "buifc"
            if ranks.index(source[1].kind) > max(2, ranks.index(target[1].kind)):
                return
            if target[1].kind == "b" and source[1].kind != "b":
                return
        self.lines.append(f"{indent}{target[0]} = {value}")

    def update(self, indent: str) -> None:
        """Add to a field."""
        target = self.leaf(self.element(), self.kind)
        if target is not None and target[1].kind != "b":
            self.lines.append(f"{indent}{target[0]} += {self.random.randint(0, 3)}")

    def whole(self, indent: str) -> None:
        """Assign a whole record, from another one or from a tuple."""
        target = f"x[{self.index()}]" if self.random.random() < 0.5 else f"y[{self.index()}]"
        is_copy = self.random.random() < 0.6 or _has_arrays_of_records(self.kind)
        value = self.element() if is_copy else self.literal(self.kind)
        if value is not None:
            self.lines.append(f"{indent}{target} = {value}")

    def literal(self, kind: np.dtype[Any]) -> str | None:
        """Return a tuple for a record, None if it has text."""
        if kind.shape:
            rest = np.dtype((kind.base, kind.shape[1:]))
            items = [self.literal(rest) for _ in range(kind.shape[0])]
        elif kind.names is not None:
            items = [self.literal(kind[name]) for name in kind.names]
        else:
            return None if kind.kind in "SUM" else str(self.random.randint(0, kind.kind != "b"))
        known = [item for item in items if item is not None]
        return f"({', '.join(known)},)" if len(known) == len(items) else None

    def part(self, indent: str) -> None:
        """Assign a field that is a record or an array."""
        parts = [n for n in self.kind.names or () if self.kind[n].shape or self.kind[n].names]
        if not parts:
            return
        name = self.random.choice(parts)
        kind = self.kind[name]
        target, source = (f'{self.element()}["{name}"]' for _ in range(2))
        value: str | None = source
        choice = self.random.random()
        if choice < 0.2 and not _has_arrays_of_records(kind):
            value = self.literal(kind)
        elif choice < 0.5 and kind.shape and kind.base.kind in "iufc" and not kind.base.names:
            value = str(self.random.randint(0, 40))
            operator = self.random.choice(("=", "+="))
            row = f"[{self.random.randrange(kind.shape[0])}]" if len(kind.shape) > 1 else ""
            self.lines.append(f"{indent}{target}{row} {operator} {value[:1]}")
            return
        if value is not None:
            self.lines.append(f"{indent}{target} = {value}")

    def column(self, indent: str) -> None:
        """Assign one field of several elements."""
        name = self.random.choice(self.kind.names or ())
        kind = self.kind[name]
        if kind.shape or kind.kind not in "iufb":
            return
        target = self.random.choice((f'x["{name}"][{self.index()}]', f'x[1:]["{name}"]'))
        self.lines.append(f"{indent}{target} = {self.random.randint(0, kind.kind != 'b')}")

    def loop(self, indent: str) -> None:
        """Write a loop over elements."""
        self.lines.append(f"{indent}for n in range(1, {math.prod((ELEMENTS,)) - 1}):")
        start = len(self.lines)
        self.statement(indent + "    ")
        if len(self.lines) == start:
            self.lines.append(f"{indent}    pass")
