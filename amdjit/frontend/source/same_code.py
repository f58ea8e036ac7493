"""Whether a definition in a text is what Python compiled a function from.

The definition is compiled alone and compared with the function's code object. What code objects do
not hold, the annotations of local variables, is asked for separately by `reading`.
"""

from __future__ import annotations

import ast
import dis
import importlib.machinery
import re
import types
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

__all__ = ["has_local_annotations", "is_compiled_from", "same_annotations"]

# CO_NESTED, and CO_METHOD of Python 3.14: they say where a definition stands.
_PLACE_FLAGS = 0x10 | 0x8000000
# PEP 563 and the other __future__ imports: CO_FUTURE_* flags stand above those of functions.
_FUTURE_FLAGS = 0x20000 | 0x40000 | 0x80000 | 0x100000 | 0x200000 | 0x400000 | 0x800000 | 0x1000000

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def is_compiled_from(
    function: types.FunctionType, node: Definition, lines: tuple[str, ...]
) -> bool:
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
    node: Definition, code: types.CodeType, imports: tuple[ast.stmt, ...]
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


def _is_instrumented(function: types.FunctionType, node: Definition) -> bool:
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


def _without_asserts(node: Definition) -> Definition:
    copy = ast.parse(ast.unparse(node)).body[0]
    if isinstance(copy, ast.Expr):
        assert isinstance(copy.value, ast.Lambda)
        found: Definition = copy.value
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


def has_local_annotations(node: Definition) -> bool:
    """Whether a definition annotates variables: Python's code has no trace of that."""
    return any(isinstance(inner, ast.AnnAssign) for inner in ast.walk(node))


def same_annotations(function: types.FunctionType, node: Definition) -> bool:
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
