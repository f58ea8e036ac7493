"""The IR of operators and conversions, run on the CPU, against Python integers and NumPy."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit.tree import nodes as tree
from amdjit.types import (
    SCALARS,
    Scalar,
    Vector,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from tests.lowering.host_execution import run_on_host
from tests.lowering.python_meaning import in_python, interesting, wrapped
from tests.tree.trees import (
    HERE,
    array,
    assign,
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

INTEGERS = [i8, i16, i32, i64, u8, u16, u32, u64]
FLOATS = [f32, f64]

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="runs the IR on x86-64 hosts"
)


def elementwise(source: Any, target: Any, compute: Callable[..., Any], arity: int = 2) -> str:
    """Return the IR of a kernel: out[n] = compute(a[n], b[n]) for all n."""
    inputs = [variable(name, array(source)) for name in "ab"[:arity]]
    out, n = variable("out", array(target)), variable("n", i32)
    value = compute(*(load(read(of), read(n)) for of in inputs))
    extent = tree.Extent(HERE, i32, read(out), 0)
    loop = tree.ForRange(
        HERE, n, number(0), extent, number(1), (store(read(out), (read(n),), value),)
    )
    return lowered(function("k", (*inputs, out), loop))


OPERATORS = ["+", "-", "*", "//", "%", "**", "&", "|", "^", "<<", ">>", "min", "max"]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("scalar", INTEGERS, ids=str)
def test_integer_operators_wrap_and_floor(scalar: Scalar, operator: str) -> None:
    pairs = list(itertools.product(interesting(scalar), repeat=2))
    a, b = (np.array([pair[side] for pair in pairs], scalar.dtype) for side in (0, 1))
    out = np.zeros(len(pairs), scalar.dtype)
    run_on_host(elementwise(scalar, scalar, lambda x, y: op(operator, x, y)), "k", a, b, out)
    expected = [in_python(scalar, operator, x, y) for x, y in pairs]
    assert out.tolist() == expected


@pytest.mark.parametrize("operator", ["//", "%", "<<", ">>", "**"])
@pytest.mark.parametrize("scalar", [i8, i32, u16, u64], ids=str)
def test_integer_operators_with_a_constant_equal_those_with_a_variable(
    scalar: Scalar, operator: str
) -> None:
    values = np.array(interesting(scalar), scalar.dtype)
    constants = [value for value in interesting(scalar) if operator != "**" or 0 <= value < 40]
    outs = [variable(f"out{n}", array(scalar)) for n in range(len(constants))]
    a, n = variable("a", array(scalar)), variable("n", i32)
    body = tuple(
        store(read(out), (read(n),), op(operator, load(read(a), read(n)), number(constant, scalar)))
        for out, constant in zip(outs, constants, strict=True)
    )
    extent = tree.Extent(HERE, i32, read(a), 0)
    loop = tree.ForRange(HERE, n, number(0), extent, number(1), body)
    results = [np.zeros_like(values) for _ in outs]
    run_on_host(lowered(function("k", (a, *outs), loop)), "k", values, *results)
    for constant, result in zip(constants, results, strict=True):
        expected = [in_python(scalar, operator, int(value), constant) for value in values]
        assert result.tolist() == expected, f"{operator} {constant}"


def test_integer_operators_work_on_vectors() -> None:
    vector, values = Vector(i16, 4), interesting(i16)
    pairs = list(itertools.product(values, repeat=2))
    pairs += [(0, 1)] * (-len(pairs) % 4)
    a, b = (np.array([pair[side] for pair in pairs], np.int16) for side in (0, 1))
    for operator in OPERATORS:
        out = np.zeros_like(a)
        text = elementwise(vector, vector, lambda x, y, operator=operator: op(operator, x, y))
        run_vectors(text, a, b, out)
        assert out.tolist() == [in_python(i16, operator, x, y) for x, y in pairs], operator


def run_vectors(text: str, *arrays: Any) -> None:
    """The extents count vectors, so pass the same bytes as wider elements."""
    run_on_host(text, "k", *(values.view(np.int64) for values in arrays))


FLOAT_VALUES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    -0.1,
    3.5,
    -7.25,
    1e-3,
    1e7,
    -2.5,
    1e30,
    5e-324,
    np.inf,
    -np.inf,
    np.nan,
]


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "min", "max"])
@pytest.mark.parametrize("scalar", FLOATS, ids=str)
def test_float_operators_equal_numpy(scalar: Scalar, operator: str) -> None:
    with np.errstate(all="ignore"):
        pairs = np.array(list(itertools.product(FLOAT_VALUES, repeat=2))).astype(scalar.dtype)
        a, b = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        ufuncs: dict[str, Any] = {
            "+": np.add,
            "-": np.subtract,
            "*": np.multiply,
            "/": np.divide,
            "//": np.floor_divide,
            "%": np.remainder,
            "min": np.minimum,
            "max": np.maximum,
        }
        expected = ufuncs[operator](a, b)
    out = np.zeros_like(a)
    run_on_host(elementwise(scalar, scalar, lambda x, y: op(operator, x, y)), "k", a, b, out)
    np.testing.assert_array_equal(out, expected)
    if operator not in ("min", "max"):
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(out[numbers]), np.signbit(expected[numbers]))


def test_random_float_floor_division_and_modulo_equal_numpy() -> None:
    random = np.random.default_rng(1)
    a = (random.standard_normal(4000) * 10.0 ** random.integers(-3, 6, 4000)).astype(np.float32)
    b = (random.standard_normal(4000) * 10.0 ** random.integers(-3, 3, 4000)).astype(np.float32)
    a[::7] = np.round(a[::7])
    b[::7] = np.round(b[::7]) + 0.5
    for operator, ufunc in (("//", np.floor_divide), ("%", np.remainder)):
        out = np.zeros_like(a)
        run_on_host(
            elementwise(f32, f32, lambda x, y, operator=operator: op(operator, x, y)),
            "k",
            a,
            b,
            out,
        )
        np.testing.assert_array_equal(out, ufunc(a, b))


@pytest.mark.parametrize("scalar", [i8, u32, i64, f32, f64], ids=str)
def test_comparisons_equal_numpy(scalar: Scalar) -> None:
    values = FLOAT_VALUES if scalar.is_float else interesting(scalar)
    pairs = np.array(
        list(itertools.product(values, repeat=2)), dtype=object if not scalar.is_float else None
    )
    with np.errstate(over="ignore"):
        a, b = (np.ascontiguousarray(pairs[:, side]).astype(scalar.dtype) for side in (0, 1))
    checks = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    for operator, expected in checks.items():
        out = np.zeros(len(a), np.uint8)
        text = elementwise(scalar, boolean, lambda x, y, operator=operator: compare(operator, x, y))
        run_on_host(text, "k", a, b, out)
        np.testing.assert_array_equal(out.astype(bool), expected, operator)


@pytest.mark.parametrize("scalar", [*INTEGERS, *FLOATS], ids=str)
def test_unary_operators_equal_numpy(scalar: Scalar) -> None:
    values = np.array(FLOAT_VALUES if scalar.is_float else interesting(scalar))
    with np.errstate(all="ignore"):
        a = values.astype(scalar.dtype)
        checks = {tree.UnaryOperator.NEGATE: -a, tree.UnaryOperator.ABSOLUTE: abs(a)}
    if scalar.is_integer:
        checks[tree.UnaryOperator.INVERT] = ~a
    for operator, expected in checks.items():
        out = np.zeros_like(a)
        text = elementwise(
            scalar, scalar, lambda x, operator=operator: tree.Unary(HERE, scalar, operator, x), 1
        )
        run_on_host(text, "k", a, out)
        np.testing.assert_array_equal(out, expected)


def converted(values: np.ndarray[Any, Any], source: Scalar, target: Scalar) -> list[Any]:
    """Convert as tree.Convert specifies, with NumPy if its result is defined."""
    if target == boolean:
        return [bool(value) for value in values]
    if not target.is_integer:
        with np.errstate(all="ignore"):
            return list(values.astype(target.dtype))
    if not source.is_float:
        return [wrapped(target, int(value)) for value in values]
    limits = (target.minimum, target.maximum)
    return [
        0
        if np.isnan(v)
        else limits[int(v > 0)]
        if np.isinf(v)
        else max(limits[0], min(limits[1], int(v)))
        for v in values.astype(np.float64)
    ]


# The CPU's compiler has no library functions for the others.
_ON_HOST = [
    scalar for scalar in SCALARS if not scalar.storage_only and scalar.name not in ("bf16", "f16")
]


@pytest.mark.parametrize("target", _ON_HOST, ids=str)
@pytest.mark.parametrize("source", _ON_HOST, ids=str)
def test_conversions_equal_numpy(source: Scalar, target: Scalar) -> None:
    values: Sequence[Any] = [
        *FLOAT_VALUES,
        127.5,
        128.0,
        255.9,
        -128.9,
        2.0**31,
        -(2.0**31),
        2.0**63,
        1e300,
        0.5,
    ]
    if source.is_integer:
        values = interesting(source)
    elif source == boolean:
        values = [0, 1]
    with np.errstate(all="ignore"):
        a = np.array(values).astype(np.uint8 if source == boolean else source.dtype)
    out = np.zeros(len(a), np.uint8 if target == boolean else target.dtype)
    run_on_host(
        elementwise(source, target, lambda x: tree.Convert(HERE, target, x), 1), "k", a, out
    )
    np.testing.assert_array_equal(
        out.astype(target.dtype), np.array(converted(a, source, target), target.dtype)
    )


def test_f16_rounds_to_nearest_even_from_f32() -> None:
    a = np.random.default_rng(3).standard_normal(2000).astype(np.float32) * 1000
    out = np.zeros(a.size, np.uint16)
    run_on_host(elementwise(f32, f16, lambda x: tree.Convert(HERE, f16, x), 1), "k", a, out)
    np.testing.assert_array_equal(out.view(np.float16), a.astype(np.float16))


def test_constants_keep_their_bits() -> None:
    numbers = {
        f32: [0.1, -0.0, np.inf, 1e-45, 16777217.0],
        f64: [0.1, 5e-324, 1e300],
        i8: [-128, 127],
        u64: [2**64 - 1],
    }
    for scalar, values in numbers.items():
        out = variable("out", array(scalar))
        body = [
            store(read(out), (number(n),), number(value, scalar)) for n, value in enumerate(values)
        ]
        result = np.zeros(len(values), scalar.dtype)
        run_on_host(lowered(function("k", (out,), *body)), "k", result)
        assert result.tobytes() == np.array(values).astype(scalar.dtype).tobytes()


def test_half_constants_keep_their_bits() -> None:
    for scalar, dtype in ((f16, np.float16), (SCALARS[9], ml_dtypes.bfloat16)):
        out, bits = variable("out", array(u16)), []
        body = []
        for n, value in enumerate([0.1, -2.5, 65504.0, 1e-7, float("inf")]):
            body.append(
                store(read(out), (number(n),), tree.Bitcast(HERE, u16, number(value, scalar)))
            )
            bits.append(int(np.array(value, dtype).view(np.uint16)))
        result = np.zeros(len(bits), np.uint16)
        run_on_host(lowered(function("k", (out,), *body)), "k", result)
        assert result.tolist() == bits


def test_only_the_chosen_side_is_evaluated() -> None:
    def chosen(x: Any) -> Any:
        bad = load(read(variable_a), number(1 << 28))
        safe = tree.Conditional(HERE, i32, compare("<", x, number(1 << 30)), number(7), bad)
        check = tree.Logical(
            HERE, boolean, False, compare("==", safe, number(7)), compare("==", bad, number(1))
        )
        return tree.Conditional(HERE, i32, check, safe, bad)

    variable_a = variable("a", array(i32))
    out = variable("out", array(i32))
    value = chosen(load(read(variable_a), number(0)))
    result = np.zeros(1, np.int32)
    kernel = function("k", (variable_a, out), store(read(out), (number(0),), value))
    run_on_host(lowered(kernel), "k", np.zeros(1, np.int32), result)
    assert result[0] == 7


def test_a_parameter_can_be_assigned() -> None:
    x, out = variable("x", i32), variable("out", array(i32))
    body = (assign(x, op("+", read(x), number(5))), store(read(out), (number(0),), read(x)))
    result = np.zeros(1, np.int32)
    run_on_host(lowered(function("k", (x, out), *body)), "k", np.int32(37), result)
    assert result[0] == 42
