"""Random kernels whose variables begin as literals and meet numbers of many widths."""

from __future__ import annotations

from random import Random

import numpy as np

__all__ = ["INPUTS", "OUTPUTS", "width_program"]

INPUTS = ("int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64")
OUTPUTS = ("int32", "int64", "uint64", "float32", "float64")
_WHOLE = [name for name in INPUTS if np.dtype(name).kind in "iu"]
_FLOATS = [name for name in INPUTS if np.dtype(name).kind == "f"]


def width_program(random: Random) -> str:
    """Write `kernel(x_int8, ..., o_int32, ...)`, with eight elements in each array."""
    return "\n".join(_Writer(random).kernel()) + "\n"


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.whole, self.floats = ["7", "3"], ["0.1", "2.5"]

    def kernel(self) -> list[str]:
        """Write a kernel with loops and stores of what they carry."""
        parameters = [f"x_{name}" for name in INPUTS] + [f"o_{name}" for name in OUTPUTS]
        lines = [f"def kernel({', '.join(parameters)}):", "    s = 1", "    t = 0.3", "    w = 0"]
        self.whole += ["s"] * 3
        self.floats += ["t"] * 3
        for number in range(self.random.randint(1, 2)):
            lines += self._loop(number)
        lines += self._stores(1, self.random.randint(2, 5))
        return ["import math", *lines]

    def _loop(self, number: int) -> list[str]:
        name, pick = f"k{number}", self.random.choice
        bound = pick(["9", "x_int32.shape[0]", "x_int8[1] & 15", "x_int64[2] & 7", "3, 14"])
        outer = [*self.whole], [*self.floats]
        if self.random.random() < 0.3:
            head = [f"    {name} = 0", f"    while {name} < 6:", f"        {name} += 1"]
        else:
            head = [f"    for {name} in range({bound}):"]
        self.whole += [name] * 2
        body = [
            f"        {line}" for _ in range(self.random.randint(1, 3)) for line in self._step()
        ]
        self.whole, self.floats = outer
        return head + body

    def _step(self) -> list[str]:
        way = self.random.random()
        if way < 0.45:
            operator = self.random.choice(["=", "+=", "-=", "*=", "^=", "|="])
            return [f"s {operator} {self.integer(2)}"]
        if way < 0.7:
            return [f"t {self.random.choice(['=', '+=', '-=', '*='])} {self.real(2)}"]
        if way < 0.8:
            return [f"w = {self.integer(2)}", "s += w"]
        leaving = self.random.choice(["s += 1", "t = t * 0.5", "break", "continue", "s = -s"])
        return [f"if {self.condition()}:", f"    {leaving}"]

    def _stores(self, indent: int, count: int) -> list[str]:
        lines = []
        for place in range(count):
            name = self.random.choice(OUTPUTS)
            is_float = name.startswith("float") and self.random.random() < 0.7
            value = self.real(2) if is_float else self.integer(2)
            if self.random.random() < 0.4:
                value = "t" if is_float else "s"
            lines.append(f"{'    ' * indent}o_{name}[{place}] = {value}")
        return lines

    def integer(self, depth: int) -> str:
        """Write an integer expression."""
        pick = self.random.choice
        if depth == 0 or self.random.random() < 0.2:
            return pick([*self.whole, f"x_{pick(_WHOLE)}[{pick('01234567')}]"])
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        return pick([
            f"({a} {pick('+-*^&|')} {b})", f"({a} * {pick([3, 31, 1000003])})", f"max({a}, {b})",
            f"min({a}, 5)", f"abs({a})", f"(-{a})", f"({a} << {pick([1, 3, 11])})",
            f"({a} >> {pick([1, 7])})", f"({a} // {pick([3, 7])})", f"({a} % 11)",
            f"(0 + int({self.real(depth - 1)}))", f"({a} if {a} < {b} else 3)",
        ])  # fmt: skip

    def real(self, depth: int) -> str:
        """Write an expression of floats, often made of integers."""
        pick = self.random.choice
        if depth == 0:
            return pick([*self.floats, f"x_{pick(_FLOATS)}[{pick('01234567')}]"])
        a, b = self.real(depth - 1), self.integer(depth - 1)
        return pick([
            f"({a} {pick('+-*')} {self.real(depth - 1)})", f"({b} / {pick([3, 7])})",
            f"({a} {pick('+-*')} {b})", f"({b} - {self.integer(depth - 1)} / 3)", f"abs({a})",
            f"math.sqrt(abs({b}))", f"max({a}, 0.25)", f"float({b})", f"({a} / 3)",
        ])  # fmt: skip

    def condition(self) -> str:
        """Write a comparison."""
        pick = self.random.choice
        return pick([
            f"{self.integer(1)} {pick(['<', '>=', '=='])} {self.integer(1)}",
            f"{self.integer(1)} % 7 == {pick([0, 1])}", f"{self.integer(1)} < {self.real(1)}",
            f"{self.real(1)} < {pick(['1.5', 't'])}",
        ])  # fmt: skip
