"""Random structured control flow: functions of one lane whose loops always end, as Python
source."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ("x", "y", "z")


@st.composite
def expressions(draw: Any, depth: int = 2) -> str:
    """An integer expression whose products are reduced immediately: no value leaves an i32."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([*NAMES, "a[i]", "i", "1", "-3", "7", "out[i] % 50"]))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    operator = draw(st.sampled_from(["+", "-", "*", "//", "%", "^"]))
    if operator in ("//", "%"):
        return f"(({left}) {operator} {draw(st.integers(2, 9))})"
    return f"((({left}) {operator} ({right})) % 101)"


@st.composite
def conditions(draw: Any, depth: int = 1) -> str:
    """A condition of lane data; some assign a name with `:=`."""
    kind = draw(st.integers(0, 5 if depth else 2))
    compared = (
        f"{draw(expressions(1))} {draw(st.sampled_from(['<', '>=', '==', '!=']))} "
        f"{draw(expressions(1))}"
    )
    if kind <= 2:
        return compared
    if kind == 3:
        return (
            f"({draw(conditions(0))}) {draw(st.sampled_from(['and', 'or']))} "
            f"({draw(conditions(0))})"
        )
    if kind == 4:
        return f"({draw(st.sampled_from(NAMES))} := {draw(expressions(1))}) % 3 == 1"
    return f"not ({compared})"


class Writer:
    """Writes the statements of one function. in_loop: whether `break` and `continue` have a
    loop."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.lines, self.counters, self.budget = draw, list[str](), 0, 12

    def block(self, indent: int, depth: int, in_loop: bool) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(indent, depth, in_loop)

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def statement(self, indent: int, depth: int, in_loop: bool) -> None:
        self.budget -= 1
        simple = [self.assign, self.store]
        if in_loop:
            simple += [self.leave, self.leave]
        compound = [
            self.branch,
            self.branch,
            self.for_range,
            self.while_loop,
            self.unrolled,
            self.match,
            self.over_array,
        ]
        choices = (
            simple if depth == 0 or self.budget < 0 else [*simple, self.early_return, *compound]
        )
        self.draw(st.sampled_from(choices))(indent, depth - 1, in_loop)

    def assign(self, indent: int, depth: int, in_loop: bool) -> None:
        self.line(indent, f"{self.draw(st.sampled_from(NAMES))} = {self.draw(expressions())}")

    def store(self, indent: int, depth: int, in_loop: bool) -> None:
        self.line(indent, f"out[i] = (out[i] * 3 + {self.draw(expressions())}) % 1009")

    def leave(self, indent: int, depth: int, in_loop: bool) -> None:
        self.line(indent, f"if {self.draw(conditions())}:")
        self.line(indent + 1, self.draw(st.sampled_from(["break", "continue"])))

    def early_return(self, indent: int, depth: int, in_loop: bool) -> None:
        self.line(indent, f"if {self.draw(conditions())}:")
        self.line(indent + 1, "out[i] += 5000")
        self.line(indent + 1, "return")

    def branch(self, indent: int, depth: int, in_loop: bool) -> None:
        self.line(indent, f"if {self.draw(conditions())}:")
        self.block(indent + 1, depth, in_loop)
        if self.draw(st.booleans()):
            self.line(indent, f"elif {self.draw(conditions())}:")
            self.block(indent + 1, depth, in_loop)
        if self.draw(st.booleans()):
            self.line(indent, "else:")
            self.block(indent + 1, depth, in_loop)

    def loop(self, indent: int, depth: int, head: str, in_loop: bool) -> None:
        self.line(indent, head)
        self.block(indent + 1, depth, True)
        if self.draw(st.integers(0, 2)) == 0:
            self.line(indent, "else:")
            self.block(indent + 1, depth, in_loop)

    def for_range(self, indent: int, depth: int, in_loop: bool) -> None:
        ranges = ["range(a[i] % 5)", "range(3)", "range(4, i % 5, -1)", "reversed(range(x % 4))"]
        name = self.draw(st.sampled_from(NAMES))
        self.loop(indent, depth, f"for {name} in {self.draw(st.sampled_from(ranges))}:", in_loop)

    def over_array(self, indent: int, depth: int, in_loop: bool) -> None:
        name = self.draw(st.sampled_from(NAMES))
        self.loop(indent, depth, f"for {name} in a[i % 7 : i % 7 + x % 4]:", in_loop)

    def unrolled(self, indent: int, depth: int, in_loop: bool) -> None:
        items = self.draw(st.sampled_from(["static_range(3)", "(2, 5)"]))
        self.loop(indent, depth, f"for {self.draw(st.sampled_from(NAMES))} in {items}:", in_loop)

    def while_loop(self, indent: int, depth: int, in_loop: bool) -> None:
        """A counter of its own, tested first, ends every loop."""
        self.counters += 1
        counter = f"count{self.counters}"
        self.line(indent, f"{counter} = 0")
        head = self.draw(
            st.sampled_from(
                [f"while {counter} < 5 and ({self.draw(conditions())}):", "while True:"]
            )
        )
        self.line(indent, head)
        self.line(indent + 1, f"{counter} += 1")
        self.line(indent + 1, f"if {counter} > i % 6:")
        self.line(indent + 2, "break")
        self.block(indent + 1, depth, True)
        if head != "while True:" and self.draw(st.booleans()):
            self.line(indent, "else:")
            self.block(indent + 1, depth, in_loop)

    def match(self, indent: int, depth: int, in_loop: bool) -> None:
        self.line(indent, f"match {self.draw(expressions(1))} % 4:")
        for pattern in ("0", f"1 | 2 if {self.draw(conditions())}", "2", "_"):
            self.line(indent + 1, f"case {pattern}:")
            self.block(indent + 2, depth, in_loop)


@st.composite
def functions(draw: Any) -> str:
    """Return the source of `function(i, a, out)`."""
    writer = Writer(draw)
    writer.line(0, "def function(i, a, out):")
    for name, value in zip(NAMES, ("a[i]", "i + 1", "a[(i + 3) % 32]"), strict=True):
        writer.line(1, f"{name} = {value}")
    writer.block(1, 3, False)
    writer.block(1, 2, False)
    writer.line(1, "out[i] = out[i] * 7 + x + y * 3 + z * 5")
    return "\n".join(writer.lines) + "\n"
