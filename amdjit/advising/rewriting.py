"""Changes to the source of a kernel: texts in the place of others, and the resulting function."""

from __future__ import annotations
import __future__

import ast
import difflib
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from amdjit.diagnostics import Span
from amdjit.diagnostics.source_files import adopt
from amdjit.frontend.source.reading import FunctionSource

__all__ = ["Edit", "RewriteError", "Rewritten", "rewrite"]

_FUTURE_FLAGS = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names
)
_FACTORY = "_enclosing"


class RewriteError(Exception):
    """A changed source is no kernel."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text in the place of another. It may have more lines than the one before."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A function whose source was changed, and the change as a unified diff without its heading."""

    function: types.FunctionType
    diff: str


def rewrite(source: FunctionSource, edits: Sequence[Edit]) -> Rewritten:
    """Return a function with changes to its source. `amdjit` is one of its names, whatever its
    module has imported. RewriteError if it does not compile."""
    before = source.text.lines
    after = _edited(before, edits)
    function = _compiled(source, after)
    adopt(function, after, True)
    return Rewritten(function, _difference(source.text.file, before, after))


def _edited(lines: Sequence[str], edits: Sequence[Edit]) -> tuple[str, ...]:
    found = list(lines)
    for edit in sorted(edits, key=lambda one: (one.span.line, one.span.column), reverse=True):
        span = edit.span
        head = found[span.line - 1][: span.column]
        tail = found[span.end_line - 1][span.end_column :]
        text = f"{head}{edit.text}{tail}"
        found[span.line - 1 : span.end_line] = text.splitlines(keepends=True)
    return tuple(found)


def _compiled(source: FunctionSource, lines: Sequence[str]) -> types.FunctionType:
    function = source.function
    try:
        node = _definition(ast.parse("".join(lines)), source.node)
        node.decorator_list = []
        module = _within(node, function.__code__.co_freevars)
        flags = function.__code__.co_flags & _FUTURE_FLAGS
        code = compile(module, source.text.file, "exec", flags, dont_inherit=True)
        names = {"amdjit": sys.modules["amdjit"], **function.__globals__}
        exec(code, names)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        found: types.FunctionType = names.pop(_FACTORY)(*cells)
    except (SyntaxError, ValueError, NameError) as error:
        raise RewriteError(str(error)) from error
    found.__qualname__, found.__module__ = function.__qualname__, function.__module__
    found.__defaults__, found.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return found


def _definition(module: ast.Module, wanted: ast.FunctionDef) -> ast.FunctionDef:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.lineno == wanted.lineno:
            return node
    raise RewriteError(f"{wanted.name} is not where it was")


def _within(node: ast.FunctionDef, captured: Sequence[str]) -> ast.Module:
    """Return a module with a function that returns the one of `node`, and has what it captures."""
    result = ast.Return(ast.Name(node.name, ast.Load()))
    parameters = ast.arguments([], [ast.arg(name) for name in captured], None, [], [], None, [])
    outer = ast.FunctionDef(_FACTORY, parameters, [node, result], [], None, None)
    # From Python 3.12 on.
    vars(outer).setdefault("type_params", [])
    ast.copy_location(outer, node)
    return ast.fix_missing_locations(ast.Module([outer], []))


def _difference(file: str, before: Sequence[str], after: Sequence[str]) -> str:
    name = PurePath(file).name
    rows = difflib.unified_diff(before, after, name, name, n=0)
    return "".join(row for row in rows if not row.startswith(("---", "+++"))).rstrip("\n")
