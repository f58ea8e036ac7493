"""Python's numbers among the arguments have no width: the kernel computes what NumPy does with them
(NEP 50)."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, NamedTuple

import numpy as np
import pytest

import amdjit
from amdjit import f16, f32, f64, i32, i64, u8, u32
from tests.api.python_number_runs import (
    ARITHMETIC,
    BITWISE,
    COMPARISONS,
    FLOATS,
    INTEGERS,
    INTS,
    NUMBERS,
    left,
    right,
    run,
    same_as_numpy,
    values_of,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::amdjit.CompileWarning", "ignore::amdjit.PerformanceWarning"
)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.__name__)
def test_integers_take_the_arrays_type_or_are_refused_by_the_launch(dtype: Any) -> None:
    x = values_of(dtype)
    nonzero = np.where(x == 0, dtype(1), x)
    for op, a in itertools.product((*ARITHMETIC, *BITWISE), INTS):
        if not -(2**31) <= a < 2**31:
            continue  # these arguments are i64, as NumPy's int64 is
        if a != 0 or op not in (operator.floordiv, operator.mod):
            same_as_numpy(right, x, a, op, (x, a))
        same_as_numpy(left, nonzero, a, op, (a, nonzero))


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.__name__)
def test_comparisons_with_integers_are_exact(dtype: Any) -> None:
    x = values_of(dtype)
    for op, a in itertools.product(
        COMPARISONS, (-(2**31), -129, -1, 0, 1, 127, 128, 255, 300, 40000, 2**31 - 1)
    ):
        out = np.zeros(x.shape, np.bool_)
        if dtype is np.uint64 and a < 0:
            with pytest.raises(amdjit.LaunchError, match="used as u64"):
                run(right, x, a, out, op)
            continue
        run(right, x, a, out, op)
        assert out.tolist() == [op(int(number), a) for number in x], (op, a)
        run(left, x, a, out, op)
        assert out.tolist() == [op(a, int(number)) for number in x], (op, a)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.__name__)
def test_numbers_take_a_float_arrays_type(dtype: Any) -> None:
    x = values_of(dtype)
    for op, a in itertools.product(
        (operator.add, operator.sub, operator.mul, operator.truediv), (*NUMBERS, 3, -7)
    ):
        with np.errstate(all="ignore"):
            fits = not math.isfinite(a) or np.isfinite(dtype(a))
        if not fits:
            with pytest.raises(amdjit.LaunchError, match=r"a of right.* is used as f"):
                run(right, x, a, x.copy(), op)
            continue
        same_as_numpy(right, x, a, op, (x, a))
        same_as_numpy(left, x, a, op, (a, x))


def test_an_f64_kernel_loses_nothing_and_an_f32_kernel_computes_nothing_in_f64() -> None:
    for dtype in (np.float64, np.float32):
        out = np.zeros(8, dtype)
        run(right, np.ones(8, dtype), 0.1, out, operator.mul)
        assert (out == dtype(0.1)).all()
    code = right.compile(f32[:], float, f32[:], operator.mul, target="gfx1201")
    assert "f64" not in code.asm_full
    strong = right.compile(f32[:], f32, f32[:], operator.mul, target="gfx1201")
    assert code.resources.instructions == strong.resources.instructions
    assert code.resources.sgprs == strong.resources.sgprs


def test_an_integer_costs_what_an_i32_costs() -> None:
    @amdjit.kernel
    def guarded(x, n):
        i = amdjit.grid(1)
        if i < n:
            x[i] = x[i] + f32(1)

    weak, strong = (guarded.compile(f32[:], type, target="gfx1201") for type in (int, i32))
    assert weak.optimized_llvm.count("\n") == strong.optimized_llvm.count("\n")
    assert weak.resources == strong.resources


def test_what_numbers_make_alone_is_what_python_makes_of_them() -> None:
    @amdjit.kernel
    def alone(ints, floats, n, m, a, b):
        ints[0] = n + 1
        ints[1] = n * m
        ints[2] = n // 7 - m % 5
        ints[3] = (n << 4) | (m >> 2)
        ints[4] = -n ^ ~m
        ints[5] = min(n, m) + max(n, 3) + abs(-m)
        ints[6] = n**2
        ints[7] = n if a < b else m
        floats[0] = a * b + n
        floats[1] = a / b - 1.0
        floats[2] = math.sqrt(a) + math.exp(-b)
        floats[3] = n / m
        floats[4] = a // b + a % b
        floats[5] = b**0.5
        floats[6] = float(n) * a
        floats[7] = int(b * 1e9) + round(a) + math.floor(b * 1e3)

    n, m, a, b = 2**31 - 1, 1234567, 0.1, 12.3
    ints, floats = np.zeros(8, np.int64), np.zeros(8)
    run(alone, ints, floats, n, m, a, b)
    assert ints.tolist() == [
        n + 1, n * m, n // 7 - m % 5, (n << 4) | (m >> 2), -n ^ ~m, min(n, m) + max(n, 3) + m, n**2,
        n,
    ]  # fmt: skip
    assert floats.tolist() == [
        a * b + n, a / b - 1.0, math.sqrt(a) + math.exp(-b), n / m, a // b + a % b, b**0.5,
        float(n) * a,
        int(b * 1e9) + round(a) + math.floor(b * 1e3),
    ]  # fmt: skip


def test_division_by_zero_raises_nothing_at_the_launch() -> None:
    @amdjit.kernel
    def divided(ints, floats, n, a):
        ints[0] = 5 // n
        ints[1] = 5 % n
        floats[0] = 1 / n
        floats[1] = -1.0 / a
        floats[2] = a / n
        floats[3] = math.log(a)
        floats[4] = math.sqrt(a - 1)

    ints, floats = np.ones(2, np.int32), np.ones(5)
    run(divided, ints, floats, 0, 0.0)
    assert ints.tolist() == [0, 0]
    np.testing.assert_array_equal(floats, [np.inf, -np.inf, np.nan, -np.inf, np.nan])


def test_what_no_i32_holds_is_computed_in_i64() -> None:
    @amdjit.kernel
    def rounds(out, n, m):
        for i in range(n * m, n * m + 2):
            out[0] = i

    out = np.zeros(1, np.int64)
    run(rounds, out, 10**5, 10**5)
    assert out[0] == 10**10 + 1
    run(rounds, out, 10, 10)
    assert out[0] == 101
    signatures = [compiled.signature for compiled in rounds.specialisations]
    assert signatures == ["rounds(i64[::1], int, int)", "rounds(i64[::1], i64, i64)"]
    run(rounds, out, 2**40, 1)
    assert out[0] == 2**40 + 1


def test_a_number_that_does_not_fit_is_refused_with_its_value_type_and_line() -> None:
    with pytest.raises(amdjit.LaunchError) as caught:
        run(right, np.zeros(1, np.uint8), 300, np.zeros(1, np.uint8), operator.add)
    text = str(caught.value)
    code = right.function.__code__
    assert "argument a of right: 300 is used as u8" in text
    assert f"{code.co_filename}:{code.co_firstlineno + 3}" in text
    assert "u8 holds 0 to 255" in text
    assert "numpy.int64(a)" in text
    # What the message says works.
    out = np.zeros(1, np.int64)
    run(right, np.zeros(1, np.uint8), np.int64(300), out, operator.add)
    assert out[0] == 300


class Pair(NamedTuple):
    scale: Any
    offset: Any


def test_numbers_go_through_tuples_records_functions_and_names() -> None:
    def inner(x, pair, extra):
        y = pair.scale
        if extra > 2:
            y = y * extra
        return x * y + pair.offset

    def scaled(x, a):
        return x * a

    def typed(x: f64, a: f64):
        return x * a

    @amdjit.kernel
    def kernel(x, pair, numbers):
        s, n = numbers
        twice = s + s
        local = lambda v: v * twice  # noqa: E731
        x[0] = inner(x[0], pair, n)
        x[1] = scaled(x[1], s)
        x[2] = local(x[2])
        x[3] = typed(x[3], s) + typed(x[3], n)

    for dtype in (np.float64, np.float32):
        x = np.full(4, 1.7, dtype)
        expected = [x[0] * dtype(0.1 * 3) + dtype(0.3), x[1] * dtype(0.7), x[2] * dtype(1.4), None]
        expected[3] = dtype(float(x[3]) * 0.7 + float(x[3]) * 3.0)
        run(kernel, x, Pair(0.1, 0.3), (0.7, 3))
        assert x.tolist() == expected, dtype


def test_annotated_parameters_and_numpys_scalars_have_their_types() -> None:
    @amdjit.kernel
    def annotated(out: f64[:], a: f32, n: u8):
        out[0] = a
        out[1] = n + 1

    out = np.zeros(2)
    run(annotated, out, 0.1, 255)
    assert out.tolist() == [float(np.float32(0.1)), 0]
    with pytest.raises(amdjit.AmdjitError, match="256"):
        run(annotated, out, 0.1, 256)
    with pytest.raises(amdjit.LaunchError, match="1e\\+300"):
        run(annotated, out, 1e300, 0)
    x = np.ones(1, np.float32)
    wide = np.zeros(1)
    run(right, x, np.float64(0.1), wide, operator.mul)
    assert wide[0] == 0.1
    run(right, x, np.float32(0.1), wide, operator.mul)
    assert wide[0] == float(np.float32(0.1))


def test_booleans_stay_what_they_are() -> None:
    out = np.zeros(3, np.uint8)
    run(right, np.array([1, 2, 255], np.uint8), True, out, operator.add)
    assert out.tolist() == [2, 3, 0]


def test_numbers_meet_vectors_complex_numbers_and_small_floats() -> None:
    @amdjit.kernel
    def vectors(x, a, n):
        x.store(0, x.load(0, 4) * a + n)

    for dtype in (np.float64, np.float32, np.float16):
        x = np.arange(4, dtype=dtype)
        expected = x * 0.1 + 3
        run(vectors, x, 0.1, 3)
        assert x.tolist() == expected.tolist()
    for dtype in (np.complex64, np.complex128):
        x = np.array([1 + 2j, 3 - 1j], dtype)
        out = np.zeros(2, dtype)
        for number in (0.1, 3, 0.3 - 0.7j):
            run(right, x, number, out, operator.add)
            assert out.tolist() == (x + number).tolist()
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        dtype = np.dtype(getattr(__import__("ml_dtypes"), name))
        x = np.zeros(1, dtype)

        @amdjit.kernel
        def put(x, a):
            x[0] = a

        run(put, x, 0.1)
        assert x[0] == dtype.type(0.1)
        with pytest.raises(amdjit.LaunchError):
            run(put, x, 1e39)


def test_numbers_as_indices_bounds_shifts_conditions_and_arguments_of_intrinsics() -> None:
    @amdjit.kernel
    def uses(x, n, a):
        x[n] = 1
        for i in range(n, 2 * n):
            x[i] += i
        x[0] = u32(1) << n
        x[1] = 7 if n else 8
        x[2] = i32(a * 10)
        if a and not n > 5:
            x[1] += 1
        amdjit.atomic.add(x, n + 1, n)

    x = np.zeros(10, np.int64)
    run(uses, x, 4, 0.75)
    assert x.tolist() == [16, 8, 7, 0, 5, 9, 6, 7, 0, 0]

    @amdjit.kernel
    def functions(x, a):
        x[0] = math.pow(x[0], a)
        x[1] = math.hypot(x[1], a)
        x[2] = x[2] ** a
        x[3] = math.fma(x[3], a, a) if False else max(x[3], a)

    for dtype in (np.float64, np.float32):
        x = np.array([1.5, 2.5, 3.5, 0.0], dtype)
        if dtype is np.float64:
            x[1:2] = 2.5
        run(only_maximum, x, 0.1)
        assert x[3] == dtype(0.1)
    x = np.array([1.5, 2.5, 3.5, 0.0], np.float32)
    run(functions, x, 0.1)
    np.testing.assert_allclose(x, [1.5**0.1, math.hypot(2.5, 0.1), 3.5**0.1, 0.1], rtol=1e-6)


@amdjit.kernel
def only_maximum(x, a):
    x[3] = max(x[3], a)


def test_returned_numbers_and_choices_keep_all_digits() -> None:
    def pick(condition, a, b):
        if condition:
            return a
        return 2 * b

    @amdjit.kernel
    def chosen(x, a, b):
        x[0] = pick(x[0] > 0, a, b)
        x[1] = pick(x[1] > 0, a, b)
        y = a
        if x[2] > 0:
            y = b
        x[2] = y
        x[3] = a if x[3] > 0 else 0.3
        y *= b
        x[4] = y

    x = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    run(chosen, x, 0.1, 0.7)
    assert x.tolist() == [0.1, 2 * 0.7, 0.7, 0.3, 0.7 * 0.7]


def test_python_types_in_a_signature() -> None:
    compiled = right.compile(f16[:], float, f16[:], operator.add, target="gfx1201")
    assert compiled.signature.startswith("right(f16[::1], float, f16[::1]")
    assert "a.f16: f16" in compiled.typed_tree
    records = uses_record.compile(i64[:], (int, float), target="gfx1201")
    assert records.signature == "uses_record(i64[::1], (int, float))"


@amdjit.kernel
def uses_record(x, pair):
    x[0] = pair[0] + i64(pair[1])


def test_why_recompiled_names_python_numbers() -> None:
    kernel = amdjit.kernel(uses_record.function)
    x = np.zeros(1, np.int64)
    run(kernel, x, (1, 2.0))
    run(kernel, x, (2**31, 2.0))
    (change,) = kernel.why_recompiled()
    assert (change.old, change.new) == ("(int, float)", "(i64, float)")
    run(kernel, x, (5, 7.5))
    assert len(kernel.specialisations) == 2
    assert x[0] == 12
