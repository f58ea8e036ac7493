"""The variables that need memory: those with a read that several assignments may reach.

before: `x = a + 1; if c: x = 2; y = x`
after:  `x` gets an alloca, `y` is the value that was loaded from it

A read of any other variable, such as nearly all in unrolled loops and small device functions, is
the value of the assignment before it. LLVM would find that out too, but only after parsing and
inlining three instructions for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk

__all__ = ["variables_in_memory"]


def variables_in_memory(
    function: tree.Function, for_debugging: bool = False
) -> frozenset[tree.Variable]:
    """Return the variables whose reads depend on control flow.

    A read of any other variable returns the last assignment before it in source order.
    for_debugging: return every variable that is assigned, so that there is an instruction for each
    line.
    """
    if for_debugging:
        return frozenset(_assigned(function.body))
    search = _Search(set(function.parameters))
    search.block(function.body)
    return frozenset(search.unclear)


class _Search:
    """Searches a function. known: the variables whose last assignment is the same on every path to
    this place."""

    def __init__(self, known: set[tree.Variable]) -> None:
        self.known = known
        self.unclear: set[tree.Variable] = set()

    def block(self, statements: Sequence[tree.Statement]) -> None:
        for statement in statements:
            if isinstance(statement, tree.Assign):
                self.reads(statement.value)
                self.known.add(statement.variable)
            elif isinstance(statement, tree.If):
                self.reads(statement.condition)
                self.branches((statement.then, statement.otherwise))
            elif isinstance(statement, (tree.While, tree.ForRange)):
                self.loop(statement)
            else:
                self.reads(statement)

    def branches(self, branches: Sequence[Sequence[tree.Statement]]) -> None:
        """Search branches. What one of them assigns is unclear afterwards, also in the other
        branch."""
        before = self.known
        for branch in branches:
            self.known = set(before)
            self.block(branch)
            before = before.difference(_assigned(branch))
        self.known = before

    def loop(self, loop: tree.While | tree.ForRange) -> None:
        """Search a loop. What an iteration assigns is unclear in the next one until it is assigned
        there."""
        if isinstance(loop, tree.ForRange):
            for bound in (loop.start, loop.stop, loop.step):
                self.reads(bound)
        before = self.known
        self.known = before.difference(_assigned((loop,)))
        if isinstance(loop, tree.While):
            self.reads(loop.condition)
        after = set(self.known)
        if isinstance(loop, tree.ForRange):
            self.known.add(loop.variable)
        self.block(loop.body)
        self.known = set(after)
        self.block(loop.otherwise)
        self.known = after

    def reads(self, node: object) -> None:
        """Record the unclear variables that an expression, or a statement without inner blocks,
        reads."""
        for part in walk(node):
            if isinstance(part, tree.Read) and part.variable not in self.known:
                self.unclear.add(part.variable)


def _assigned(statements: Sequence[tree.Statement]) -> Iterator[tree.Variable]:
    """Yield the variables that statements assign."""
    for statement in statements:
        if isinstance(statement, tree.Assign):
            yield statement.variable
        elif isinstance(statement, tree.If):
            yield from _assigned(statement.then)
            yield from _assigned(statement.otherwise)
        elif isinstance(statement, (tree.While, tree.ForRange)):
            if isinstance(statement, tree.ForRange):
                yield statement.variable
            yield from _assigned(statement.body)
            yield from _assigned(statement.otherwise)
