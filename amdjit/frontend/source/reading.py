"""From a Python function to its syntax tree, with places in the file as editors show them."""

from __future__ import annotations

import ast
import dis
import functools
import importlib.machinery
import re
import types
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from typing import Any

from amdjit.diagnostics import CompileError, SourceText, Span, codes
from amdjit.diagnostics.source_files import Candidate, texts_of
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


# Whether a definition in a text is what Python compiled a function from.
#
# The definition is compiled alone and compared with the function's code object. What code objects
# do not hold, the annotations of local variables, is asked for separately by `reading`.


# CO_NESTED, and CO_METHOD of Python 3.14: they say where a definition stands.
_PLACE_FLAGS = 0x10 | 0x8000000
# PEP 563 and the other __future__ imports: CO_FUTURE_* flags stand above those of functions.
_FUTURE_FLAGS = 0x20000 | 0x40000 | 0x80000 | 0x100000 | 0x200000 | 0x400000 | 0x800000 | 0x1000000

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def is_compiled_from(function: types.FunctionType, node: Function, lines: tuple[str, ...]) -> bool:
    """Whether Python compiles the definition to the function's code.

    Where a tool has added code to the function (pytest to `assert` statements, type checkers that
    rewrite modules as they are imported), all of the definition's instructions must stand in it, in
    order.
    """
    code, imports = function.__code__, _imports(lines)
    alone = _compiled_alone(node, code, imports)
    if alone is not None and _equal(alone, code):
        return True
    # A notebook compiles each statement of a cell alone, so also without the cell's imports.
    apart = _compiled_alone(node, code, ()) if imports else None
    if apart is not None and _equal(apart, code):
        return True
    if _is_instrumented(function, node) and alone is not None:
        plain = _compiled_alone(_without_asserts(node), code, imports)
        return plain is not None and _is_part(plain, code)
    # Within a class names are mangled: compile the definition where it stands.
    return not isinstance(node, ast.Lambda) and any(
        _equal(found, code) for found in _compiled_in_place(lines, code)
    )


def _compiled_alone(
    node: Function, code: types.CodeType, imports: tuple[ast.stmt, ...]
) -> types.CodeType | None:
    """Compile a definition with the imports of its file, within a function that has the variables
    that it captures."""
    inner = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    captured = "".join(f"; {name} = None" for name in code.co_freevars)
    module = ast.parse(f"def enclosing(): pass{captured}")
    enclosing = module.body[0]
    assert isinstance(enclosing, ast.FunctionDef)
    enclosing.body.append(inner)
    module.body[:0] = imports
    flags = code.co_flags & _FUTURE_FLAGS
    try:
        whole = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = (each for each in _inner_code(whole) if _is_at(each, code))
    return next(found, None)


@lru_cache(maxsize=64)
def _imports(lines: tuple[str, ...]) -> tuple[ast.stmt, ...]:
    """Return the imports of a file: Python compiles calls of `module.function` by whether the name
    was imported."""
    texts: list[str] = []
    is_open = False
    for line in lines:
        text = line.partition("#")[0].strip()
        if is_open:
            texts[-1] += f" {text}"
        elif text.startswith(("import ", "from ")) and "__future__" not in text:
            texts.append(text)
        else:
            continue
        is_open = texts[-1].count("(") > texts[-1].count(")") or text.endswith("\\")
        texts[-1] = texts[-1].removesuffix("\\")
    found: list[ast.stmt] = []
    for text in texts:
        with suppress(SyntaxError):  # a line of a docstring
            found += ast.parse(text).body
    return tuple(found)


