"""Random programs of values that change what other values read, run by Python and compiled, lane by
lane.

Each lane has a row of four small integers. Calls change elements and return them, `:=` rebinds
names, loops go over tuples of what their bodies assign: what comes out tells in which order, and
how often, everything was evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from tests.fuzz.acting_helpers import NAMES
from tests.fuzz.fuzzed_device import emulator
from tests.fuzz.running import define

LANES = 8
ITEMS = 4
ROWS = np.random.default_rng(7).integers(0, 12, (LANES, ITEMS)).astype(np.int32)


class Program:
    """The text of one program. `names`: the integers that may be read and assigned where the text
    goes on."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.depth = 1
        self.names = ["v", "w"]
        self.read_only: list[str] = []
        self.may_assign = True
        self.number = 0

    def text(self) -> str:
        """Write the program."""
        self._line("v, w, k = row[0], row[1], 1")
        self._line("t = (row[2], row[3])")
        self._line("p = Pair(row[1], row[2])")
        self._line("f = lambda x: x + v")
        self._line("view = row[1:]")
        for _ in range(self.random.randint(3, 6)):
            self._statement(2)
        self._line(
            "row[0] = (row[0] + v * 3 + w * 5 + t[0] * 7 + t[1] * 11 + p.x * 13 + p.y * 17 + f(w) "
            "+ view[0]) % 997"
        )
        return "def program(row):\n" + "\n".join(self.lines) + "\n"

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _fresh(self) -> str:
        self.number += 1
        return f"x{self.number}"

    @contextmanager
    def _within(self, names: Sequence[str] = (), may_assign: bool = True) -> Iterator[None]:
        before = self.read_only, self.may_assign
        self.read_only, self.may_assign = [*self.read_only, *names], self.may_assign and may_assign
        yield
        self.read_only, self.may_assign = before

    def _pick(self, makers: Sequence[Callable[[int], Any]], depth: int) -> Any:
        return self.random.choice(makers)(depth)

    # Values.

    def _value(self, depth: int) -> str:
        plain = (self._constant, self._name, self._name, self._element, self._item)
        if depth <= 0:
            return self._pick(plain, 0)
        acting = (
            self._call, self._call, self._call, self._walrus, self._walrus, self._sum, self._sum,
            self._weighed,
            self._choice, self._logic, self._display, self._record, self._comprehension,
            self._lambda, self._method,
            self._extreme, self._test,
        )  # fmt: skip
        return self._pick((*plain, *acting), depth - 1)

    def _constant(self, depth: int) -> str:
        return str(self.random.randint(0, 9))

    def _name(self, depth: int) -> str:
        return self.random.choice([*self.names, *self.read_only, *self.read_only])

    def _index(self, depth: int) -> str:
        return self.random.choice(["0", "1", "2", "3", "k % 4", f"({self._value(depth)}) % 4"])

    def _element(self, depth: int) -> str:
        return self.random.choice(
            [f"row[{self._index(depth - 1)}]", "view[k % 2]", f"row[{self._index(0)}]"]
        )

    def _item(self, depth: int) -> str:
        return self.random.choice(["t[0]", "t[1]", "p.x", "p.y"])

    def _call(self, depth: int) -> str:
        if self.random.random() < 0.2:
            return f"scale(by={self._value(depth)} % 5, row=row, k={self._value(depth)})"
        return f"{self.random.choice(['bump', 'scale'])}(row, {self._value(depth - 1)})"

    def _walrus(self, depth: int) -> str:
        if not self.may_assign:
            return self._call(depth)
        return f"({self.random.choice(self.names)} := ({self._value(depth)}) % 97)"

    def _sum(self, depth: int) -> str:
        left, right = self._value(depth), self._value(depth)
        return f"({left} {self.random.choice(['+', '-', '+ 2 *'])} {right})"

    def _weighed(self, depth: int) -> str:
        x, y, z = (self._value(depth) for _ in range(3))
        return self.random.choice(
            [
                f"weigh({x}, {y})",
                f"weigh(y={x}, x={y})",
                f"weigh({x}, z={y}, y={z})",
                f"partial(weigh, {x}, z={y})({z})",
            ]
        )

    def _choice(self, depth: int) -> str:
        return f"({self._value(depth)} if {self._condition(depth)} else {self._value(depth)})"

    def _logic(self, depth: int) -> str:
        return f"({self._value(depth)} {self.random.choice(['and', 'or'])} {self._value(depth)})"

    def _display(self, depth: int) -> str:
        x, y = self._value(depth), self._value(depth)
        return self.random.choice(
            [
                f"({x}, {y})[{self.random.randint(0, 1)}]",
                f"((*t, {x}) + ({y},))[{self.random.randint(0, 3)}]",
            ]
        )

    def _record(self, depth: int) -> str:
        x, y = self._value(depth), self._value(depth)
        made = self.random.choice(
            [
                f"Pair({x}, {y})",
                f"Pair(y={x}, x={y})",
                f"replace(p, y={x}, x={y})",
                f"(p + {x})",
                f"({x} + Pair({y}, v))",
            ]
        )
        return f"{made}.{self.random.choice('xy')}"

    def _method(self, depth: int) -> str:
        return f"Pair({self._value(depth)}, {self._value(depth)}).sum({self._value(depth)})"

    def _extreme(self, depth: int) -> str:
        values = f"{self._value(depth)}, {self._value(depth)}"
        return self.random.choice(
            [
                f"min({values})",
                f"max({values})",
                f"sum(({values}))",
                f"sum((v, w), {self._value(depth)})",
            ]
        )

    def _comprehension(self, depth: int) -> str:
        name = self._fresh()
        with self._within(may_assign=False):
            items = f"({self._value(depth)}, {self._value(depth)})"
        with self._within([name]):
            value = self._value(depth)
        at = self.random.randint(0, 1)
        return self.random.choice(
            [f"[{value} for {name} in {items}][{at}]", f"sum({value} for {name} in {items})",
             f"tuple({value} for {name} in {items})[{at}]"]
        )  # fmt: skip

    def _test(self, depth: int) -> str:
        name = self._fresh()
        with self._within(may_assign=False):
            items = f"({self._value(depth)}, {self._value(depth)})"
        with self._within([name], may_assign=False):
            return (
                f"int({self.random.choice(['any', 'all'])}({self._condition(depth)} for {name} "
                f"in {items}))"
            )

    def _lambda(self, depth: int) -> str:
        name = self._fresh()
        if self.random.random() < 0.4:
            return f"f({self._value(depth)})"
        with self._within([name], may_assign=False):
            value = self._value(depth)
        return f"(lambda {name}: {value})({self._value(depth)})"

    def _condition(self, depth: int) -> str:
        a, b, c = (self._value(depth - 1) for _ in range(3))
        return self.random.choice(
            [f"{a} < {b}", f"{a} < {b} <= {c}", f"not {a} > {b}", f"{a} % 2 == 0 and {b} > 3"]
        )

    # Statements.

    def _statement(self, depth: int) -> None:
        simple: tuple[Callable[[int], None], ...] = (
            self._assign, self._assign, self._store, self._store, self._augment, self._unpack,
            self._swap, self._pack,
            self._make_view, self._make_record,
        )  # fmt: skip
        inner = (
            self._loop,
            self._loop,
            self._loop,
            self._generator_loop,
            self._range_loop,
            self._if,
            self._match,
        )
        # A function has one value wherever ways meet: it changes on the outermost level only.
        simple += (self._make_function,) if self.depth == 1 else ()
        self._pick((*simple, *inner, *inner) if depth > 0 else simple, depth)

    def _assign(self, depth: int) -> None:
        self._line(f"{self.random.choice(self.names)} = ({self._value(2)}) % 97")

    def _store(self, depth: int) -> None:
        self._line(f"row[{self._index(1)}] = ({self._value(2)}) % 97")

    def _augment(self, depth: int) -> None:
        target = self.random.choice([f"row[{self._index(1)}]", self.random.choice(self.names)])
        self._line(f"{target} {self.random.choice(['+=', '-='])} ({self._value(2)}) % 97")
        self._line(
            "row[0], row[1], row[2], row[3] = row[0] % 97, row[1] % 97, row[2] % 97, row[3] % 97"
        )
        self._line("v, w = v % 97, w % 97")

    def _unpack(self, depth: int) -> None:
        values = [f"({self._value(1)}) % 97" for _ in range(3)]
        targets = ["v", f"row[{self._index(1)}]", "w"]
        self.random.shuffle(targets)
        self._line(f"{', '.join(targets)} = {', '.join(values)}")

    def _swap(self, depth: int) -> None:
        i, j = self._index(0), self._index(0)
        self._line(f"row[{i}], row[{j}] = row[{j}], row[{i}]")
        self._line("v, w = w, v")

    def _pack(self, depth: int) -> None:
        self._line(f"t = (({self._value(2)}) % 97, ({self._value(2)}) % 97)")

    def _make_function(self, depth: int) -> None:
        with self._within(["x"], may_assign=False):
            value = self._value(1).replace("f(", "(")
        default = f", y={self._value(1)}" if self.random.random() < 0.5 else ", y=1"
        self._line(f"f = lambda x{default}: ({value}) % 97 + y")

    def _make_view(self, depth: int) -> None:
        self._line(f"k = {self.random.randint(0, 2)}")
        self._line("view = row[k : k + 2]")
        self._line("k = k + 1")

    def _make_record(self, depth: int) -> None:
        self._line(f"p = Pair(({self._value(2)}) % 97, ({self._value(2)}) % 97)")

    def _body(self, depth: int, in_loop: bool = False) -> None:
        self.depth += 1
        if in_loop and self.random.random() < 0.3:
            self._line(f"if {self._condition(1)}:")
            self._line(f"    {self.random.choice(['break', 'continue'])}")
        for _ in range(self.random.randint(1, 2)):
            self._statement(depth - 1)
        self.depth -= 1

    def _tuple(self) -> str:
        return "(" + ", ".join(self._value(1) for _ in range(self.random.randint(2, 3))) + ")"

    def _loop(self, depth: int) -> None:
        x, y = self._fresh(), self._fresh()
        header, names = self.random.choice(
            [
                (f"{x} in {self._tuple()}", [x]),
                (f"{x} in reversed({self._tuple()})", [x]),
                (f"{x}, {y} in zip({self._tuple()}, {self._tuple()})", [x, y]),
                (f"{x}, {y} in enumerate({self._tuple()}, {self._constant(0)})", [x, y]),
                (f"{x}, {y} in (({self._value(1)}, v), (w, {self._value(1)}))", [x, y]),
                (f"{x} in (*t, {self._value(1)}, v)", [x]),
                (f"v, {x} in ((w, v), (v, {self._value(1)}))", [x]),
                (f"{x} in t", [x]),
            ]
        )
        self._line(f"for {header}:")
        with self._within(names):
            self._body(depth, in_loop=True)
        self._line("v = v % 97")

    def _generator_loop(self, depth: int) -> None:
        x, y = self._fresh(), self._fresh()
        with self._within(may_assign=False):
            items = self._tuple()
        with self._within([y]):
            value = self._value(1)
        opening, closing = self.random.choice(["()", "[]"])
        self._line(f"for {x} in {opening}{value} for {y} in {items}{closing}:")
        with self._within([x]):
            self._body(depth, in_loop=True)

    def _range_loop(self, depth: int) -> None:
        x = self._fresh()
        bounds = self.random.choice(
            [f"({self._value(1)}) % 4", f"v % 5, {self._value(1)} % 7, w % 3 + 1"]
        )
        self._line(f"for {x} in range({bounds}):")
        with self._within([x]):
            self._body(depth, in_loop=True)

    def _if(self, depth: int) -> None:
        self._line(f"if {self._condition(2)}:")
        self._body(depth)
        if self.random.random() < 0.5:
            self._line("else:")
            self._body(depth)

    def _match(self, depth: int) -> None:
        self._line(f"match ({self._value(2)}) % 3, w % 2:")
        self.depth += 1
        for pattern in ("(0, _)", f"(1, 1) if {self._condition(1)}", "_"):
            self._line(f"case {pattern}:")
            self._body(depth)
        self.depth -= 1


