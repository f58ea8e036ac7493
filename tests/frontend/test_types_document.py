"""docs/types.md describes what the compiler does: its tables are generated from the promotion
rules, its sentences are run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from amdjit import (
    bf8,
    bf8_fnuz,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    fp8,
    fp8_fnuz,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from amdjit.diagnostics import CompileError
from amdjit.frontend.values.promotion import assignable, common_scalar
from amdjit.types import Scalar
from tests.frontend.typing_of_expressions import type_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "types.md"
FNUZ = (fp8_fnuz, bf8_fnuz)
TYPES = (boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, fp8, bf8, *FNUZ)


def common_table() -> str:
    return _table("", lambda left, right: str(common_scalar(left, right) or "."))


def stores_table() -> str:
    return _table("value \\ place", lambda value, place: "yes" if assignable(value, place) else ".")


def _table(corner: str, cell) -> str:
    rows = [[corner, *map(str, TYPES)], ["---"] * (len(TYPES) + 1)]
    rows += [[f"**{left}**", *(cell(left, right) for right in TYPES)] for left in TYPES]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


TABLES = {"common": common_table, "stores": stores_table}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_the_compilers_rules(name: str, request: pytest.FixtureRequest) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- table: {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)
    found = pattern.search(text)
    assert found is not None
    expected = TABLES[name]() + "\n"
    if request.config.getoption("--update-golden"):
        DOCUMENT.write_text(
            text[: found.start(2)] + expected + text[found.end(2) :], encoding="utf-8"
        )
        return
    assert found[2] == expected, (
        "docs/types.md differs from the rules; accept them with --update-golden"
    )


ARITHMETIC = ("+", "-", "*", "//", "%")


@pytest.mark.sample(9)
@pytest.mark.parametrize("left", TYPES, ids=str)
def test_operators_have_the_types_of_the_table(left: Scalar) -> None:
    for right in TYPES:
        common = common_scalar(left, right)
        for operator in (*ARITHMETIC, "/", "&", "<<", "<", "and", "min"):
            if operator == "and" and left is boolean and right.storage_only:
                # `a and b` is `b if a else False`, and the literal False takes the type of b.
                continue
            expected = unlike(operator, left, right)
            if expected == "common":
                expected = expected_type(operator, common)
            assert type_of(operator, left, right) == expected, f"{left} {operator} {right}"


def unlike(operator: str, left: Scalar, right: Scalar) -> Scalar | str | None:
    """State the rules of shifts, and of a u64 beside a signed integer; "common" for other types."""
    if operator == "<<":
        are_integers = all(side.is_integer or side is boolean for side in (left, right))
        return None if not are_integers else i32 if left is boolean else left
    if u64 in (left, right) and (left.is_signed or right.is_signed):
        return {"<": boolean, "and": None, "min": i64, "/": f64}.get(operator, u64)
    return "common"


def expected_type(operator: str, common: Scalar | None) -> Scalar | None:
    """State the rules of docs/types.md a second time, independently of the compiler."""
    if common is None:
        return None
    if common.storage_only:
        return common if operator == "and" else None
    if operator in ("<",):
        return boolean
    if operator in ("and", "min"):
        return common
    if operator == "&":
        return None if common.is_float else common
    number = i32 if common is boolean else common
    if operator == "/" and not number.is_float:
        return f64 if number.bits == 64 else f32
    return number


def test_types_are_numpys_but_for_what_the_document_names() -> None:
    """Integers of one sign, floats of one kind and mixed signs are as in NumPy; all else is refused
    or documented."""
    for left in TYPES:
        for right in TYPES:
            common = common_scalar(left, right)
            if {bf16, fp8, bf8, *FNUZ} & {left, right} or left.is_float != right.is_float:
                continue
            numpys = np.promote_types(left.dtype, right.dtype)
            if common is None:
                assert left.kind is not right.kind
                assert numpys == np.float64
            else:
                assert common.dtype == numpys


@pytest.mark.parametrize("scalar", TYPES, ids=str)
def test_literals_take_the_other_sides_type(scalar: Scalar) -> None:
    if scalar.storage_only:
        assert type_of("literal 1", scalar) is None
        return
    number = i32 if scalar is boolean else scalar
    with_float = number if number.is_float else f64 if number.bits == 64 else f32
    assert type_of("literal 1", scalar) == number
    assert type_of("literal 1.5", scalar) == with_float
    assert type_of("literal True", scalar) == number


def test_literals_that_do_not_fit_are_refused() -> None:
    for scalar in (i8, u8, i16, u16, i32, u32):
        assert type_of("literal 2**40", scalar) is None
    assert type_of("literal 2**40", i64) == i64
    assert type_of("literal 1e6", f16) is None
    assert type_of("literal -1", u32) is None


@pytest.mark.parametrize("scalar", TYPES, ids=str)
def test_a_store_converts_as_the_table_says(scalar: Scalar) -> None:
    for place in TYPES:
        assert (type_of("store", scalar, place) is not None) == assignable(scalar, place)


def test_type_of_can_tell_a_refusal_from_a_mistake() -> None:
    with pytest.raises(CompileError):
        type_of("unknown name", i32)
