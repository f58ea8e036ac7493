"""Device functions that were declared with signatures: their arguments take the types of one.

Numbers are converted by the rule of `language/conversion_ranks.py`, as those of launches are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.names.parameters import array_matches
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.call_signatures import CallSignature
from amdjit.language.conversion_ranks import EXACT, UNSAFE, WIDER, conversion, cost
from amdjit.tree import nodes as tree
from amdjit.types import VOID, Array, Layout, Scalar, Tuple, Type, boolean, f64, i64

__all__ = ["as_declared", "result_of"]


def as_declared(
    builder: FunctionBuilder, function: DeviceFunction, arguments: dict[str, Value], node: ast.expr
) -> tuple[CallSignature, dict[str, Value]]:
    """Return the signature that fits a call's arguments best, and the arguments in its types."""
    ranked = []
    for signature in function.signatures:
        pairs = zip(arguments.values(), signature.args, strict=True)
        ranks = [_rank(builder, *pair) for pair in pairs]
        known = [rank for rank in ranks if rank is not None]
        if len(known) == len(ranks):
            ranked.append((cost(known), signature))
    if not ranked:
        raise builder.error(
            codes.NO_SIGNATURE,
            node,
            function=function.function.__name__,
            found=", ".join(map(describe, arguments.values())),
            signatures=", ".join(map(str, function.signatures)),
        )
    # As in Numba, the first of several that fit a device function equally well is taken.
    chosen = min(ranked, key=lambda each: each[0])[1]
    parts = zip(arguments.items(), chosen.args, strict=True)
    return chosen, {name: _converted(builder, value, kind, node) for (name, value), kind in parts}


def result_of(
    builder: FunctionBuilder, signature: CallSignature, value: Value, node: ast.expr
) -> Value:
    """Return a call's result in the type that the signature says, if it says one."""
    kind = signature.return_type
    is_nothing = isinstance(value, CompileTime) and value.value is None
    is_nothing |= isinstance(value, tree.Expression) and value.type == VOID
    if kind is None or (kind == VOID and is_nothing):
        return value
    if is_nothing or kind == VOID or not _fits(builder, value, kind):
        raise builder.error(
            codes.NO_CONVERSION,
            node,
            source=describe(value),
            target=kind,
            remedy="change the result's type in the signature",
        )
    return _converted(builder, value, kind, node)


def _fits(builder: FunctionBuilder, value: Value, kind: Type) -> bool:
    """Whether a result converts to the type that the signature says."""
    found = _number_type(builder, value)
    if found is not None and _as_stored(builder, found, kind):
        return True
    return _rank(builder, value, kind) is not None


def _as_stored(builder: FunctionBuilder, found: Scalar, kind: Type) -> bool:
    """Whether a number converts as it would where it is stored, which holds for Numba's typing."""
    return not builder.rules.has_weak_literals and builder.rules.assignable(found, kind)


def _rank(builder: FunctionBuilder, value: Value, kind: Type) -> int | None:
    if isinstance(kind, Scalar):
        found = _number_type(builder, value)
        if found is None:
            return None
        rank = conversion(found, kind)
        if rank is None and _as_stored(builder, found, kind):
            return UNSAFE
        return rank
    if isinstance(kind, Array):
        found_array = value.type if isinstance(value, tree.Expression) else None
        if not isinstance(found_array, Array) or not array_matches(found_array, kind):
            return None
        return WIDER if kind.layout is Layout.ANY else EXACT
    if isinstance(kind, Tuple):
        return _tuple_rank(builder, value, kind)
    found_type = value.type if isinstance(value, tree.Expression) else None
    return EXACT if found_type == kind else None


def _tuple_rank(builder: FunctionBuilder, value: Value, kind: Tuple) -> int | None:
    if not isinstance(value, TupleValue):
        is_complex = isinstance(value, CompileTime) and isinstance(value.value, complex)
        return WIDER if is_complex and kind.structure is not None else None
    if len(value.items) != len(kind.elements) or value.structure != kind.structure:
        return None
    return _worst(_rank(builder, *pair) for pair in zip(value.items, kind.elements, strict=True))


def _worst(ranks: Iterable[int | None]) -> int | None:
    worst = EXACT
    for rank in ranks:
        if rank is None:
            return None
        worst = max(worst, rank)
    return worst


def _number_type(builder: FunctionBuilder, value: Value) -> Scalar | None:
    """Return the type of a number; Python's own are i64 and f64."""
    if isinstance(value, CompileTime):
        return {bool: boolean, int: i64, float: f64}.get(type(value.value))
    number = builder.weak.number(value)
    if number is not None:
        return {bool: boolean, int: i64}.get(number.kind, f64)
    if isinstance(value, tree.Expression) and isinstance(value.type, Scalar):
        return value.type
    return None


def _converted(builder: FunctionBuilder, value: Value, kind: Type, node: ast.expr) -> Value:
    return value if isinstance(kind, Array) else _unpacked(builder, value, kind, node)


def _unpacked(builder: FunctionBuilder, value: Value, kind: Type, node: ast.expr) -> Value:
    made = convert(builder, value, kind, node)
    return builder.unpack(made) if isinstance(kind, Tuple) else made
