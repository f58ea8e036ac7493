"""Where control leaves a block: the ends of branches and loops, and returns, with the names that
each of them has."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from amdjit.frontend.values.kinds import Binding, Value
from amdjit.tree import nodes as tree


@dataclass
class Loop:
    """An enclosing loop: names that go round with it, and the states of names at its exits.

    leaving: of a round of an unrolled loop, the variable that tells whether a `break` has left it.
    """

    carried: dict[str, tree.Variable]
    is_static: bool = False
    leaving: tree.Variable | None = None
    breaks: list[Exit] = field(default_factory=list)
    continues: list[Exit] = field(default_factory=list)


@dataclass
class Exit:
    """A place where control leaves a block: the names there, and the list to which conversions may
    still be added.

    terminator: the break or continue at the end of `statements`, None where the block just ends.
    """

    names: dict[str, Binding]
    statements: list[tree.Statement]
    node: ast.AST
    terminator: tree.Statement | None = None

    def add(self, statements: list[tree.Statement]) -> None:
        """Put statements at the end of this way, in front of its terminator."""
        end = _position(self.statements, self.terminator)
        self.statements[end:end] = statements


@dataclass
class ReturnSite:
    """A `return`: where its value goes once the function's type is known."""

    value: Value | None
    statements: list[tree.Statement]
    placeholder: tree.Statement
    node: ast.AST

    def replace(self, statements: list[tree.Statement]) -> None:
        """Put the real statements in the place of the placeholder."""
        at = _position(self.statements, self.placeholder)
        self.statements[at : at + 1] = statements


def _position(statements: list[tree.Statement], wanted: tree.Statement | None) -> int:
    return next(
        (i for i, statement in enumerate(statements) if statement is wanted), len(statements)
    )
