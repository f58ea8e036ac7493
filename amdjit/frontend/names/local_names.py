"""The names that belong to a function rather than to its module."""

from __future__ import annotations

import ast
from functools import lru_cache

from amdjit.frontend.names.parameters import arguments_of
from amdjit.frontend.source.bound_names import assigned_names


@lru_cache(maxsize=64)
def local_names(node: ast.FunctionDef) -> frozenset[str]:
    """Return a function's parameters and the names that it assigns."""
    return assigned_names(node.body) | {argument.arg for argument in arguments_of(node)}
