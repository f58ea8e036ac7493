"""Which names statements bind, and whether the statements leave their block."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_INNER_SCOPES = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def assigned_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that statements assign or delete, in inner blocks too but not in inner
    functions."""
    found: set[str] = set()
    pending: list[ast.AST] = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.add(node.id)
        elif isinstance(node, ast.comprehension):
            pending += [node.iter, *node.ifs]
        elif isinstance(node, _INNER_SCOPES):
            found |= {node.name} if isinstance(node, ast.FunctionDef) else set()
        elif not isinstance(node, ast.Constant):
            for part in map(node.__dict__.get, node._fields):
                if isinstance(part, list):
                    pending += [inner for inner in part if isinstance(inner, ast.AST)]
                elif isinstance(part, ast.AST) and part._fields:
                    pending.append(part)
    return frozenset(found)


def changed_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the assigned names and the names whose items are assigned: `v` in `v[0] = 1`."""
    nodes = list(nodes)
    stores = (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Subscript))
    items = (
        n.value.id for n in stores if isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
    )
    return assigned_names(nodes) | frozenset(items)


def bound_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the assigned names and those bound by statements that the kernel language lacks."""
    nodes = list(nodes)
    found = set(assigned_names(nodes))
    for node in nodes:
        for inner in ast.walk(node):
            found |= _bound_without_assignment(inner)
    return frozenset(found)


def _bound_without_assignment(node: ast.AST) -> set[str]:
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return set(node.names)
    if isinstance(node, ast.alias):
        return {node.asname or node.name.partition(".")[0]}
    name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
    return {name} if isinstance(name, str) else set()


def may_leave(node: ast.AST) -> bool:
    """Whether a statement is or contains a `return`, `raise`, `break` or `continue`."""
    leaving = (ast.Return, ast.Raise, ast.Break, ast.Continue)
    return any(isinstance(inner, leaving) for inner in ast.walk(node))
