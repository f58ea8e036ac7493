"""Kernels with `typing="numba"` compute in the types that Numba gives their operators."""

from __future__ import annotations

import csv
import linecache
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import types as t
from amdjit.frontend import type_kernel
from amdjit.frontend.values.typing_rules import NUMBA
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.options import CompileOptions, OptionError, named_target
from amdjit.tree import nodes as tree

TABLE = Path(__file__).with_name("numba_result_types.tsv")


def rows() -> dict[str, list[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    with TABLE.open() as lines:
        reader = csv.DictReader(
            (line for line in lines if not line.startswith("#")), delimiter="\t"
        )
        for row in reader:
            found.setdefault(row["operator"], []).append((row["left"], row["right"], row["result"]))
    return found


ROWS = rows()
# What amdjit answers as for other integers: Numba computes `boolean ** int32` in f32.
KNOWN = {("**", "boolean", "i32"): "i64"}


def written(operator: str) -> str:
    if operator.startswith("unary"):
        return operator.split()[1] + "a"
    if operator in ("min", "max"):
        return f"{operator}(a, b)"
    return {"abs": "abs(a)", "if": "a if a > 0 else b"}.get(operator, f"a {operator} b")


def function_of(source: str) -> Any:
    name = f"<numba typing {source!r}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec"), scope)
    return scope["k"]


def type_of(expression: str, *operands: str) -> str:
    """Return the type of an expression of variables a and b, `.` where it is refused."""
    names = ", ".join("ab"[: len(operands)])
    function = function_of(f"def k({names}, out):\n    x = {expression}\n    out[0] = x\n")
    function.__globals__.update(math=math, np=np)
    kinds = (*(getattr(t, name) for name in operands), t.f64[:].resolved())
    options = CompileOptions(named_target("gfx1201"), typing="numba")
    try:
        typed = type_kernel(function, kinds, Compilation(options, None), PYTHON_FUNCTIONS)
    except amdjit.AmdjitError:
        return "."
    return next(
        str(s.variable.type)
        for s in typed.program.kernel.body
        if isinstance(s, tree.Assign) and s.variable.name == "x"
    )


@pytest.mark.sample(9)
@pytest.mark.parametrize("operator", ROWS)
def test_operators_have_numbas_types(operator: str) -> None:
    wrong = {}
    for left, right, result in ROWS[operator]:
        expected = KNOWN.get((operator, left, right), result)
        found = type_of(written(operator), *filter(None, (left, right)))
        if found != expected:
            wrong[left, right] = (found, expected)
    assert not wrong


CUDA_TABLE = Path(__file__).with_name("numba_cuda_result_types.tsv")
# Booleans that amdjit takes for numbers, and Numba refuses.
TAKEN = {("float(x)", "boolean"), ("min(x,1)", "boolean"), ("max(x,1.5)", "boolean")}


def cuda_rows() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    with CUDA_TABLE.open() as lines:
        for row in csv.DictReader((each for each in lines if each[0] != "#"), delimiter="\t"):
            found.setdefault(row["expression"], []).append((row["operand"], row["result"]))
    return found


CUDA_ROWS = cuda_rows()


@pytest.mark.sample(26)
@pytest.mark.parametrize("expression", CUDA_ROWS)
def test_functions_have_the_types_of_numba_cuda(expression: str) -> None:
    wrong = {}
    for operand, result in CUDA_ROWS[expression]:
        found = type_of(re.sub(r"\bx\b", "a", expression), operand)
        if found != result and (expression, operand) not in TAKEN:
            wrong[operand] = (found, result)
    assert not wrong


def test_ranges_choose_among_numbas_three_types() -> None:
    chosen = {
        ("i8",): "i32", ("i32",): "i32", ("i64",): "i64", ("u8",): "u64", ("u32",): "u64",
        ("u64",): "u64", ("i8", "u8"): "i32", ("i32", "u32"): "i64", ("i64", "u64"): "i64",
        ("i32", "u64"): "i32", ("u64", "u64", "i64"): "u64", ("boolean",): "i32", ("f32",): "i32",
    }  # fmt: skip
    for bounds, result in chosen.items():
        kinds = [getattr(t, name) for name in bounds]
        assert str(NUMBA.range_type(kinds)) == result, bounds


DTYPES = {name: getattr(t, name).dtype for name in ("i8", "i32", "i64", "u8", "u32", "u64", "f32")}
INTEGERS = [name for name in DTYPES if name != "f32"]
# The table has one of the three.
_LIKE = {"|": "&", "^": "&"}
OPERATORS = ("+", "-", "*", "//", "%", "&", "|", "^")


def samples(name: str, generator: np.random.Generator) -> Any:
    dtype = DTYPES[name]
    if name == "f32":
        return generator.normal(scale=100, size=64).astype(dtype)
    limits = np.iinfo(dtype)
    values = generator.integers(limits.min, limits.max, 64, dtype, endpoint=True)
    values[:4] = (limits.max, limits.min, 1, 7)
    return values


def wrapped(value: int, result: str) -> int:
    return int(np.uint64(value % 2**64).astype(DTYPES[result]))


def by_python(operator: str, x: Any, y: Any, result: str) -> int:
    """Return what Python's integers give for operands converted to the type of the result."""
    a, b = wrapped(int(x), result), wrapped(int(y), result)
    if operator in ("//", "%") and b == 0:
        return 0
    return wrapped(eval(f"a {operator} b", {"a": a, "b": b}), result)


