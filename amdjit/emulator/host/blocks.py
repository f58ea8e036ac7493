"""The blocks of a function under construction, and the control structures that build them.

    with b.if_(b.compare("eq", mask, i32(0))):       %t1 = icmp eq i32 %mask, 0
        b.give(i32(0))                               br i1 %t1, label %then.1, label %end.2
                                                   then.1:
                                                     ret i32 0
    with b.loop(index=i64(0)) as each:             end.2:
        ...                                          br label %loop.3
        more = b.add(each.index, i64(1))           loop.3:
        going = b.compare("ult", more, count)        %t2 = phi i64 [ 0, %end.2 ], [ %t3, %loop.3 ]
        each.again_if(going, index=more)             ...

A body that leaves by itself, as the first one here, has no branch to what follows. Labels are
generated, so callers need not name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from amdjit.isa.arithmetic import Value

# The weights of a branch's two successors.
Weights = tuple[int, int]


class Blocks:
    """The lines of one function. The block that lines are added to is `current`."""

    def __init__(self, prefix: str = "t") -> None:
        self.lines: list[str] = []
        self.current = "entry"
        # Whether the current block can take more lines: it has no terminator yet.
        self.is_open = True
        self._prefix = prefix
        self._names = 0
        self._labels = 0

    def restart(self) -> None:
        """Begin another function."""
        self.lines = []
        self.current = "entry"
        self.is_open = True
        self._names = self._labels = 0

    # Lines

    def name(self) -> str:
        """Return a fresh local name, with its `%`."""
        self._names += 1
        return f"%{self._prefix}{self._names}"

    def line(self, text: str) -> None:
        """Append one line as it is."""
        self.lines.append("  " + text)

    def emit(self, type_name: str, text: str) -> Value:
        """Append an instruction and return its result."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return Value(type_name, name)

    # Blocks

    def block(self, hint: str) -> str:
        """Return a fresh label."""
        self._labels += 1
        return f"{hint}.{self._labels}"

    def label(self, name: str) -> None:
        """Start a block."""
        self.current = name
        self.is_open = True
        self.lines.append(f"{name}:")

    def branch(self, target: str) -> None:
        """Jump to a block."""
        self._end(f"br label %{target}")

    def branch_if(
        self, condition: Value, yes: str, no: str, weights: Weights | None = None
    ) -> None:
        """Jump by an i1. weights: how often each successor is taken, relative to the other."""
        profile = _profile(weights)
        self._end(f"br i1 {condition.text}, label %{yes}, label %{no}{profile}")

    def switch(self, value: Value, cases: Mapping[int, str], default: str) -> None:
        """Jump to the block of an integer's case."""
        ways = " ".join(f"{value.type} {case}, label %{label}" for case, label in cases.items())
        self._end(f"switch {value.type} {value.text}, label %{default} [ {ways} ]")

    def give(self, value: Value | None = None) -> None:
        """Return from the function."""
        self._end("ret void" if value is None else f"ret {value.type} {value.text}")

    def phi(self, type_name: str, *incoming: tuple[Value, str]) -> Value:
        """Join values of predecessors."""
        return self.emit(type_name, _phi(type_name, incoming))

    def _end(self, terminator: str) -> None:
        self.line(terminator)
        self.is_open = False

    # Structures

    @contextmanager
    def if_(
        self, condition: Value, weights: Weights | None = None, label: str = "then"
    ) -> Iterator[None]:
        """Build code that runs only if a condition holds. label: the prefix of its block's
        label."""
        then, after = self.block(label), self.block("end")
        self.branch_if(condition, then, after, weights)
        with self._part(then, after):
            yield
        self.label(after)

    @contextmanager
    def unless(self, condition: Value) -> Iterator[None]:
        """Build code that runs only if a condition does not hold."""
        otherwise, after = self.block("else"), self.block("end")
        self.branch_if(condition, after, otherwise)
        with self._part(otherwise, after):
            yield
        self.label(after)

    @contextmanager
    def if_else(
        self, condition: Value
    ) -> Iterator[tuple[AbstractContextManager[None], AbstractContextManager[None]]]:
        """Build both branches: `with b.if_else(condition) as (then, otherwise)`, and each in a
        `with` of its own."""
        then, otherwise, after = self.block("then"), self.block("else"), self.block("end")
        self.branch_if(condition, then, otherwise)
        meeting: list[str] = []
        yield self._part(then, after, meeting), self._part(otherwise, after, meeting)
        if meeting:
            self.label(after)

    @contextmanager
    def if_any_of(self, value: Value, cases: Sequence[int]) -> Iterator[None]:
        """Build code that runs only if an integer is one of several."""
        then, after = self.block("then"), self.block("end")
        self.switch(value, dict.fromkeys(cases, then), after)
        with self._part(then, after):
            yield
        self.label(after)

    @contextmanager
    def _part(self, label: str, after: str, meeting: list[str] | None = None) -> Iterator[None]:
        self.label(label)
        yield
        if self.is_open:
            if meeting is not None:
                meeting.append(self.current)
            self.branch(after)

    @contextmanager
    def section(self) -> Iterator[Section]:
        """Build code that can be left early: `section.leave_if(...)` continues after its end."""
        section = Section(self, self.block("after"))
        yield section
        section.close()

    @contextmanager
    def loop(self, **values: Value) -> Iterator[Loop]:
        """Build a loop whose named values start as given: `loop.index` is what `index` is in this
        round. It repeats until some path leaves it."""
        loop = Loop(self, values)
        yield loop
        loop.close()

    @contextmanager
    def count_to(self, limit: Value) -> Iterator[Value]:
        """Build a loop over the numbers below a limit, which is at least 1."""
        with self.loop(number=Value(limit.type, "0")) as each:
            yield each.number
            following = self.emit(limit.type, f"add {limit.type} {each.number.text}, 1")
            more = self.emit("i1", f"icmp ult {limit.type} {following.text}, {limit.text}")
            each.again_if(more, number=following)


