"""Powers: `x ** n`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import complex_type, convert, is_complex, scalar_of_complex
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.operands import sample_of, strong_pair
from amdjit.frontend.expressions import complexes
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.frontend.values.promotion import common_scalar, literal_type
from amdjit.frontend.values.weak_types import wide_type
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, boolean, u64

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
    if is_complex(exponent) or (is_complex(base) and not is_exponent):
        return complexes.power(builder, base, exponent, node)
    if not is_exponent and (common := _integer_type(builder, base, exponent)) is not None:
        return _integer_power(builder, base, exponent, common, node)
    if not is_exponent or not (isinstance(base, tree.Expression) or is_complex(base)):
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator="**",
            left=describe(base),
            right=describe(exponent),
            remedy="use an exponent that is not negative, or a float operand: `f32(x) ** n`",
        )
    assert isinstance(value, int)
    if isinstance(base, tree.Expression) and not builder.rules.has_weak_literals:
        base = convert(builder, base, strong_pair(builder, base, exponent, "**") or base.type, node)
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
    if not builder.rules.has_weak_literals:
        strong = strong_pair(builder, base, exponent, "**")
        return strong if isinstance(strong, Scalar) and strong.is_float else None
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
    return _called(builder, math.pow, (base, exponent), (common, common), node)


def _called(
    builder: FunctionBuilder,
    function: object,
    values: tuple[Value, Value],
    types: tuple[Scalar, Scalar],
    node: ast.AST,
) -> Value:
    """Call a function of powers; the result has no width where that of the operands is open."""
    declared = builder.session.builtins[function]

    def called(types: tuple[Scalar, Scalar]) -> Value:
        pairs = zip(values, types, strict=True)
        operands = tuple(convert(builder, value, type, node) for value, type in pairs)
        return builder.session.call(builder, declared, operands, {}, node)  # type: ignore[arg-type]

    def in_64_bits() -> tree.Expression:
        wide = wide_type(types[0])
        again = called((wide, wide))
        assert isinstance(again, tree.Expression)
        return again

    result = called(types)
    weak_types = builder.weak_types
    if isinstance(result, tree.Expression) and weak_types.are_weak(values, types[0]):
        weak_types.expressions.add(result)
        weak_types.again[result] = in_64_bits
    return result


def _integer_type(builder: FunctionBuilder, base: Value, exponent: Value) -> Scalar | None:
    """Return the type of a power of integers, None for other operands and negative constants."""
    if isinstance(exponent, CompileTime) and not _is_count(exponent.value):
        return None
    types: list[Scalar] = []
    for value, other in ((base, exponent), (exponent, base)):
        sample = sample_of(builder, value)
        if sample is None and isinstance(value, tree.Expression) and isinstance(value.type, Scalar):
            types.append(value.type)
        elif isinstance(sample, int) and isinstance(other, tree.Expression):
            taken = (
                builder.rules.literal_type(sample, other.type)
                if builder.rules.has_weak_literals
                else builder.rules.default_type(sample)
            )
            types += [] if taken is None else [taken]
    if len(types) < 2 or not all(type.is_integer or type is boolean for type in types):
        return None
    common = builder.rules.operand_type("**", *types) or u64
    return builder.rules.integer if common is boolean else common  # type: ignore[return-value]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def _integer_power(
    builder: FunctionBuilder, base: Value, exponent: Value, common: Scalar, node: ast.AST
) -> Value:
    """`x ** n` of integers, with an n that is known only at run time."""
    kind = exponent.type if isinstance(exponent, tree.Expression) else common
    count = common if sample_of(builder, exponent) is not None or kind is boolean else kind
    assert isinstance(count, Scalar)
    return _called(builder, int.__pow__, (base, exponent), (common, count), node)


def _one(builder: FunctionBuilder, base: Value, node: ast.AST) -> Value:
    if isinstance(base, tree.Expression):
        return convert(builder, CompileTime(1), base.type, node)
    return builder.unpack(
        convert(builder, CompileTime(1), complex_type(scalar_of_complex(builder, base)), node)
    )