@pytest.mark.sample(4)
@pytest.mark.parametrize("operator", OPERATORS)
def test_integers_have_pythons_values(operator: str) -> None:
    generator = np.random.default_rng(len(operator) + ord(operator[0]))
    source = f"def k(a, b, out):\n    i = grid(1)\n    out[i] = a[i] {operator} b[i]\n"
    function = function_of(source)
    function.__globals__["grid"] = amdjit.grid
    kernel = amdjit.kernel(typing="numba")(function)
    types = {(left, right): result for left, right, result in ROWS[_LIKE.get(operator, operator)]}
    for left, right in generator.choice(INTEGERS, (3, 2)):
        result = types[left, right]
        a, b = samples(left, generator), samples(right, generator)
        out = np.empty(64, DTYPES[result])
        kernel[1, 64](a, b, out)
        expected = [by_python(operator, x, y, result) for x, y in zip(a, b, strict=True)]
        assert out.tolist() == expected, (left, operator, right)


@amdjit.kernel(typing="numba")
def literals(x, n, scale, out):
    i = amdjit.grid(1)
    total = 0
    for k in range(n):
        total += 1 << k
    out[i, 0] = total
    out[i, 1] = x[i] * 0.1
    out[i, 2] = scale / 3
    out[i, 3] = x.shape[0] // 7 * 10**12
    out[i, 4] = math.sqrt(n)


def test_literals_and_numbers_of_the_launch_are_wide() -> None:
    x = np.arange(4, dtype=np.float32)
    out = np.zeros((4, 5))
    literals[1, 4](x, 40, 0.1, out)
    assert (out[:, 0] == 2**40 - 1).all()
    assert (out[:, 1] == x.astype(np.float64) * 0.1).all()
    assert (out[:, 2] == 0.1 / 3).all()
    assert (out[:, 3] == 4 // 7 * 10**12).all()
    np.testing.assert_allclose(out[:, 4], math.sqrt(40), rtol=1e-15)
    literals[1, 4](x, 3, 7.5, out)  # the quick way, with the code that is there
    assert (out[:, 0] == 7).all()
    assert (out[:, 2] == 2.5).all()
    assert len(literals.specialisations) == 1


@amdjit.kernel(typing="numba", warnings=False)
def stores(x, out):
    i = amdjit.grid(1)
    out[i] = x[i] * 2.5


def test_stores_convert_floats_to_integers() -> None:
    out = np.zeros(4, np.int32)
    stores[1, 4](np.float32([-1, 0, 1, 3]), out)
    assert out.tolist() == [-2, 0, 2, 7]


@amdjit.kernel(typing="numba")
def compares(a, b, out):
    i = amdjit.grid(1)
    out[i] = a[i] < b[i]


def test_comparisons_of_mixed_signs_are_exact() -> None:
    a = np.array([-1, 5, 2**62, -(2**63)], np.int64)
    b = np.array([2**64 - 1, 4, 2**63, 0], np.uint64)
    out = np.zeros(4, np.bool_)
    compares[1, 4](a, b, out)
    assert out.tolist() == [True, False, True, True]


def test_only_these_rules_exist() -> None:
    with pytest.raises(OptionError, match='typing=\'cuda\': give "amdjit" or "numba"'):
        amdjit.kernel(typing="cuda")(compares.function)


@pytest.mark.parametrize(
    ("expression", "operand", "result"),
    [("a ** 2", "i32", "i64"), ("a ** 2", "f32", "f32"), ("a ** -1", "f32", "f32"),
     ("a ** 0.5", "f32", "f64"), ("a ** 2", "u8", "i64"), ("2 ** a", "i32", "i64"),
     ("math.sqrt(a)", "i32", "f64"), ("math.sqrt(a)", "f32", "f32"), ("int(a)", "f32", "i64"),
     ("int(a)", "u64", "u64"), ("int(a)", "i8", "i8"), ("int(a)", "boolean", "i64"),
     ("float(a)", "f32", "f32"), ("float(a)", "i32", "f64"), ("round(a)", "f32", "i64"),
     ("math.floor(a)", "f32", "f32"), ("math.ceil(a)", "f64", "f64"), ("abs(a)", "i32", "i32"),
     ("a if a > 1 else 2", "i32", "i64")],
)  # fmt: skip
def test_expressions_with_literals_have_numbas_types(
    expression: str, operand: str, result: str
) -> None:
    """The results are those of Numba 0.68.1, and of numba-cuda for rounding."""
    assert type_of(expression, operand) == result


@amdjit.kernel(typing="numba")
def beside_unsigned(v, n, out):
    large = ~abs(v[0])
    out[0] = large < 2
    out[1] = large > 2
    out[2] = large == -7
    out[3] = 0 < large < 7
    out[4] = large in (2, 18446744073709551609)
    out[5] = n < large
    out[6] = n / large
    out[7] = ~(v[0] >= -3)
    out[8] = large < (n == 1)


def test_what_is_compared_with_or_divided_by_a_u64_stays_as_large() -> None:
    out = np.zeros(9)
    beside_unsigned[1, 1](np.array([6], np.uint64), np.int64(1), out)
    assert out.tolist() == [0, 1, 0, 0, 1, 1, 1 / 18446744073709551609, 0, 0]
