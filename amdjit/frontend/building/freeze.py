"""The end of building: statement lists become tuples. Until then late conversions may be added to
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from amdjit.tree import nodes as tree


def freeze(statements: Sequence[tree.Statement]) -> tuple[tree.Statement, ...]:
    """Return the statements with every inner block as a tuple."""
    return tuple(_freeze_statement(statement) for statement in statements)


def _freeze_statement(statement: tree.Statement) -> tree.Statement:
    if isinstance(statement, tree.If):
        return replace(
            statement, then=freeze(statement.then), otherwise=freeze(statement.otherwise)
        )
    if isinstance(statement, (tree.While, tree.ForRange)):
        return replace(
            statement, body=freeze(statement.body), otherwise=freeze(statement.otherwise)
        )
    return statement
