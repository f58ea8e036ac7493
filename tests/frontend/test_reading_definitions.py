"""A definition that is read without the rest of its file is the one that Python's parser finds in
the whole file."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

import amdjit
from amdjit.frontend.source import reading
from amdjit.frontend.source.reading import read_source

ROOT = Path(amdjit.__file__).parent
OWN = [
    file for folder in ("intrinsics", "examples") for file in sorted((ROOT / folder).rglob("*.py"))
]
FILES = [*OWN, *(Path(module.__file__ or "") for module in (ast, textwrap))]

ODD = '''\
import amdjit


def decorated(
    with_arguments=1,
):
    return lambda function: function


if True:

    @decorated(
        with_arguments=2,
    )
    def inner(
        a, b=""" text
that stands at the margin
""",
    ):
        # a comment
    # and one further left
        x = (1 +
2)
        y = 1 + \\
3

        def innermost(z):
            return """
no end of it"""
        return innermost(x + y)
    after = 1
def behind(x): return x
async def waits(x):
    return x
class Table:
\tdef method(self):
\t\treturn """
\t"""

\tdef last(self):
\t\tif self:
\t\t\treturn 1
\t\treturn 2
'''


def whole(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def check(text: str) -> int:
    lines = tuple(text.splitlines(keepends=True))
    found = whole(text)
    for node in found:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        alone = reading._definition(lines, first, node.name)
        assert alone is not None, node.name
        assert ast.dump(alone, include_attributes=True) == ast.dump(
            node, include_attributes=True
        ), node.name
    return len(found)


def test_a_definition_alone_is_that_of_the_file() -> None:
    assert sum(check(file.read_text(encoding="utf-8")) for file in FILES[::3]) > 130


def test_a_definition_is_read_whatever_its_layout() -> None:
    assert check(ODD) == 7


def test_most_are_found_without_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    reading._definition.cache_clear()
    monkeypatch.setattr(reading, "_definitions", None)
    for file in OWN:
        check(file.read_text(encoding="utf-8"))


def test_another_definition_at_the_line_is_not_taken() -> None:
    lines = ("def f(x):\n", "    return x\n", "def g(x):\n", "    return 1\n")
    assert reading._definition(lines, 1, "g") is None
    assert reading._definition(lines, 2, "f") is None
    assert reading._definition(lines, 9, "f") is None
    assert read_source(check).node.name == "check"
