"""Random programs with operations across lanes: in expressions, branches, and loops that lanes
leave by `break`, `continue` and `return` in different iterations; and their meaning.

A program is written twice: for a kernel, and as a Python generator that one lane runs. It yields at
each operation, with the place of the operation: numbers of statements and of iterations
from the outside to the inside. Places grow as a lane runs, so when all lanes wait or have ended,
those at the smallest place are the lanes that the operation combines.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import amdjit
from amdjit.intrinsics import wave
from tests.lane_model import OPERATIONS, Operation, operations_of

__all__ = ["KERNEL_NAMES", "NUMBERS", "UNIFORM", "WaveProgram", "expected", "random_wave_program"]

NUMBERS = list(range(11, 75))
UNIFORM = [17, 11]
KERNEL_NAMES = {
    **{name: getattr(amdjit, name) for name in ("i32", "i64", "u32", "u64")},
    "amdjit": amdjit,
    "wave": wave,
}
_VARIABLES = ("a", "b", "c")
_MOST_ROUNDS = 5
# One lane's run: it yields places, operations and values, and is sent results.
_Run = Generator[tuple[tuple[int, ...], int, int], int, int]


@dataclass
class WaveProgram:
    """A program. kernel, model: its lines; count: of operations."""

    is_function: bool
    kernel: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    count: int = 0

    def both(self, depth: int, text: str) -> None:
        for lines in (self.kernel, self.model):
            lines.append("    " * depth + text)

    def text(self) -> str:
        """Return the kernel's source."""
        body = "\n".join(self.kernel)
        if self.is_function:
            return (
                f"@amdjit.device_function\ndef program(x, u, t, a, b, c):\n{body}\n"
                "    return a + b\n"
                "def kernel(x, u, out):\n    t = amdjit.lane_id()\n"
                "    out[t] = program(x, u, t, i32(x[t]), t & 7, i32(0))\n"
            )
        return (
            "def kernel(x, u, out):\n    t = amdjit.lane_id()\n    a = i32(x[t])\n    b = t & 7\n"
            f"    c = i32(0)\n{body}\n    out[t] = a + b\n"
        )


