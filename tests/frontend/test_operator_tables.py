"""The tables of docs/types.md, read from the page: every operator on every pair of types has the
result that they state."""

from __future__ import annotations

import dataclasses
from itertools import product
from pathlib import Path

import pytest

from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.types import (
    SCALARS,
    Scalar,
    Structure,
    Tuple,
    Type,
    Vector,
    boolean,
    f32,
    f64,
    fp8,
    i32,
    u64,
)
from tests.frontend.typing_of_operators import type_of_expression

DOCUMENT = Path(__file__).parents[2] / "docs" / "types.md"


@dataclasses.dataclass(frozen=True)
class Point:
    x: f32
    y: f32


POINT = Tuple((f32, f32), Structure("Point", ("x", "y"), Point))
PARTS: dict[str, Type] = {
    "complex64": COMPLEX64,
    "complex128": COMPLEX128,
    "f32x4": Vector(f32, 4),
    "i32x4": Vector(i32, 4),
    "f32x2": Vector(f32, 2),
    "fp8x4": Vector(fp8, 4),
    "(i32, f32)": Tuple((i32, f32)),
    "Point": POINT,
}
NAMED: dict[str, Type] = {**{str(scalar): scalar for scalar in SCALARS}, **PARTS}


def table(name: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the head and the rows of a table of the page."""
    text = (
        DOCUMENT.read_text(encoding="utf-8")
        .split(f"<!-- table: {name} -->\n")[1]
        .split("<!-- end -->")[0]
    )
    lines = [
        [cell.strip().strip("*`") for cell in line.strip("|\n").split(" | ")]
        for line in text.splitlines()
    ]
    return lines[0][1:], {line[0]: line[1:] for line in lines[2:]}


def commons() -> dict[tuple[str, str], str]:
    """Return the common type of each unordered pair, `.` if there is none."""
    found: dict[tuple[str, str], str] = {}
    for name in ("common", "parts"):
        head, rows = table(name)
        for left, cells in rows.items():
            for right, cell in zip(head, cells, strict=True):
                found[left, right] = found[right, left] = cell
    return found


COMMON = commons()
CLASSES, OPERATORS = table("operators")
SIGNS = table("signs")[1]


def class_of(type: Type) -> str:
    """Return the column of a type in the table of operators."""
    if isinstance(type, Vector):
        kind = (
            "fp8, bf8"
            if type.element.storage_only
            else "integer"
            if type.element.is_integer
            else "float"
        )
        return f"{kind} vector"
    if isinstance(type, Scalar):
        if type.storage_only:
            return "fp8, bf8"
        return "boolean" if type is boolean else "integer" if type.is_integer else "float"
    assert isinstance(type, Tuple)
    return "complex" if type in (COMPLEX64, COMPLEX128) else "record" if type.structure else "tuple"


def expected(operator: str, left: str, right: str) -> Type | None:
    """Return what the tables say about an operator on two types, None if it is refused."""
    items = [NAMED[left], NAMED[right]]
    if operator in SHIFTS:
        return shifted(*items)
    if is_u64_and_signed(*items) and operator in SIGNS:
        return NAMED.get(SIGNS[operator][left != "u64"])
    common = NAMED.get(COMMON[left, right])
    if common is None:
        return unlike_items(operator, items)
    cell = OPERATORS[operator.replace("max", "min")][CLASSES.index(class_of(common))]
    if cell == "joined":
        return Tuple(
            tuple(element for item in items if isinstance(item, Tuple) for element in item.elements)
        )
    if cell == "part":
        return common.elements[0] if isinstance(common, Tuple) else None
    element = common.element if isinstance(common, Vector) else common
    if cell == "float" and isinstance(element, Scalar):
        wide = f64 if element.bits == 64 else f32
        return Vector(wide, common.length) if isinstance(common, Vector) else wide
    return {"same": common, ".": None, "i32": i32, "f32": f32, "boolean": boolean}[cell]


SHIFTS = ("a << b", "a >> b")


def shifted(left: Type, right: Type) -> Type | None:
    """Return the type of a shift: that of its left operand, in every element of a vector."""
    lengths = {type.length for type in (left, right) if isinstance(type, Vector)}
    number, count = (type.element if isinstance(type, Vector) else type for type in (left, right))
    if len(lengths) > 1 or not all(
        isinstance(scalar, Scalar) and (scalar.is_integer or scalar is boolean)
        for scalar in (number, count)
    ):
        return None
    number = i32 if number is boolean else number
    assert isinstance(number, Scalar)
    return Vector(number, lengths.pop()) if lengths else number


def is_u64_and_signed(left: Type, right: Type) -> bool:
    """Whether these are the two kinds of integers that no type holds."""
    both = (left, right)
    return u64 in both and any(isinstance(type, Scalar) and type.is_signed for type in both)


def unlike_items(operator: str, items: list[Type]) -> Type | None:
    """Tuples and records of different kinds can be compared: they are not equal."""
    are_items = all(isinstance(item, Tuple) and class_of(item) != "complex" for item in items)
    return boolean if are_items and operator in ("a == b", "a != b") else None


BINARY = [operator for operator in {**OPERATORS, **SIGNS} if "b" in operator.replace("abs", "")]
UNARY = [operator for operator in OPERATORS if operator not in BINARY]


def test_the_tables_name_every_pair_of_types() -> None:
    assert COMMON.keys() == {(left, right) for left in NAMED for right in NAMED}
    assert {class_of(type) for type in NAMED.values()} == set(CLASSES)
    assert all(OPERATORS[shift][1] == SIGNS[shift][0] == "left" for shift in SHIFTS)


def check(operator: str, left: str, right: str) -> None:
    found = type_of_expression(operator, NAMED[left], NAMED[right])
    assert found == expected(operator, left, right), f"{operator} of {left} and {right}"


@pytest.mark.parametrize("operator", UNARY)
def test_operators_of_one_operand(operator: str) -> None:
    for name in NAMED:
        check(operator, name, name)


@pytest.mark.sample(len(BINARY))
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("operator", BINARY)
def test_every_operator_of_every_pair(operator: str, part: int) -> None:
    for left, right in list(product(NAMED, repeat=2))[part::3]:
        check(operator, left, right)
