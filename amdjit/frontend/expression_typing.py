"""Expressions: the table from nodes of `ast` to the functions that type them, with names, constants
and attributes."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from amdjit.declarations import Coordinates, DeviceFunction, Property
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import ExpressionHandler, FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import similar_names
from amdjit.frontend.calls.closures import lambda_value, refreshed
from amdjit.frontend.calls.dispatch import call, call_declared
from amdjit.frontend.expressions.array_attributes import array_attribute
from amdjit.frontend.expressions.comparisons import compare, container
from amdjit.frontend.expressions.conditional import both, chosen, either, tested
from amdjit.frontend.expressions.fields import field, is_element
from amdjit.frontend.expressions.formatted_text import constant_text
from amdjit.frontend.expressions.likely_mistakes import check_precedence
from amdjit.frontend.expressions.operators import binary, unary
from amdjit.frontend.expressions.records import Getter, record_attribute
from amdjit.frontend.expressions.subscripts import subscript
from amdjit.frontend.expressions.views import slice_value
from amdjit.frontend.iteration.comprehensions import comprehension
from amdjit.frontend.names.scope import (
    bind,
    checked_size,
    read_name,
    value_of_object,
    value_outside,
)
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, FunctionValue, Method, TupleValue, Value
from amdjit.frontend.values.structures import is_own_value
from amdjit.tree import nodes as tree
from amdjit.types import Array, Scalar, Type, Vector, boolean


def constant(builder: FunctionBuilder, node: ast.Constant) -> Value:
    """A literal."""
    return CompileTime(node.value)


def name(builder: FunctionBuilder, node: ast.Name) -> Value:
    """A name."""
    value = read_name(builder, node.id, node)
    if isinstance(value, (TupleValue, FunctionValue)):
        return refreshed(builder, value)
    return _read_property(builder, value, node)


def _read_property(builder: FunctionBuilder, value: Value, node: ast.expr) -> Value:
    if isinstance(value, CompileTime) and isinstance(value.value, Property):
        return call_declared(builder, value.value.getter, Arguments((), {}), node)
    return value


def tuple_display(builder: FunctionBuilder, node: ast.Tuple) -> Value:
    """A tuple; `*other` inserts the items of another tuple."""
    items: list[Value] = []
    values = builder.evaluate_all([e.value if isinstance(e, ast.Starred) else e for e in node.elts])
    # An item may stay unused, but its effects must happen.
    for element, value in zip(node.elts, builder.in_order(values, node), strict=True):
        if not isinstance(element, ast.Starred):
            items.append(value)
        elif isinstance(value, TupleValue):
            items += value.items
        else:
            raise builder.error(codes.NOT_INDEXABLE, element, type=describe(value))
    return checked_size(builder, TupleValue(tuple(items)), node)


def binary_operation(builder: FunctionBuilder, node: ast.BinOp) -> Value:
    """`left + right` and the other binary operators."""
    left, right = builder.evaluate_all((node.left, node.right))
    return binary(builder, type(node.op), left, right, node)


def unary_operation(builder: FunctionBuilder, node: ast.UnaryOp) -> Value:
    """`-x` and the other unary operators."""
    if isinstance(node.op, ast.Not):
        return tested(builder, node)
    return unary(builder, type(node.op), builder.evaluate(node.operand), node)


def comparison(builder: FunctionBuilder, node: ast.Compare) -> Value:
    """`a < b < c`: each operand is evaluated at most once, and only if it is needed."""
    check_precedence(builder, node)
    left = builder.evaluate(node.left)
    return _compare_rest(builder, left, list(zip(node.ops, node.comparators, strict=True)), node)


def _compare_rest(
    builder: FunctionBuilder, left: Value, rest: list[tuple[ast.cmpop, ast.expr]], node: ast.Compare
) -> Value:
    operator, comparator = rest[0][0], container(*rest[0])
    (left,), right = builder.evaluate_after((left,), comparator)
    if len(rest) == 1:
        return compare(builder, type(operator), left, right, node)
    left, right = builder.evaluate_now(left, node), builder.hold(right, "middle", comparator)
    first = compare(builder, type(operator), left, right, node)
    return both(builder, first, lambda: _compare_rest(builder, right, rest[1:], node), node)


def boolean_operation(builder: FunctionBuilder, node: ast.BoolOp) -> Value:
    """`and`, `or`: as in Python the result is one of the operands, and the right one is evaluated
    only if it is needed."""
    combine = both if isinstance(node.op, ast.And) else either

    def from_index(index: int) -> Value:
        value = builder.evaluate(node.values[index])
        if index + 1 == len(node.values):
            return value
        return combine(builder, value, lambda: from_index(index + 1), node)

    return from_index(0)


def conditional(builder: FunctionBuilder, node: ast.IfExp) -> Value:
    """`a if condition else b`: with a compile-time condition only one side is typed."""
    return chosen(builder, node, builder.evaluate)


def assignment_expression(builder: FunctionBuilder, node: ast.NamedExpr) -> Value:
    """`(name := value)`."""
    bind(builder, node.target.id, builder.evaluate(node.value), node.target)
    return read_name(builder, node.target.id, node.target)


def attribute(builder: FunctionBuilder, node: ast.Attribute) -> Value:
    """`array.shape`, `threadIdx.x`, `module.name`."""
    owner = builder.evaluate(node.value)
    if is_element(owner) and isinstance(owner, tree.Expression):
        return field(builder, owner, node.attr, node)
    if isinstance(owner, tree.Expression) and isinstance(owner.type, Array):
        return array_attribute(builder, owner, owner.type, node)
    if isinstance(owner, tree.Expression):
        known = _attribute_of_number(builder, owner, node)
        if known is not None:
            return known
    method = method_of_number(builder, owner, node.attr)
    if method is not None:
        return method
    if isinstance(owner, TupleValue) and owner.structure is not None:
        found = record_attribute(builder, owner, owner.structure, node)
        if isinstance(found, Getter):
            return call_declared(builder, found.function, Arguments((owner,), {}), node)
        return found
    if isinstance(owner, CompileTime):
        return _object_attribute(builder, owner.value, node)
    remedy = (
        "its items can be read by index"
        if isinstance(owner, TupleValue)
        else "index it, or convert it"
    )
    if isinstance(owner, tree.Expression) and isinstance(owner.type, Vector):
        remedy = "read elements by index: `v[0]`"
    raise builder.error(
        codes.NO_ATTRIBUTE, node, type=describe(owner), attribute=node.attr, remedy=remedy
    )


def _attribute_of_number(
    builder: FunctionBuilder, owner: tree.Expression, node: ast.Attribute
) -> Value | None:
    """Type `x.dtype`, and `x.real` and `x.imag` of a real number; None for other attributes."""
    type, name = owner.type, node.attr
    if isinstance(type, (Scalar, Vector)) and name == "dtype":
        builder.discard(owner, node)
        return CompileTime(type.element if isinstance(type, Vector) else type)
    if not isinstance(type, Scalar) or type is boolean or name not in ("real", "imag"):
        return None
    if name == "real":
        return owner
    builder.discard(owner, node)
    return convert(builder, CompileTime(0), type, node)


def method_of_number(builder: FunctionBuilder, owner: Value, name: str) -> Method | None:
    """Return a method that Python's `int` has, of an integer that is computed at run time."""
    kind = owner.type if isinstance(owner, tree.Expression) else None
    if not isinstance(kind, Scalar) or not kind.is_integer:
        return None
    function = builder.session.builtins.get(vars(int).get(name))
    return Method(owner, name, function) if isinstance(function, DeviceFunction) else None