class _Writer:
    """Writes one program. place: the text of the current place's numbers."""

    def __init__(self, random: Random, operations: list[Operation], program: WaveProgram) -> None:
        self.random = random
        self.operations = operations
        self.program = program
        self.place: list[str] = []
        self.loops = 0
        self.temporaries = 0

    def block(self, depth: int, size: int, in_loop: bool) -> None:
        """Write statements; some end the block."""
        for number in range(size):
            self.place.append(str(number))
            self.statement(depth, in_loop)
            self.place.pop()
        if depth > 1 and self.random.random() < 0.5:
            self.leave(depth, in_loop)
        else:
            self.program.both(depth, "c = c + 1")

    def statement(self, depth: int, in_loop: bool) -> None:
        kinds = ["operation"] * 3 + ["assign"] + ["if"] * 2 * (depth < 5)
        kinds += ["loop"] * 2 * (self.loops < 2 and depth < 4)
        kind = self.random.choice(kinds)
        if kind == "operation":
            self.operation(depth)
        elif kind == "assign":
            name, other = self.random.choice(_VARIABLES), self.random.choice(_VARIABLES)
            self.program.both(depth, f"{name} = ({other} ^ {self.random.randrange(32)}) + (t & 3)")
        elif kind == "if":
            self.program.both(depth, f"if {self.condition()}:")
            self.branch(depth, "0", in_loop)
            if self.random.random() < 0.3:
                self.program.both(depth, "else:")
                self.branch(depth, "1", in_loop)
        else:
            self.loop(depth)

    def branch(self, depth: int, number: str, in_loop: bool) -> None:
        self.place.append(number)
        self.block(depth + 1, self.random.randint(1, 2), in_loop)
        self.place.pop()

    def operation(self, depth: int) -> None:
        """Write `name = operation(...)`, perhaps on one side of an expression only."""
        operation = self.random.choice(self.operations)
        value = self.random.choice(("i32(7)", "u[0]", "x[t]", "(a & 255)", "(b & 255)"))
        name, other = self.random.choice(_VARIABLES[:2]), self.random.choice(_VARIABLES)
        call = f"i32({operation.text.format(v=value)}) & 255"
        place = f"({', '.join(self.place)},)"
        number = OPERATIONS.index(operation)
        self.program.count += 1
        asked = f"((yield {place}, {number}, {value.replace('i32', '')}) & 255)"
        condition = self.condition()
        form = self.random.choice(
            ("{}", "{}", f"({{}}) + {other}", f"({{}}) if {condition} else 3")
        )
        self.program.kernel.append("    " * depth + f"{name} = {form.format(call)}")
        self.program.model.append("    " * depth + f"{name} = {form.format(asked)}")

    def condition(self) -> str:
        bits = self.random.choice((1, 3, 7))
        name = self.random.choice(_VARIABLES)
        return self.random.choice(
            (f"({name} & {bits}) == (t & {bits})", f"{name} & {bits} == 0", "t < 10", "t % 3 == 1",
             f"x[t] & {bits} == c & {bits}", f"u[0] & {bits} == c & {bits}", f"t > {name}")
        )  # fmt: skip

    def loop(self, depth: int) -> None:
        self.loops += 1
        index = f"n{self.temporaries}"
        self.temporaries += 1
        bound = self.random.choice((str(_MOST_ROUNDS), "t & 3", "u[0] & 7", "(a & 3) + 1"))
        # One that counts by itself, or by a flag that the body may clear.
        form = self.random.choice(("for", "for", "while", "flag"))
        if form == "for":
            self.program.both(depth, f"for {index} in range({bound}):")
        else:
            going = f"going{index}"
            self.program.both(depth, f"{index} = -1")
            self.program.both(depth, f"{going} = True")
            head = "True" if form == "while" else f"{going} and {index} < {_MOST_ROUNDS}"
            self.program.both(depth, f"while {head}:")
            self.program.both(depth + 1, f"{index} = {index} + 1")
            end = "break" if form == "while" else f"{going} = False"
            self.program.both(depth + 1, f"if {index} >= {bound} or {self.condition()}:")
            self.place += [index, "0"]
            self.operation(depth + 2)
            del self.place[-2:]
            self.program.both(depth + 2, end)
        self.place += [index, "1"]
        self.block(depth + 1, self.random.randint(1, 3), True)
        del self.place[-2:]
        if form == "for" and self.random.random() < 0.2:
            self.program.both(depth, "else:")
            # After all iterations.
            self.place += ["99", "0"]
            self.operation(depth + 1)
            del self.place[-2:]
        self.loops -= 1

    def leave(self, depth: int, in_loop: bool) -> None:
        ways = ["return"] + ["break", "break", "continue"] * in_loop
        way = self.random.choice(ways)
        if way != "return":
            self.program.both(depth, way)
            return
        name = self.random.choice(_VARIABLES)
        self.program.model.append("    " * depth + f"return {name} + 1000")
        if self.program.is_function:
            self.program.kernel.append("    " * depth + f"return {name} + 1000")
        else:
            self.program.kernel.append("    " * depth + f"out[t] = {name} + 1000")
            self.program.kernel.append("    " * depth + "return")


def random_wave_program(random: Random, processor: str, wave_size: int) -> WaveProgram:
    """Write a program of the operations that a processor has."""
    program = WaveProgram(random.random() < 0.6)
    writer = _Writer(random, operations_of(processor, wave_size), program)
    writer.place = ["0"]
    writer.loop(1)
    writer.place = ["1"]
    writer.block(1, random.randint(1, 3), False)
    return program


def expected(program: WaveProgram, wave_size: int) -> list[int]:
    """Return each lane's result."""
    names: dict[str, Any] = {"x": NUMBERS, "u": UNIFORM}
    body = "\n".join(program.model)
    # Python's own generators may have nothing to yield.
    source = (
        f"def run(t, a, b, c):\n    if t < 0:\n        yield (), 0, 0\n{body}\n    return a + b\n"
    )
    exec(source, names)
    lanes: dict[int, _Run] = {t: names["run"](t, NUMBERS[t], t & 7, 0) for t in range(wave_size)}
    results = [0] * wave_size
    waiting: dict[int, tuple[tuple[int, ...], int, int]] = {}
    answers: dict[int, int | None] = dict.fromkeys(lanes)
    while answers:
        for lane, answer in answers.items():
            try:
                waiting[lane] = lanes[lane].send(answer)  # type: ignore[arg-type]
            except StopIteration as ended:
                waiting.pop(lane, None)
                results[lane] = _wrapped(ended.value)
        answers = _answers(waiting, wave_size)
    return results


def _answers(
    waiting: Mapping[int, tuple[tuple[int, ...], int, int]], wave_size: int
) -> dict[int, int | None]:
    if not waiting:
        return {}
    first = min(place for place, _, _ in waiting.values())
    values = {lane: value for lane, (place, _, value) in waiting.items() if place == first}
    operation = next(number for place, number, _ in waiting.values() if place == first)
    model = OPERATIONS[operation].model
    return {lane: _wrapped(model(values, lane, wave_size)) for lane in values}


def _wrapped(value: int) -> int:
    """Return a number as an i32."""
    return (value + 2**31) % 2**32 - 2**31
