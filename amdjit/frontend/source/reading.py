"""From a Python function to its syntax tree, with places in the file as editors show them."""

from __future__ import annotations

import ast
import functools
import types
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import field

from amdjit.diagnostics import CompileError, SourceText, Span, codes
from amdjit.diagnostics.source_files import Candidate, texts_of
from amdjit.frontend.source.same_code import (
    has_local_annotations,
    is_compiled_from,
    same_annotations,
)
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function's syntax tree and the file that contains it."""

    function: types.FunctionType
    node: ast.FunctionDef
    text: SourceText
    spans: dict[ast.AST, Span] = field(default_factory=dict, repr=False, compare=False)

    def span(self, node: ast.AST) -> Span:
        """Return the place of a node, with columns in characters (ast counts UTF-8 bytes).

        Spans are cached, since functions and the iterations of loops are typed many times.
        """
        found = self.spans.get(node)
        if found is None:
            found = self.spans[node] = self._span(node)
        return found

    def _span(self, node: ast.AST) -> Span:
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        text = self.text.line(line)
        start = _characters(text, getattr(node, "col_offset", 0))
        end_text = text if end_line == line else self.text.line(end_line)
        return Span(
            self.text,
            line,
            start,
            end_line,
            _characters(end_text, getattr(node, "end_col_offset", 0)),
        )

    @property
    def is_library(self) -> bool:
        """Whether the function is amdjit's own. Assembly and faults show the lines of the user's
        code instead of these."""
        return is_library(self.function)

    @property
    def name(self) -> str:
        """The function's name. Those of the library that a maker returns have another one than
        stands in the maker's `def`."""
        return self.function.__name__ if self.is_library else self.node.name

    @property
    def name_span(self) -> Span:
        """The place of the `def` line."""
        column = _characters(self.text.line(self.node.lineno), self.node.col_offset)
        end = column + len("def ") + len(self.node.name)
        return Span(self.text, self.node.lineno, column, self.node.lineno, end)


_LIBRARY = ("amdjit.intrinsics.", "amdjit.language.", "amdjit.numba_cuda.functions.")


def is_library(function: object) -> bool:
    """Whether a function is amdjit's own."""
    # Code that was run by exec may have no module.
    return (getattr(function, "__module__", None) or "").startswith(_LIBRARY)


def read_source(function: types.FunctionType) -> FunctionSource:
    """Find the definition that a function was compiled from, in the text that its file had then.

    UnsupportedSyntaxError if there is no source, no `def`, or only a text that was changed since.
    """
    found = _READ.get(function)
    if found is not None and found.code is function.__code__:
        return FunctionSource(function, found.node, found.text, found.spans)
    texts = texts_of(function)
    unsure = False
    for candidate in texts:
        node = _matching(function, candidate.text.lines)
        if node is None:
            continue
        if not candidate.is_early and not _is_certain(function, node):
            unsure = True
            continue
        text = SourceText(candidate.text.name, candidate.text.lines)
        definition = as_definition(node) if isinstance(node, ast.Lambda) else _plain(node, text)
        source = FunctionSource(function, definition, text)
        _READ[function] = _Read(function.__code__, definition, text, source.spans)
        return source
    raise _unread(function, texts, unsure)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a function, without the function."""

    code: types.CodeType
    node: ast.FunctionDef
    text: SourceText
    spans: dict[ast.AST, Span]


# A cache: a function's text never changes.
_READ: weakref.WeakKeyDictionary[types.FunctionType, _Read] = weakref.WeakKeyDictionary()


def _matching(
    function: types.FunctionType, lines: tuple[str, ...]
) -> Definition | ast.Lambda | None:
    """Return the definition in a text that compiles to the function's code."""
    code = function.__code__
    if code.co_name == "<lambda>":
        at_line = _lambdas(lines).get(code.co_firstlineno, [])
        lambdas = [
            node
            for node in at_line
            if _same_parameters(node, code) and is_compiled_from(function, node, lines)
        ]
        return lambdas[0] if lambdas else None
    node = _definition(lines, code.co_firstlineno, code.co_name)
    if node is None or not _same_parameters(node, code):
        return None
    return node if is_compiled_from(function, node, lines) else None


def _is_certain(function: types.FunctionType, node: Definition | ast.Lambda) -> bool:
    """Whether a definition with the function's code is the function's own, though its file may have
    changed since."""
    return not has_local_annotations(node) and same_annotations(function, node)