_OF_NONE = "a function that returns nothing gives None: call it without assigning its result"


def _object_attribute(builder: FunctionBuilder, owner: object, node: ast.Attribute) -> Value:
    try:
        value = getattr(owner, node.attr)
    except AttributeError:
        raise builder.error(
            codes.NO_ATTRIBUTE,
            node,
            type=describe(CompileTime(owner)),
            attribute=node.attr,
            remedy=_OF_NONE if owner is None else similar_names(owner, node.attr),
        ) from None
    except Exception as problem:
        raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem
    if not isinstance(owner, (Type, Coordinates)) and not is_own_value(owner):
        found = value_outside(builder, owner, node.attr, value, node)
    else:
        found = value_of_object(builder, value, node.attr, node)
    return _read_property(builder, found, node)


def _refuse(expression: str, remedy: str) -> ExpressionHandler:
    def handler(builder: FunctionBuilder, node: ast.expr) -> Value:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION, node, expression=expression, remedy=remedy
        )

    return handler


_COMPREHENSION = "write a loop, a tuple, or `(... for x in items)`"
EXPRESSIONS: Mapping[type[ast.expr], ExpressionHandler] = {
    ast.Attribute: attribute,
    ast.BinOp: binary_operation,
    ast.BoolOp: boolean_operation,
    ast.Call: call,
    ast.Compare: comparison,
    ast.Constant: constant,
    ast.IfExp: conditional,
    ast.Name: name,
    ast.Slice: slice_value,
    ast.Subscript: subscript,
    ast.Tuple: tuple_display,
    ast.UnaryOp: unary_operation,
    ast.Await: _refuse("`await`", "kernels run to their end"),
    ast.Dict: _refuse("a dict", "use arrays or tuples"),
    ast.DictComp: _refuse("a dict comprehension", _COMPREHENSION),
    ast.GeneratorExp: comprehension,
    ast.JoinedStr: constant_text,
    ast.Lambda: lambda_value,
    ast.List: _refuse("a list", "use a tuple, `local.array(shape, dtype)` or a vector"),
    ast.ListComp: comprehension,
    ast.NamedExpr: assignment_expression,
    ast.Set: _refuse("a set", "use a tuple"),
    ast.SetComp: _refuse("a set comprehension", _COMPREHENSION),
    ast.Starred: _refuse("`*` here", "write the items out"),
    ast.Yield: _refuse("`yield`", "write results to an array"),
    ast.YieldFrom: _refuse("`yield from`", "write results to an array"),
}