class Section:
    """A part of a function under construction that can be left before its end."""

    def __init__(self, blocks: Blocks, after: str) -> None:
        self._blocks = blocks
        self._after = after
        self._is_left = False

    def leave(self) -> None:
        """Go on after the section."""
        self._is_left = True
        self._blocks.branch(self._after)

    def leave_if(self, condition: Value) -> None:
        """Go on after the section if a condition holds."""
        self._is_left = True
        inside = self._blocks.block("on")
        self._blocks.branch_if(condition, self._after, inside)
        self._blocks.label(inside)

    def leave_unless(self, condition: Value) -> None:
        """Go on after the section if a condition does not hold."""
        self._is_left = True
        inside = self._blocks.block("on")
        self._blocks.branch_if(condition, inside, self._after)
        self._blocks.label(inside)

    def close(self) -> None:
        """End the section."""
        if self._blocks.is_open:
            self.leave()
        if self._is_left:
            self._blocks.label(self._after)


class Loop(Section):
    """A loop under construction. Its values are attributes, also after its end."""

    def __init__(self, blocks: Blocks, values: Mapping[str, Value]) -> None:
        super().__init__(blocks, blocks.block("done"))
        self._head = blocks.block("loop")
        before = blocks.current
        blocks.branch(self._head)
        blocks.label(self._head)
        self._values = {name: Value(value.type, blocks.name()) for name, value in values.items()}
        self._rounds = [(before, dict(values))]
        # Where the phis are inserted at the end, when all branches to the head are known.
        self._place = len(blocks.lines)

    def __getattr__(self, name: str) -> Value:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"the loop has no value {name!r}") from None

    def again(self, **values: Value) -> None:
        """Go on with the next round. Values that are not given stay as they are."""
        self._note(values)
        self._blocks.branch(self._head)

    def again_if(self, condition: Value, **values: Value) -> None:
        """Go on with the next round if a condition holds; otherwise leave."""
        self._note(values)
        self._is_left = True
        self._blocks.branch_if(condition, self._head, self._after)

    def skip_if(self, condition: Value, **values: Value) -> None:
        """Go on with the next round if a condition holds; otherwise stay in this one."""
        inside = self._blocks.block("on")
        self._note(values)
        self._blocks.branch_if(condition, self._head, inside)
        self._blocks.label(inside)

    def close(self) -> None:
        """End the body, which goes round if nothing else was said; what follows is after the
        loop."""
        if self._blocks.is_open:
            self.again()
        phis = []
        for name, value in self._values.items():
            incoming = [(given[name], block) for block, given in self._rounds]
            phis.append(f"  {value.text} = {_phi(value.type, incoming)}")
        self._blocks.lines[self._place : self._place] = phis
        if self._is_left:
            self._blocks.label(self._after)

    def _note(self, values: Mapping[str, Value]) -> None:
        unknown = values.keys() - self._values.keys()
        assert not unknown, f"the loop has no values {sorted(unknown)}"
        self._rounds.append((self._blocks.current, {**self._values, **values}))


def _phi(type_name: str, incoming: Sequence[tuple[Value, str]]) -> str:
    parts = ", ".join(f"[ {value.text}, %{block} ]" for value, block in incoming)
    return f"phi {type_name} {parts}"


def _profile(weights: Weights | None) -> str:
    if weights is None:
        return ""
    return f', !prof !{{!"branch_weights", i32 {weights[0]}, i32 {weights[1]}}}'