def _plain(node: Definition, text: SourceText) -> ast.FunctionDef:
    if isinstance(node, ast.FunctionDef):
        return node
    end = node.col_offset + len("async def")
    raise codes.error(
        codes.UNSUPPORTED_STATEMENT,
        Span(text, node.lineno, node.col_offset, node.lineno, end),
        statement="async def",
        remedy="write `def`: a kernel has nothing to wait for",
    )


_EDITED = (
    "the file was changed after Python read it: reload the module or start the program again (in a "
    "notebook, run the cell again)"
)
_REWRITTEN = (
    "a decorator or an import hook has rewritten the function's code, or the file was changed "
    "while Python read it: decorate the function as it is written, and start the program again"
)


def _unread(function: types.FunctionType, texts: Sequence[Candidate], unsure: bool) -> CompileError:
    """Return the error about a function whose text is in none of these."""
    code = function.__code__
    known = [each.text for each in texts if each.text.lines and not each.is_guess]
    if not known:
        return codes.error(
            codes.NO_SOURCE, None, function=function.__qualname__, file=code.co_filename
        )
    return codes.error(
        codes.CHANGED_SOURCE,
        None,
        function=function.__qualname__,
        file=code.co_filename,
        line=code.co_firstlineno,
        remedy=_REWRITTEN if any(each.is_early for each in texts) and not unsure else _EDITED,
    )


def definition_span(function: types.FunctionType) -> Span:
    """Return the place of a function's `def`."""
    return read_source(function).name_span


Definition = ast.FunctionDef | ast.AsyncFunctionDef


@functools.lru_cache(maxsize=512)
def _definition(lines: tuple[str, ...], first: int, name: str) -> Definition | None:
    """Return the definition of a name that begins, with its decorators, at a line."""
    # Parsing the lines of one function takes a fraction of the time of parsing the file.
    try:
        module = ast.parse(_alone(lines, first))
    except SyntaxError:  # a line within brackets or a string was indented less than the definition
        return _definitions(lines).get((first, name))
    alone = [
        node
        for node in _statements(module)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    found = [node for node in alone if node.name == name and _first_line(node) == first]
    return found[0] if found else _definitions(lines).get((first, name))


def _alone(lines: tuple[str, ...], first: int) -> str:
    """Return a text with only the definition that begins at a line, at the same lines and columns.

    It ends before the first line after the head that is indented no further than the head. If that
    cuts off too much, the cut is within brackets or a string, and the rest cannot be parsed.
    """
    start, end = first - 1, first - 1
    margin, in_head = _margin(lines[start]) if start < len(lines) else 0, True
    while end < len(lines):
        rest = lines[end].lstrip()
        if not in_head and rest[:1] not in ("", *"#)]}") and _margin(lines[end]) <= margin:
            break
        in_head = in_head and not rest.startswith(("def ", "async def "))
        end += 1
    before = "\n" * start if margin == 0 else "\n" * (start - 1) + "if 1:\n"
    return before + "".join(lines[start:end])


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


@functools.lru_cache(maxsize=64)
def _definitions(lines: tuple[str, ...]) -> dict[tuple[int, str], Definition]:
    """Map (first line with decorators, name) to every definition of a file."""
    try:
        module = ast.parse("".join(lines))
    except SyntaxError:  # the file was changed after the import
        return {}
    found: dict[tuple[int, str], Definition] = {}
    for node in _statements(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[(_first_line(node), node.name)] = node
    return found


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    """Yield all statements of a file. Definitions are statements, which are only a few of all
    nodes."""
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        for part in _BLOCKS & node.__dict__.keys():
            inner = getattr(node, part)
            yield from (statement for statement in inner if isinstance(statement, ast.stmt))
            pending += inner


@functools.lru_cache(maxsize=64)
def _lambdas(lines: tuple[str, ...]) -> dict[int, list[ast.Lambda]]:
    """Map lines to the lambdas that begin there."""
    try:
        module = ast.parse("".join(lines))
    except SyntaxError:  # the file was changed after the import
        return {}
    found: dict[int, list[ast.Lambda]] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def as_definition(node: ast.Lambda) -> ast.FunctionDef:
    """Write a lambda as a `def` of one `return`."""
    body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
    definition = ast.FunctionDef(
        name="lambda", args=node.args, body=body, decorator_list=[], returns=None
    )
    return ast.copy_location(definition, node)


def _same_parameters(node: Definition | ast.Lambda, code: types.CodeType) -> bool:
    """A file that was edited after the import may hold another function at this line."""
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    return tuple(names) == code.co_varnames[: code.co_argcount]


def _characters(line: str, utf8_offset: int) -> int:
    if line.isascii():
        return utf8_offset
    return len(line.encode()[:utf8_offset].decode(errors="ignore"))
