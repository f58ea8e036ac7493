"""Which variables need memory: those with a read that several assignments may reach.

The others, nearly all of the variables of unrolled loops and small device functions, are the value of the assignment
before. LLVM would find that out too, but only after it has read and inlined three instructions for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from amdjit.tree import nodes as tree

__all__ = ["variables_in_memory"]

# Types of fields, as they are written, that hold no expressions.
_WITHOUT_READS = frozenset({"Span", "Type", "Variable", "Intrinsic", "Function", "int", "str", "bool"})


def variables_in_memory(function: tree.Function) -> frozenset[tree.Variable]:
    """Return the variables for which it takes control flow to tell what a read gives.

    Of all others, the last assignment before a read, in the order of the text, is the one that it gives.
    """
    search = _Search(set(function.parameters))
    search.block(function.body)
    return frozenset(search.unclear)


class _Search:
    """Goes through a function. known: the variables whose last assignment is that of every way to this place."""

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
        """What a branch assigns is unclear behind all of them."""
        before = self.known
        for branch in branches:
            self.known = set(before)
            self.block(branch)
        self.known = before.difference(*map(_assigned, branches))

    def loop(self, loop: tree.While | tree.ForRange) -> None:
        """What a round assigns is unclear in the next one, until it is assigned there."""
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
        """Note the unclear variables that an expression reads, or a statement without others in it."""
        pending = [node]
        while pending:
            node = pending.pop()
            if isinstance(node, tree.Read):
                if node.variable not in self.known:
                    self.unclear.add(node.variable)
            elif isinstance(node, tree.Node):
                kind: Any = type(node)
                pending += [getattr(node, name) for name in _parts(kind)]
            elif isinstance(node, tuple):
                pending += node


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


@cache
def _parts(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of a node's fields that may hold expressions."""
    return tuple(field.name for field in fields(kind) if field.type not in _WITHOUT_READS)
