"""A kernel's function as Python runs it: its own lines, with marks for what Python alone would do
otherwise.

    x = 0                              x = 0
    for i in range(n):                 .rounds0 = 0
                                       .items0 = range(n)
                                       x = .carried(PLACE, x, .items0)
                                       for i in .items0:
        x += a[i] ** 2                     .rounds0 += 1
                                           x = .carried(PLACE, x, .items0)
                                           x += .power(a[i], 2)
                                       x = .carried(PLACE, x, .items0)
    v[0] = x                           v = .put(v, 0, x)
    y: f32 = x                         y = .annotated(f32, x)

Each mark has the line that it stands for, so that a debugger shows and steps through the source as
it was written. Names with a dot are no names that a program can have. PLACE is a constant that says
which loop it is and the variable's name. What a round leaves is carried to the next one, too. The
rounds of loops say how far a work-item is in the program, where those of a wave meet.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator, Sequence
from typing import Any

from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.source.reading import FunctionSource, read_source
from amdjit.late_methods import dataclass

__all__ = ["ANNOTATED", "CARRIED", "POWER", "PUT", "Loop", "PlainCode", "plain_code"]

CARRIED, POWER, PUT, ANNOTATED = ".carried", ".power", ".put", ".annotated"
"""The functions that the marks call: the globals of the function have them."""

_BEYOND = 1 << 62
_FUTURE_FLAGS = 0x1FE0000
_Loop = ast.For | ast.While


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a function."""

    counter: str
    """The variable that counts its rounds."""
    first: int
    """Its first line."""
    last: int


@dataclass(frozen=True, slots=True)
class PlainCode:
    """The marked code of a function."""

    code: types.CodeType
    loops: tuple[Loop, ...]
    """Its loops, outer ones before those within them."""


