"""Loops of random programs, and what leaves them."""

from __future__ import annotations

from amdjit.types import Scalar, boolean, i32
from tests.fuzz.program_statements import Statements
from tests.fuzz.program_types import NUMBERS, PARAMETERS

WEAK_HELPERS = {
    "with_bit": "def with_bit(v, k):\n    return v | 1 << k\n",
    "stepped": "def stepped(v, k):\n    v = v * 3 + k\n    return v if k < 40 else v - 1\n",
    "turned": "def turned(v, k):\n    return k * 7 - v, v + k\n",
    "damped": "def damped(v, k):\n    return v * 0.5 + k / 3\n",
    "square": "def square(v):\n    return v * v\n",
    "put_at": "def put_at(a, at, v):\n    a[at] = v\n",
}
"""What numbers without a width go through, given to functions."""


class Loops(Statements):
    """Writes loops."""

    def for_loop(self, indent: int, depth: int) -> None:
        name = self.fresh("k")
        bound = self.pick("i32(3)", "i32(5)", f"({self.expression(i32, 2)}) & 3")
        step = f"(({self.expression(i32, 1)}) & 3)"
        bounds = self.pick(
            bound,
            f"-2, {bound}",
            f"{bound}, -1, -2",
            f"{bound}, 9, {step} + 1",
            f"{bound}, -7, -2 - {step}",
        )
        self.line(indent, f"for {name} in range({bounds}):")
        outer = dict(self.names)
        self.names[name] = i32
        self._round(indent, depth, outer)
        self.names = outer

    def first_in_rounds(self, indent: int, depth: int) -> None:
        """Assign a new name in a loop that certainly has an iteration, and keep it."""
        k, name, type = self.fresh("k"), self.fresh("x"), self.pick(*NUMBERS, boolean)
        rounds = self.pick("range(2)", "range(3, 0, -1)", "range(1, 6, 2)", "zip(range(2), (4, 5))")
        self.line(indent, f"for {k} in {rounds}:")
        outer, self.loops = self.loops, 0
        self.line(indent + 1, f"{name} = {self.expression(type)}")
        kept = dict(self.names) | {name: type}
        self.names = dict(kept)
        self.block(indent + 1, 0)
        if self.chance(40):
            self.line(indent + 1, f"if {self.condition(1)}:")
            self.line(indent + 2, f"{name} = {self.expression(type, 1)}")
            self.line(indent + 2, self.pick("continue", "break"))
            self.line(indent + 1, f"{name} = {self.expression(type, 1)}")
        self.loops, self.names = outer, kept

    def weak_integers(self, indent: int, depth: int) -> None:
        """Count from literals and Python numbers, with what wraps alike in every width, into 64
        bits."""
        updates = ("{v} |= 1 << {k}", "{v} += {k} * 1000003", "{v} = {v} * 3 + {k}",
            "{v} ^= p << {k}", "{v} -= q",
                   "{v} = ({k} - {v}) * 5", "{v} = {v} if {k} < p else 7 * {v}",
                   "{v} = with_bit({v}, {k})", "{v} = stepped({v}, {k})",
                   "{v} = turned({v}, {k})[0]")  # fmt: skip
        name = self._weak_loop(indent, self.pick("0", "1", "p", "q", "p * q"), updates)
        type = self.pick("i64", "u64", "i32", "u32", "i8")
        place = self.place()
        self.line(
            indent, self.pick(f"o_{type}[{place}] = {name}", f"put_at(o_{type}, {place}, {name})")
        )
        value = self.pick(f"a_i64[i] * {name}", name, f"{name} * {name} + 1", f"square({name})")
        self.line(indent, f"o_i64[{self.place()}] = {value}")

    def weak_floats(self, indent: int, depth: int) -> None:
        """Compute with literals and Python numbers, into f64."""
        updates = ("{v} += 0.1", "{v} = {v} * 0.5 + r", "{v} += {k} * t", "{v} /= 3.0",
            "{v} = t / ({k} + 1) - {v}",
                   "{v} = {v} if {k} < p else r * {v}", "{v} = abs({v}) + 1",
                   "{v} = damped({v}, {k})", "{v} = turned({v}, r)[1]")  # fmt: skip
        name = self._weak_loop(indent, self.pick("0.0", "r", "t", "r * t", "0.3"), updates)
        value = self.pick(f"a_f64[i] * {name}", name, f"{name} * 0.7 + {name}", f"square({name})")
        place = self.place()
        self.line(
            indent, self.pick(f"o_f64[{place}] = {value}", f"put_at(o_f64, {place}, {value})")
        )

    def _weak_loop(self, indent: int, start: str, updates: tuple[str, ...]) -> str:
        name, k = self.fresh("v"), self.fresh("n")
        self.line(indent, f"{name} = {start}")
        self.line(indent, f"for {k} in range({self.pick('40', 'p', '3, 45', 'p, p * 8')}):")
        for _ in range(self.choices.number(1, 2)):
            is_guarded = self.chance(40)
            if is_guarded:
                self.line(indent + 1, f"if {self.expression(boolean, 1)}:")
            self.line(indent + 1 + is_guarded, self.pick(*updates).format(v=name, k=k))
        return name

    def _round(self, indent: int, depth: int, names_after: dict[str, Scalar]) -> None:
        self.loops += 1
        self.block(indent + 1, depth - 1)
        self.loops -= 1
        self.names = dict(names_after)
        if self.chance(25):
            self.line(indent, "else:")
            loops, self.loops = self.loops, 0
            self.block(indent + 1, 0)
            self.loops = loops

    def while_loop(self, indent: int, depth: int) -> None:
        name = self.fresh("w")
        self.line(indent, f"{name} = i32(0)")
        self.line(indent, f"while {name} < {self.pick(1, 3, 4)} and {self.condition(2)}:")
        self.line(indent + 1, f"{name} += 1")
        outer = dict(self.names)
        self.names[name] = i32
        self._round(indent, depth, outer)
        self.names = outer

    def static_loop(self, indent: int, depth: int) -> None:
        name = self.fresh("s")
        self.line(
            indent,
            f"for {name} in {self.pick('static_range(2)', '(1, 4)', 'static_range(3, 0, -2)')}:",
        )
        loops, self.loops = self.loops, 0
        self.line(indent + 1, f"o_i32[i * 4] ^= {name}" if self.arrays else "pass")
        self.block(indent + 1, 0)
        self.loops = loops

    def element_loop(self, indent: int, depth: int) -> None:
        """Go over what expressions give, and change in the rounds what they read."""
        changeable = self.changeable()
        if not changeable:
            return self.assign_new(indent, depth)
        changed, type = self.pick(*changeable.items())
        items = [self.read_again(changed, type) for _ in range(self.choices.number(2, 3))]
        name, other = self.fresh("e"), self.fresh("e")
        self.line(indent, f"for {self._over(name, other, items)}:")
        outer = dict(self.names)
        self.names[name] = type
        loops, self.loops = self.loops, self.loops if self.chance(50) else 0
        value = self.pick(
            name, f"({changed} {self.pick('+', '-', '^') if type.is_integer else '-'} {name})"
        )
        self.line(indent + 1, f"{changed} = {value}")
        self.block(indent + 1, 0)
        self.names, self.loops = outer, loops
        return None

    def read_again(self, name: str, type: Scalar) -> str:
        """Write an expression that reads a name, or an element that the rounds may write."""
        if type in PARAMETERS and self.arrays and self.chance(25):
            return f"o_{type}[{self.place()}]"
        return self.pick(
            f"({name} + {self.weak(type)})", name, f"(-{name})", f"({name} * {self.weak(type)})"
        )

    def _over(self, name: str, other: str, items: list[str]) -> str:
        """Write `names in iterable` with the items for the first name."""
        plain = f"({', '.join(items)})"
        numbers = f"({', '.join(str(k) for k in range(len(items)))})"
        pairs = ", ".join(f"({item}, {k})" for k, item in enumerate(items))
        return self.pick(
            f"{name} in {plain}",
            f"{name} in reversed({plain})",
            f"{other}, {name} in enumerate({plain})",
            f"{name}, {other} in zip({plain}, {numbers})",
            f"{name}, {other} in ({pairs})",
        )

    def leave(self, indent: int, depth: int) -> None:
        self.line(indent, f"if {self.condition(2)}:")
        self.line(indent + 1, self.pick("break", "continue"))

    def leave_program(self, indent: int, depth: int) -> None:
        self.line(indent, f"if {self.condition(2)}:")
        self.show(indent + 1)
        self.line(indent + 1, "return")
