"""Methods of records that Python's operators and functions call: `__add__`, `__eq__`,
`__getitem__`, `__len__`."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Mapping

from amdjit.declarations import DeviceFunction
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.types import VOID

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_UNARY: Mapping[type[ast.unaryop], str] = {
    ast.USub: "__neg__",
    ast.UAdd: "__pos__",
    ast.Invert: "__invert__",
}
_COMPARISONS: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
}


def special_method(value: Value, name: str) -> DeviceFunction | None:
    """Return the method that a record's class defines under a name; methods that Python generates
    do not count."""
    python = _class(value)
    found = None if python is None else inspect.getattr_static(python, name, None)
    if isinstance(found, DeviceFunction):
        return found
    # dataclasses compiles its generated methods, such as __eq__, from text without a file.
    if isinstance(found, types.FunctionType) and found.__code__.co_filename != "<string>":
        return DeviceFunction(found)
    return None


def _class(value: Value) -> type | None:
    return (
        value.structure.python
        if isinstance(value, TupleValue) and value.structure is not None
        else None
    )


def is_dataclass_record(value: Value) -> bool:
    """Whether a value is a record that is not a tuple in Python: it has only the operators that its
    class defines."""
    python = _class(value)
    return python is not None and not issubclass(python, tuple)


def operator_name(kind: type[ast.operator]) -> str:
    """Return the method that an operator calls."""
    return f"__{_BINARY[kind]}__"


def binary_method(
    builder: FunctionBuilder, kind: type[ast.operator], left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Type `left kind right` if a record's class defines it, reflected or not; None if none
    does."""
    return _first_of(builder, (operator_name(kind), f"__r{_BINARY[kind]}__"), left, right, node)


def in_place_method(
    builder: FunctionBuilder, kind: type[ast.operator], left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Type `left kind= right` if the class of the left record defines it; None if it does not."""
    result = call_method_of(builder, left, f"__i{_BINARY[kind]}__", (right,), node)
    return None if isinstance(result, CompileTime) and result.value is NotImplemented else result


def comparison_method(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Type a comparison that a record's class defines, reflected or not; None if none does."""
    return _first_of(builder, _COMPARISONS[kind], left, right, node)


def unary_method(
    builder: FunctionBuilder, kind: type[ast.unaryop], operand: Value, node: ast.AST
) -> Value | None:
    """Type `-record` and the other unary operators; None if the class does not define it."""
    return call_method_of(builder, operand, _UNARY[kind], (), node)


def call_method_of(
    builder: FunctionBuilder,
    receiver: Value,
    name: str,
    arguments: tuple[Value, ...],
    node: ast.AST,
) -> Value | None:
    """Call a record's method; None if its class does not define it."""
    function = special_method(receiver, name)
    if function is None:
        return None
    assert isinstance(node, ast.expr | ast.AugAssign)
    result = builder.session.call(builder, function, (receiver, *arguments), {}, node)  # type: ignore[arg-type]
    if isinstance(result, tree.Expression) and result.type == VOID:
        builder.emit(tree.Evaluate(builder.span(node), result))
        return CompileTime(None)
    return result


def _first_of(
    builder: FunctionBuilder, names: tuple[str, str], left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Ask the left operand, then the right one; take the first answer that is not
    NotImplemented."""
    attempts = [(left, names[0], right), (right, names[1], left)]
    if _comes_first(_class(right), _class(left), names[1]):
        attempts.reverse()
    if _class(left) is _class(right) and names not in _COMPARISONS.values():
        attempts = attempts[:1]
    if not any(special_method(receiver, name) for receiver, name, _ in attempts):
        return None
    # More than one method may be called, and the right operand's takes the operands in the other
    # order.
    first, second = builder.in_order((left, right), node)
    attempts = [
        (first, name, second) if receiver is left else (second, name, first)
        for receiver, name, _ in attempts
    ]
    for receiver, name, other in attempts:
        result = call_method_of(builder, receiver, name, (other,), node)
        if result is not None and not (
            isinstance(result, CompileTime) and result.value is NotImplemented
        ):
            return result
    return None


def _comes_first(right: type | None, left: type | None, name: str) -> bool:
    """Python asks the right operand first if its class is a subclass of the left operand's and has
    its own method."""
    if right is None or left is None or right is left or not issubclass(right, left):
        return False
    return inspect.getattr_static(right, name, None) is not inspect.getattr_static(left, name, None)