def plain_code(function: types.FunctionType, has_annotations: bool) -> PlainCode:
    """Return the marked code of a function.

    has_annotations: whether annotations of its parameters and variables are types. CompileError if
    its source cannot be read.
    """
    source = read_source(function)
    node = copy.deepcopy(source.node)
    # Its own name would be a variable of the function around it.
    node.decorator_list, node.name = [], ".function"
    marks = _Marks(function.__code__, has_annotations, source)
    node.body = [*marks.parameters(node), *marks.block(node.body)]
    node.returns = None
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    node.args.defaults = [
        ast.copy_location(ast.Constant(None), each) for each in node.args.defaults
    ]
    node.args.kw_defaults = [
        each and ast.copy_location(ast.Constant(None), each) for each in node.args.kw_defaults
    ]
    module = _enclosed(node, function.__code__.co_freevars)
    flags = function.__code__.co_flags & _FUTURE_FLAGS
    whole = compile(module, function.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    code = next(each for each in _codes(whole) if each.co_name == node.name)
    named = ("co_name", "co_qualname")  # the second from Python 3.11 on
    names: dict[str, Any] = {
        each: getattr(function.__code__, each) for each in named if hasattr(code, each)
    }
    return PlainCode(code.replace(**names), tuple(marks.loops))


def _enclosed(node: ast.FunctionDef, captured: Sequence[str]) -> ast.Module:
    """Put a definition into a function that has the variables that it captures."""
    module = ast.parse("def enclosing(): pass" + "".join(f"; {name} = None" for name in captured))
    enclosing = module.body[0]
    assert isinstance(enclosing, ast.FunctionDef)
    enclosing.name = ".enclosing"
    enclosing.body.append(node)
    return ast.fix_missing_locations(module)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


class _Marks(ast.NodeTransformer):
    """Adds the marks to the statements of a function."""

    def __init__(self, code: types.CodeType, has_annotations: bool, source: FunctionSource) -> None:
        self.loops: list[Loop] = []
        self._source = source
        self._leaving: list[list[ast.stmt]] = []
        # Variables that inner functions have too are not assigned here alone.
        self._locals = set(code.co_varnames)
        self._has_annotations = has_annotations

    def parameters(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """Return statements that convert annotated parameters."""
        if not self._has_annotations:
            return []
        given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        return [
            _at(_assign(each.arg, _call(ANNOTATED, _annotation(each.annotation), _name(each.arg))),
                node)
            for each in given
            if each.annotation is not None
        ]  # fmt: skip

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements with marks."""
        made: list[ast.stmt] = []
        for statement in statements:
            found: Any = self.visit(statement)
            made += found if isinstance(found, list) else [found]
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Mark an inner function: its variables are its own."""
        inner = _Marks.__new__(_Marks)
        inner.loops, inner._has_annotations = self.loops, False
        inner._locals, inner._source, inner._leaving = set(), self._source, []
        node.body = inner.block(node.body)
        return node

    def visit_For(self, node: ast.For) -> Any:
        """Count the rounds, and carry what the loop assigns."""
        loop = self._loop(node)
        items = f".items{loop.counter.removeprefix('.rounds')}"
        carried = self._carried(node, assigned_names([node.target]), items)
        self._leaving.append([])  # the marks at the beginning of a round and after the loop do
        given = self.visit(node.iter)
        node.iter = _at(_name(items), node.iter)
        node.target = self.visit(node.target)
        return [
            _at(_assign(loop.counter, ast.Constant(0)), node),
            _at(_assign(items, given), node),
            *carried,
            self._counted(node, loop, carried),
            *copy.deepcopy(carried),
        ]

    def visit_While(self, node: ast.While) -> Any:
        """Count the rounds, and carry what the loop assigns."""
        loop = self._loop(node)
        carried = self._carried(node, frozenset(), None)
        node.test = self.visit(node.test)
        self._leaving.append(carried)
        counted = self._counted(node, loop, [])
        counted.body += copy.deepcopy(carried)
        return [
            _at(_assign(loop.counter, ast.Constant(0)), node),
            *carried,
            counted,
        ]

    def visit_Break(self, node: ast.Break) -> Any:
        """Carry what the round leaves."""
        return [*self._left(node), node]

    def visit_Continue(self, node: ast.Continue) -> Any:
        """Carry what the round leaves."""
        return [*self._left(node), node]

    def _left(self, node: ast.stmt) -> list[ast.stmt]:
        return [_moved(each, node) for each in copy.deepcopy(self._leaving[-1])]

    def _carried(self, node: _Loop, own: frozenset[str], items: str | None) -> list[ast.stmt]:
        """Return statements that give what a loop changes the type that it has in the loop."""
        span = self._source.span(node)
        given = [] if items is None else [_name(items)]
        made = []
        for name in sorted(assigned_names(node.body) - own):
            place: Any = (span.file, span.line, span.column, name)
            change = _assign(name, _call(CARRIED, ast.Constant(place), _name(name), *given))
            unbound = ast.ExceptHandler(ast.Name("NameError", ast.Load()), None, [ast.Pass()])
            made.append(_at(ast.Try([change], [unbound], [], []), node))
        return made

    def _loop(self, node: _Loop) -> Loop:
        number = len(self.loops)
        loop = Loop(f".rounds{number}", node.lineno, node.end_lineno or node.lineno)
        self.loops.append(loop)
        return loop

    def _counted(self, node: _Loop, loop: Loop, carried: list[ast.stmt]) -> _Loop:
        """Count the rounds of a loop. carried: marks for the beginning of a round."""
        place = node.body[0]
        count = ast.AugAssign(ast.Name(loop.counter, ast.Store()), ast.Add(), ast.Constant(1))
        marks = [_moved(each, place) for each in copy.deepcopy(carried)]
        node.body = [_at(count, place), *marks, *self.block(node.body)]
        self._leaving.pop()
        if node.orelse:
            # Those in the `else` have left the loop, after however many rounds.
            left = _at(_assign(loop.counter, ast.Constant(_BEYOND)), node.orelse[0])
            node.orelse = [left, *self.block(node.orelse)]
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Let an assignment to an element make a new vector."""
        node.value = self.visit(node.value)
        if len(node.targets) == 1 and (name := self._base(node.targets[0])) is not None:
            target = node.targets[0]
            assert isinstance(target, ast.Subscript)
            index = self.visit(target.slice)
            return _at(_assign(name, _call(PUT, _name(name), index, node.value)), node)
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Powers are functions, and elements of vectors those of new ones."""
        value = self.visit(node.value)
        name = self._base(node.target)
        if name is not None:
            assert isinstance(node.target, ast.Subscript)
            # The index is evaluated once, before the value.
            index = self.visit(node.target.slice)
            held = ".index"
            old = ast.Subscript(_name(name), _name(held), ast.Load())
            changed = self._operation(node.op, old, value)
            return [
                _at(_assign(held, index), node),
                _at(_assign(name, _call(PUT, _name(name), _name(held), changed)), node),
            ]
        if isinstance(node.op, ast.Pow) and isinstance(node.target, ast.Name):
            power = _call(POWER, _name(node.target.id), value)
            return _at(_assign(node.target.id, power), node)
        node.target, node.value = self.visit(node.target), value
        return node

    def _operation(self, operator: ast.operator, left: ast.expr, right: ast.expr) -> ast.expr:
        if isinstance(operator, ast.Pow):
            return _call(POWER, left, right)
        return ast.BinOp(left, operator, right)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Let an annotation convert."""
        if node.value is None:
            return _at(ast.Pass(), node)
        value = self.visit(node.value)
        if self._has_annotations:
            value = _call(ANNOTATED, _annotation(node.annotation), value)
        return _at(ast.Assign([node.target], value), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Let the language compute powers."""
        left, right = self.visit(node.left), self.visit(node.right)
        return _at(self._operation(node.op, left, right), node)

    def _base(self, target: ast.expr) -> str | None:
        """Return the local variable of which an element is assigned."""
        is_local = (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and target.value.id in self._locals
        )
        return target.value.id if is_local else None  # type: ignore[attr-defined]


def _annotation(node: ast.expr | None) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return ast.parse(node.value, mode="eval").body
    assert node is not None
    return node


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_name(function), list(arguments), [])


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _at(node: Any, place: Any) -> Any:
    """Give a mark and its parts the place of what they stand for; parts of the source keep
    theirs."""
    for part in ast.walk(node):
        if isinstance(part, (ast.stmt, ast.expr, ast.ExceptHandler)) and not hasattr(
            part, "lineno"
        ):
            part.lineno = part.end_lineno = place.lineno
            part.col_offset = part.end_col_offset = place.col_offset
    return node


def _moved(mark: ast.stmt, place: ast.stmt) -> ast.stmt:
    """Give a mark and its parts another place."""
    for part in ast.walk(mark):
        if isinstance(part, (ast.stmt, ast.expr, ast.ExceptHandler)):
            ast.copy_location(part, place)
    return mark
