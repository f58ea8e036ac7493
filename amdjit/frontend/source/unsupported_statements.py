"""Statements that the kernel language lacks: their names, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Mapping

_KEYWORDS: Mapping[str, str] = {
    "AsyncFor": "async for",
    "AsyncFunctionDef": "async def",
    "AsyncWith": "async with",
    "ClassDef": "class",
    "Delete": "del",
    "FunctionDef": "def",
    "ImportFrom": "from ... import",
    "Nonlocal": "nonlocal",
    "TryStar": "try",
}


_REMEDIES: Mapping[str, str] = {
    "class": "define the class outside the kernel; kernels can use NamedTuples and frozen "
    "dataclasses",
    "from ... import": "import at the top of the file",
    "global": "a kernel cannot assign to variables outside it: write to an element of an array "
    "parameter",
    "import": "import at the top of the file",
    "nonlocal": "a kernel cannot assign to variables outside it: write to an element of an array "
    "parameter",
    "try": "test with `if` beforehand; `raise` and `assert` stop the kernel and reach the host as "
    "KernelFault",
    "with": "write the statements of its body without `with`: nothing in a kernel needs to be "
    "closed",
}


def remedy_for(keyword: str) -> str:
    """Return what to write instead."""
    plain = (
        "a kernel consists of assignments, if, for, while, match, break, continue, return and calls"
    )
    return _REMEDIES.get(keyword, f"{plain}; do this on the host")


def keyword_of(node: ast.stmt) -> str:
    """Return the name of a statement: its keyword."""
    name = type(node).__name__
    return _KEYWORDS.get(name, name.lower())