def _compiled_in_place(lines: tuple[str, ...], code: types.CodeType) -> Iterator[types.CodeType]:
    flags = code.co_flags & _FUTURE_FLAGS
    try:
        whole = compile("".join(lines), code.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from (found for found in _inner_code(whole) if _is_at(found, code))


def _is_at(found: types.CodeType, code: types.CodeType) -> bool:
    return found.co_name == code.co_name and found.co_firstlineno == code.co_firstlineno


def _inner_code(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner_code(constant)


def _equal(one: types.CodeType, other: types.CodeType) -> bool:
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_freevars == other.co_freevars
        and one.co_cellvars == other.co_cellvars
        and one.co_argcount == other.co_argcount
        and one.co_posonlyargcount == other.co_posonlyargcount
        and one.co_kwonlyargcount == other.co_kwonlyargcount
        and one.co_flags & ~_PLACE_FLAGS == other.co_flags & ~_PLACE_FLAGS
        and _same_constants(one.co_consts, other.co_consts)
    )


def _same_constants(one: Any, other: Any) -> bool:
    """Compare constants as programs can tell them apart: 0, 0.0, -0.0 and False are four."""
    if type(one) is not type(other):
        return False
    if isinstance(one, types.CodeType):
        return _equal(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_constants, one, other))
    if isinstance(one, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return repr(one) == repr(other)


def _is_instrumented(function: types.FunctionType, node: Function) -> bool:
    """Whether a tool may have added code to what the file says."""
    scope = function.__globals__
    loader = getattr(scope.get("__spec__"), "loader", None) or scope.get("__loader__")
    if type(loader).__module__ == "_pytest.assertion.rewrite":
        return any(isinstance(inner, ast.Assert) for inner in ast.walk(node))
    pythons = (importlib.machinery.SourceFileLoader, importlib.machinery.SourcelessFileLoader)
    return isinstance(loader, pythons) and type(loader) not in pythons


class _AssertsDropped(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)


def _without_asserts(node: Function) -> Function:
    copy = ast.parse(ast.unparse(node)).body[0]
    if isinstance(copy, ast.Expr):
        assert isinstance(copy.value, ast.Lambda)
        found: Function = copy.value
    else:
        assert isinstance(copy, (ast.FunctionDef, ast.AsyncFunctionDef))
        found = copy
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    ast.increment_lineno(found, first - 1)
    plain = _AssertsDropped().visit(found)
    assert isinstance(plain, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    return plain


def _is_part(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether the operations of some code stand in other code in this order."""
    rest = iter(_operations(other))
    same_parameters = one.co_argcount == other.co_argcount and (
        one.co_varnames[: one.co_argcount] == other.co_varnames[: one.co_argcount]
    )
    return same_parameters and all(
        any(_same_operation(operation, found) for found in rest) for operation in _operations(one)
    )


_UNCOMPARED = frozenset(
    {"CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "MAKE_CELL", "NOP", "NOT_TAKEN", "RESUME"}
)


def _operations(code: types.CodeType) -> Iterator[tuple[str, object]]:
    """Yield what code does, without the targets of its jumps, and joined loads and stores apart."""
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in _UNCOMPARED:
            continue
        if isinstance(value, tuple) and name.count("_FAST_") > 1:
            parts = re.findall(r"[A-Z]+_FAST", name.replace("_BORROW", ""))
            yield from zip(parts, value, strict=False)
        elif instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            if not name.startswith("JUMP_"):  # conditions, and the heads of loops
                yield re.sub("_FORWARD|_BACKWARD", "", name), None
        else:
            yield name.replace("_BORROW", ""), value


def _same_operation(one: tuple[str, object], other: tuple[str, object]) -> bool:
    if one[0] != other[0]:
        return False
    if isinstance(one[1], types.CodeType) and isinstance(other[1], types.CodeType):
        return _is_part(one[1], other[1])
    return _same_constants(one[1], other[1])


def has_local_annotations(node: Function) -> bool:
    """Whether a definition annotates variables: Python's code has no trace of that."""
    return any(isinstance(inner, ast.AnnAssign) for inner in ast.walk(node))


def same_annotations(function: types.FunctionType, node: Function) -> bool:
    """Whether a function has the annotations of a definition, as far as it can be told without
    evaluating them."""
    try:
        known = dict(function.__annotations__)
    except Exception:  # Python 3.14 evaluates them now: their names may be defined later
        return True
    each = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    written = {argument.arg: argument.annotation for argument in each if argument.annotation}
    known.pop("return", None)
    extra = {argument.arg for argument in (node.args.vararg, node.args.kwarg) if argument}
    if known.keys() - extra != written.keys():
        return False
    return all(
        _same_annotation(known[name], annotation, function.__globals__)
        for name, annotation in written.items()
    )


def _same_annotation(known: Any, node: ast.expr, scope: dict[str, Any]) -> bool:
    if isinstance(known, str):
        text = node.value if isinstance(node, ast.Constant) else ast.unparse(node)
        return isinstance(text, str) and _normal(text) == _normal(known)
    if any(isinstance(inner, (ast.Call, ast.NamedExpr, ast.Await)) for inner in ast.walk(node)):
        return True
    try:
        value = eval(compile(ast.Expression(node), "<annotation>", "eval"), scope)
        return bool(value == known)
    except Exception:  # its names are captured, or have been deleted
        return True


def _normal(annotation: str) -> str:
    try:
        return ast.dump(ast.parse(annotation, mode="eval"))
    except SyntaxError:
        return annotation
