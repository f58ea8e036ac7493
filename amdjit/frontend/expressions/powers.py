"""Powers: `x ** n`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import complex_type, convert, is_complex, scalar_of_complex
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.operands import sample_of
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.frontend.values.promotion import common_scalar, literal_type
from amdjit.tree import nodes as tree
from amdjit.types import Scalar

_LARGEST_POWER = 64


def power(
    builder: FunctionBuilder,
    base: Value,
    exponent: Value,
    node: ast.AST,
    multiply: Callable[[Value, Value], Value],
) -> Value:
    """Type `base ** exponent`. A small constant exponent becomes multiplications by repeated
    squaring."""
    value = exponent.value if isinstance(exponent, CompileTime) else None
    is_exponent = isinstance(value, int) and 0 <= value <= _LARGEST_POWER
    if not is_exponent and (common := _float_type(builder, base, exponent)) is not None:
        return _float_power(builder, base, exponent, common, node)
    if not is_exponent or not (isinstance(base, tree.Expression) or is_complex(base)):
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator="**",
            left=describe(base),
            right=describe(exponent),
            remedy=f"use a constant exponent in 0..{_LARGEST_POWER}, or a float operand",
        )
    assert isinstance(value, int)
    held = builder.hold(base, "base", node)
    one = _one(builder, base, node)
    result: Value = one
    while value:
        if value & 1:
            result = held if result is one else multiply(result, held)
        value >>= 1
        if value:
            held = builder.hold(multiply(held, held), "base", node)
    return result


def _float_type(builder: FunctionBuilder, base: Value, exponent: Value) -> Scalar | None:
    """Return the common type of two numbers if that is a float."""
    samples = [sample_of(builder, value) for value in (base, exponent)]
    typed = [
        value for value, sample in zip((base, exponent), samples, strict=True) if sample is None
    ]
    types = [v.type for v in typed if isinstance(v, tree.Expression) and isinstance(v.type, Scalar)]
    weak = [sample for sample in samples if sample is not None]
    if not types or len(types) < len(typed) or not all(isinstance(w, (int, float)) for w in weak):
        return None
    common = common_scalar(types[0], types[-1])
    if weak and common is not None:
        common = literal_type(weak[0], common)  # type: ignore[arg-type]
    return common if common is not None and common.is_float and not common.storage_only else None


def _float_power(
    builder: FunctionBuilder, base: Value, exponent: Value, common: Scalar, node: ast.AST
) -> Value:
    """`x ** y` of floats."""
    function = builder.session.builtins[math.pow]
    operands = tuple(convert(builder, value, common, node) for value in (base, exponent))
    result = builder.session.call(builder, function, operands, {}, node)  # type: ignore[arg-type]
    return result


def _one(builder: FunctionBuilder, base: Value, node: ast.AST) -> Value:
    if isinstance(base, tree.Expression):
        return convert(builder, CompileTime(1), base.type, node)
    return builder.unpack(
        convert(builder, CompileTime(1), complex_type(scalar_of_complex(base)), node)
    )