def program(random: Random) -> str:
    """Return the source of a random program, `program(row)`."""
    return Program(random).text()


def as_python(source: str) -> NDArray[np.int32]:
    """Return what a program makes of each lane's row."""
    run, rows = define(source, NAMES)["program"], ROWS.copy()
    for row in rows:
        run(row)
    return rows


def as_kernel(sources: Sequence[str], level: int = 1) -> NDArray[np.int32]:
    """Return what programs make of each lane's row on the emulator."""
    found = {f"program_{k}": define(source, NAMES)["program"] for k, source in enumerate(sources)}
    calls = "\n".join(f"        program_{k}(rows[{k}, i])" for k in range(len(sources)))
    text = f"def run(rows):\n    i = grid(1)\n    if i < {LANES}:\n{calls}\n"
    rows = np.repeat(ROWS[None], len(sources), 0)
    with emulator():
        amdjit.kernel(opt_level=level, warnings=False)(
            define(text, {"grid": amdjit.grid, **found})["run"]
        )[1, 32](rows)
    return rows


def difference(sources: Sequence[str], level: int = 1) -> tuple[int, str] | None:
    """Return the first program that does something else than in Python, and what."""
    for number, (source, found) in enumerate(zip(sources, as_kernel(sources, level), strict=True)):
        expected = as_python(source)
        places = np.argwhere(found != expected)
        if places.size:
            lane, item = map(int, places[0])
            return (
                number,
                f"lane {lane}, row[{item}]: {found[lane, item]}, Python says "
                f"{expected[lane, item]}\n{source}",
            )
    return None
