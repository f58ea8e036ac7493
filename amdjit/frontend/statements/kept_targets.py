"""The targets of loops, which the body may change: what they are after an iteration."""

from __future__ import annotations

import ast
from typing import cast

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import Exit
from amdjit.frontend.building.conversion import convert, materialise
from amdjit.frontend.values.kinds import Binding, CompileTime, Marked, Undefined, Value
from amdjit.frontend.values.promotion import literal_fits
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, Type

__all__ = ["keeps", "run_time"]


def run_time(builder: FunctionBuilder, binding: Binding, node: ast.AST) -> tree.Expression:
    """Return a binding as a run-time value."""
    if isinstance(binding, tree.Variable):
        return builder.weak_types.read(tree.Read(builder.span(node), binding.type, binding))
    assert not isinstance(binding, (Undefined, Marked))
    return materialise(builder, binding, node)


def keeps(builder: FunctionBuilder, ways: list[Exit], name: str, variable: tree.Variable) -> bool:
    """Assign a loop target that the body changed back to its variable; return whether the variable
    can hold it."""
    values = [(way, way.names.get(name)) for way in ways]
    changed = [(way, binding) for way, binding in values if binding is not variable]
    for way, binding in changed:
        if not _fits(binding, variable.type):
            return False
        assert binding is not None
        with builder.collect() as added:
            value = _run_time_or_literal(builder, binding, way.node)
            for each in builder.weak_types.widths_of(variable):
                converted = convert(builder, value, each.type, way.node)
                builder.emit(tree.Assign(builder.span(way.node), each, converted))
        way.add(added)
    return True


def _fits(binding: Binding | None, type: Type) -> bool:
    if isinstance(binding, CompileTime):
        number = binding.value
        is_integer = isinstance(number, int) and not isinstance(number, bool)
        return is_integer and isinstance(type, Scalar) and literal_fits(cast(int, number), type)
    return isinstance(binding, (tree.Variable, tree.Expression)) and binding.type == type


def _run_time_or_literal(builder: FunctionBuilder, binding: Binding, node: ast.AST) -> Value:
    return binding if isinstance(binding, CompileTime) else run_time(builder, binding, node)
