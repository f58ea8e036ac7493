"""Random functions of arrays in the language that kernels and NumPy share: parts with run-time
bounds and steps, other axes, reductions, loops, new arrays, rows taken apart."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

NUMBERS = ("n0", "n1", "n2", "n3")
"""Arguments from -9 to 9."""

STEPS = ("s0", "s1")
"""Arguments from -4 to 4 that are not 0."""

RESULTS = 8
_SHAPES = ("(3, 8)", "(24,)", "(2, -1, 3)", "-1", "4, 6", "n4 * 2, -1")
_REDUCTIONS = ("sum()", "any()", "all()", "min()", "max()", "argmin()", "argmax()", "prod()")
_FUNCTIONS = ("np.sum({})", "np.max({})", "np.argmin({})", "np.count_nonzero({})", "np.ptp({})")


class ArrayWriter:
    """Writes a function. arrays: the names of arrays by their number of axes; a name's memory is
    that of its base. wraps: whether indices may be negative at run time."""

    def __init__(self, random: Random, wraps: bool) -> None:
        self.random, self.wraps = random, wraps
        self.lines: list[str] = []
        self.arrays = {1: ["b"], 2: ["a", "pairs"]}
        self.bases = {"a": "a", "b": "b", "pairs": "pairs"}
        self.counter = 0

    def write(self, statements: int) -> str:
        """Write `program(a, b, pairs, out, n0, ...)`."""
        makers: list[Callable[[], None]] = [
            self.part, self.part, self.part, self.other_axes, self.made, self.made, self.store,
            self.store_part, self.loop, self.loop, self.taken_apart, self.reduced, self.reduced,
        ]  # fmt: skip
        for _ in range(statements):
            self.random.choice(makers)()
        names = ", ".join((*NUMBERS, "n4", *STEPS))
        head = [f"def program(a, b, pairs, out, {names}):", "    x = np.int64(7)"]
        body = [f"    {line}" for line in self.lines]
        return "\n".join([*head, *body, f"    out[{RESULTS - 1}] = x"]) + "\n"

    def line(self, text: str, indent: int = 0) -> None:
        self.lines.append("    " * indent + text)

    def fresh(self, axes: int, base: str) -> str:
        self.counter += 1
        name = f"v{self.counter}"
        self.bases[name] = base
        self.arrays.setdefault(axes, []).append(name)
        return name

    def array(self, axes: int | None = None) -> str:
        """Return an array: one of the latest, more often than not."""
        axes = axes or self.random.choice([axes for axes, names in self.arrays.items() if names])
        names = self.arrays[axes]
        return self.random.choice(names[-3:] if self.random.random() < 0.7 else names)

    def axes_of(self, name: str) -> int:
        return next(axes for axes, names in self.arrays.items() if name in names)

    def number(self) -> str:
        """Write a small number."""
        choices = (*NUMBERS, "(x & 7)", "-2", "3", f"({self.random.choice(NUMBERS)} + 1)", "0")
        return self.random.choice(choices)

    def bounds(self) -> str:
        """Write a slice; its parts are known when compiling, at run time, or left out."""
        low, high = ("" if self.random.random() < 0.3 else self.number() for _ in range(2))
        step = self.random.choice(("", "", f":{self.random.choice(STEPS)}", ":2", ":-1", ":-3"))
        return f"{low}:{high}{step}"

    def index(self, name: str, axis: int) -> str:
        """Write an index inside an array that has elements."""
        inside = f"{self.number()} % {name}.shape[{axis}]"
        if self.wraps and self.random.random() < 0.5:
            return f"-1 - {inside}"
        return inside

    def element(self, name: str) -> str:
        return f"{name}[{', '.join(self.index(name, axis) for axis in range(self.axes_of(name)))}]"

    def part(self) -> None:
        name = self.array()
        axes = self.axes_of(name)
        base = self.bases[name]
        if axes > 1 and self.random.random() < 0.3:
            self.line(f"if {name}.shape[0] == 0:")
            self.line("return", 1)
            taken = self.index(name, 0)
            self.line(f"{self.fresh(axes - 1, base)} = {name}[{taken}]")
            return
        cut = ", ".join(self.bounds() for _ in range(self.random.randint(1, axes)))
        self.line(f"{self.fresh(axes, base)} = {name}[{cut}]")

    def other_axes(self) -> None:
        name = self.array(2)
        base = self.bases[name]
        if self.random.random() < 0.5:
            turned = self.random.choice(("T", "transpose()", "transpose(1, 0)"))
            self.line(f"{self.fresh(2, base)} = {name}.{turned}")
            return
        shape = self.random.choice(_SHAPES)
        axes = {"(3, 8)": 2, "(24,)": 1, "(2, -1, 3)": 3, "-1": 1}.get(shape, 2)
        self.line(f"{self.fresh(axes, 'a')} = a.reshape({shape})")

    def made(self) -> None:
        kind = self.random.randrange(6)
        items = [self.value() for _ in range(4)]
        text, axes = (
            (f"np.zeros({self.random.randint(1, 9)}, np.int64)", 1),
            (f"np.array([{', '.join(items)}], np.int64)", 1),
            (f"np.array([[{items[0]}, {items[1]}], [{items[2]}, 5]], dtype=np.int64)", 2),
            (f"np.full((2, 3), {items[0]}, np.int64)", 2),
            ("np.arange(6, dtype=np.int64)", 1),
            (f"np.ones((4, {self.random.randint(1, 30)}), np.int64)", 2),
        )[kind]
        name = self.fresh(axes, f"made{self.counter}")
        self.line(f"{name} = {text}")
        if self.random.random() < 0.3 and kind < 5:
            copy = self.fresh(axes, f"made{self.counter}")
            self.line(f"{copy} = {name}.copy()")

    def value(self) -> str:
        """Write an integer that stays small."""
        name = self.array()
        choices = [self.number(), "(x & 31)", f"len({name})", f"{name}.size", f"{name}.ndim"]
        if name in ("a", "b", "pairs"):
            choices += [f"({self.element(name)} & 63)"] * 4
            choices += [f"({self.element(name)} in {self.array()})"]
        return self.random.choice(choices)

    def store(self) -> None:
        name = self.array()
        self.line(f"if {name}.size > 0:")
        operator = self.random.choice(("", "+", "^"))
        self.line(f"{self.element(name)} {operator}= {self.value()}", 1)

    def store_part(self) -> None:
        """Fill a part with a number, or with an array of other memory."""
        name = self.array()
        axes = self.axes_of(name)
        cut = ", ".join(self.bounds() for _ in range(self.random.randint(1, axes)))
        others = [
            other
            for other in ("v", *self.arrays.get(axes, ()))
            if self.bases.get(other, self.bases[name]) != self.bases[name]
        ]
        operator = self.random.choice(("", "", "+"))
        if self.random.random() < 0.3:
            self.store_any_shape(name, operator)
            return
        if others and axes == 1 and self.random.random() < 0.6:
            other, bound = self.random.choice(others), f"k{self.counter}"
            self.line(f"{bound} = min(len({name}), len({other}))")
            self.line(f"{name}[:{bound}] {operator}= {other}[:{bound}]")
            return
        self.line(f"{name}[{cut}] {operator}= {self.value()}")

    def store_any_shape(self, name: str, operator: str) -> None:
        """Store an array into a part: shapes may be equal, be broadcast, or be refused. Those of
        arguments are known only at run time."""
        axes = self.axes_of(name)
        given = ["a", "b", "pairs"]
        others = [
            other
            for number in range(1, axes + 1)
            for other in self.arrays.get(number, ())
            if self.bases[other] != self.bases[name]
            and (self.bases[other] in given or self.bases[name] in given)
        ]
        if not others:
            return
        other = self.random.choice(others)
        ways = ((":{n}", ":{n}"), ("{n}:", ":1"), (":", ":"), ("::2", ":{n}"), ("1:", ":-1"))
        to, source = self.random.choice(ways)
        n = self.random.choice((*NUMBERS, "2", "3"))
        first = ":, " * (axes - 1) if self.random.random() < 0.5 else ""
        self.line(f"{name}[{first}{to}] {operator}= {other}[{source}]".format(n=n))

    def loop(self) -> None:
        name, other = self.array(1), self.array(1)
        rows = self.array(2)
        head, added = self.random.choice(
            (
                (f"for e in {name}:", "e"),
                (f"for k, e in enumerate({name}):", "e * k"),
                (f"for e, f in zip({name}, {other}):", "e - f"),
                (f"for e in reversed({name}):", "e"),
                ("for e, f in pairs:", "e * f"),
                (f"for k, (e, f) in enumerate(pairs[{self.bounds()}]):", "e * f + k"),
                (f"for row in {rows}:", f"row.sum() + len(row) * {self.number()}"),
                (f"for row in {rows}:", "row[-1 :].sum() * 3 + row[::-1].any()"),
                (f"for e in {rows}.flat:", "e"),
                (f"for k, e in enumerate({rows}.T.flat):", "e ^ k"),
                ("for e in a.reshape(2, 3, 4)[:, 1:, ::2].flat:", "e"),
            )
        )
        self.line(head)
        self.line(f"x = (x * 3 + ({added})) & 1023", 1)

    def taken_apart(self) -> None:
        text = self.random.choice(
            (
                f"e, f = pairs[{self.number()} % 3]",
                "(e, _), (f, _) = pairs[:2]",
                "e, *_, f = np.array([x, 2, 3, n1], np.int64)",
                "e, _, _, f = b[2:6]",
                "f, e = np.full((2, 3), n2, np.int64)[:, 1]",
            )
        )
        self.line(text)
        self.line("x = (x * 5 + e - 2 * f) & 1023")

    def reduced(self) -> None:
        name = self.array()
        call = self.random.choice((*(f"{{}}.{end}" for end in _REDUCTIONS), *_FUNCTIONS))
        if self.axes_of(name) == 1 and self.random.random() < 0.2:
            call = self.random.choice(("sum({})", "min({})", "max({})", "any({})", "all({})"))
        self.line(f"if {name}.size > 0:")
        self.line(f"x = (x * 3 + {call.format(name)}) & 1023", 1)
        self.line(f"out[{self.random.randrange(RESULTS - 1)}] += x", 1)
