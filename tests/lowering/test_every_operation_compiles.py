"""Every operator, comparison and conversion on every type passes LLVM's verifier and is selected
for gfx1201."""

from __future__ import annotations

from typing import Any

import pytest

from amdjit.tree import nodes as tree
from amdjit.types import SCALARS, Scalar, Vector, boolean, f16, f32, i32, u8, u64
from tests.lowering.llvm_tools import assembly, requires_llvm, verified
from tests.tree.trees import (
    COMPARISONS,
    HERE,
    OPERATORS,
    array,
    compare,
    function,
    load,
    lowered,
    number,
    op,
    read,
    store,
    variable,
)

pytestmark = requires_llvm

ARITHMETIC = [scalar for scalar in SCALARS if not scalar.storage_only and scalar != boolean]
_BITWISE = {"&", "|", "^"}
_INTEGER_ONLY = _BITWISE | {"<<", ">>", "**"}
VECTORS = [Vector(scalar, length) for scalar in ARITHMETIC for length in (2, 3, 8)]


def operators_of(scalar: Scalar) -> list[str]:
    if scalar == boolean:
        return sorted(_BITWISE)
    excluded = _INTEGER_ONLY if scalar.is_float else {"/"}
    return [operator for operator in OPERATORS if operator not in excluded]


def kernel_of_operators(type: Any, constant: int | None) -> tree.Function:
    scalar = type.element if isinstance(type, Vector) else type
    a, out = variable("a", array(type)), variable("out", array(type))
    left = load(read(a), number(0))
    right = load(read(a), number(1)) if constant is None else tree.Constant(HERE, type, constant)
    unary = (
        [tree.UnaryOperator.NOT]
        if scalar == boolean
        else [tree.UnaryOperator.NEGATE, tree.UnaryOperator.ABSOLUTE]
        + ([tree.UnaryOperator.INVERT] if scalar.is_integer else [])
    )
    values: list[Any] = [op(operator, left, right) for operator in operators_of(scalar)]
    values += [tree.Unary(HERE, type, operator, left) for operator in unary]
    return function(
        "k", (a, out), *(store(read(out), (number(n),), value) for n, value in enumerate(values))
    )


@pytest.mark.parametrize("type", [*ARITHMETIC, boolean], ids=str)
def test_every_operator_on_scalars_is_selected(type: Scalar) -> None:
    text = lowered(kernel_of_operators(type, None))
    verified(text)
    assert "s_endpgm" in assembly(text, "-O1")


@pytest.mark.sample(28)
@pytest.mark.parametrize("constant", [1, 2, 7, -1, -2, -7, 0])
@pytest.mark.parametrize("type", [scalar for scalar in ARITHMETIC if scalar.is_integer], ids=str)
def test_every_operator_with_a_constant_is_valid(type: Scalar, constant: int) -> None:
    if constant >= 0 or type.is_signed:
        verified(lowered(kernel_of_operators(type, constant)))


@pytest.mark.sample(14)
@pytest.mark.parametrize("type", VECTORS, ids=str)
def test_every_operator_on_vectors_is_valid(type: Vector) -> None:
    verified(lowered(kernel_of_operators(type, None)))
    verified(lowered(kernel_of_operators(type, 3)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("type", VECTORS, ids=str)
def test_every_operator_on_vectors_is_selected(type: Vector) -> None:
    assert "s_endpgm" in assembly(lowered(kernel_of_operators(type, None)), "-O1")


@pytest.mark.parametrize(
    "type", [Vector(f16, 8), Vector(f32, 3), Vector(u8, 4), Vector(i32, 2)], ids=str
)
def test_operators_on_common_vectors_are_selected(type: Vector) -> None:
    assert "s_endpgm" in assembly(lowered(kernel_of_operators(type, 5)), "-O1")


def test_every_comparison_is_selected() -> None:
    out, place, body, parameters = variable("out", array(boolean)), 0, [], []
    for scalar in [*ARITHMETIC, boolean]:
        a = variable(f"a_{scalar}", array(scalar))
        parameters.append(a)
        for operator in COMPARISONS if scalar != boolean else ("==", "!="):
            value = compare(operator, load(read(a), number(0)), load(read(a), number(1)))
            body.append(store(read(out), (number(place),), value))
            place += 1
    text = lowered(function("k", (*parameters, out), *body))
    verified(text)
    assert "s_endpgm" in assembly(text, "-O1")


def kernel_of_conversions(source: Scalar, length: int) -> tree.Function:
    def shaped(scalar: Scalar) -> Any:
        return Vector(scalar, length) if length and scalar != boolean else scalar

    targets = [scalar for scalar in SCALARS if not (length and scalar == boolean)]
    a = variable("a", array(shaped(source)))
    outs = [variable(f"out_{scalar}", array(shaped(scalar))) for scalar in targets]
    body = [
        store(read(out), (number(0),), tree.Convert(HERE, shaped(target), load(read(a), number(0))))
        for out, target in zip(outs, targets, strict=True)
    ]
    return function("k", (a, *outs), *body)


@pytest.mark.sample(9)
@pytest.mark.parametrize("source", SCALARS, ids=str)
def test_every_conversion_of_scalars_is_selected(source: Scalar) -> None:
    text = lowered(kernel_of_conversions(source, 0))
    verified(text)
    assert "s_endpgm" in assembly(text, "-O1")


@pytest.mark.parametrize("source", [scalar for scalar in SCALARS if scalar != boolean], ids=str)
def test_every_conversion_of_vectors_is_valid(source: Scalar) -> None:
    verified(lowered(kernel_of_conversions(source, 4)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", [scalar for scalar in SCALARS if scalar != boolean], ids=str)
def test_every_conversion_of_vectors_is_selected(source: Scalar) -> None:
    assert "s_endpgm" in assembly(lowered(kernel_of_conversions(source, 3)), "-O1")


def test_indices_of_every_integer_type_are_accepted() -> None:
    out = variable("out", array(f32, 2))
    parameters = [variable(f"p_{scalar}", scalar) for scalar in ARITHMETIC if scalar.is_integer]
    body = [
        store(read(out), (read(parameter), read(parameter)), number(1.0, f32))
        for parameter in parameters
    ]
    wide = variable("wide", array(f32, 2, offset_bits=64))
    body += [
        store(read(wide), (read(parameter), number(3, u64)), number(1.0, f32))
        for parameter in parameters
    ]
    verified(lowered(function("k", (out, wide, *parameters), *body)))
