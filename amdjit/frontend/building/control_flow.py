"""Where control leaves a block: the ends of branches and loops, and returns, each with its
names."""

from __future__ import annotations

import ast
from dataclasses import field

from amdjit.frontend.values.kinds import Binding, Value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree


@dataclass
class Loop:
    """An enclosing loop: the names that it carries, and the states of names at its exits.

    leaving: for an iteration of an unrolled loop, the variable that says whether a `break` has left
    it.
    """

    carried: dict[str, tree.Variable]
    is_static: bool = False
    leaving: tree.Variable | None = None
    breaks: list[Exit] = field(default_factory=list)
    continues: list[Exit] = field(default_factory=list)


@dataclass
class Exit:
    """A place where control leaves a block: the names there, and the list of statements, to which
    conversions may be appended later.

    terminator: the break or continue at the end of `statements`, None if the block just ends.
    """

    names: dict[str, Binding]
    statements: list[tree.Statement]
    node: ast.AST
    terminator: tree.Statement | None = None

    def add(self, statements: list[tree.Statement]) -> None:
        """Insert statements at the end, before the terminator."""
        end = _position(self.statements, self.terminator)
        self.statements[end:end] = statements


@dataclass
class ReturnSite:
    """A `return`: its value is placed once the function's result type is known."""

    value: Value | None
    statements: list[tree.Statement]
    placeholder: tree.Statement
    node: ast.AST

    def replace(self, statements: list[tree.Statement]) -> None:
        """Replace the placeholder with the real statements."""
        at = _position(self.statements, self.placeholder)
        self.statements[at : at + 1] = statements


def _position(statements: list[tree.Statement], wanted: tree.Statement | None) -> int:
    return next(
        (i for i, statement in enumerate(statements) if statement is wanted), len(statements)
    )
