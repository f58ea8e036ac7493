"""`division_check=True`: a divisor of 0 is a ZeroDivisionError, as in Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import numba_cuda as cuda
from amdjit.intrinsics import math as real

pytestmark = pytest.mark.filterwarnings("ignore:f64 arithmetic", "ignore:wide arithmetic")

DIVISIONS = [operator.truediv, operator.floordiv, operator.mod]


def quotients(divide: Callable[[Any, Any], Any], x: np.generic, **options: Any) -> Any:
    """Return a kernel for arrays of a type."""

    @amdjit.kernel(division_check=True, **options)
    def kernel(a, b, out):
        out[0] = 1
        out[1] = divide(a[0], b[0])
        out[2] = 1

    return kernel


@pytest.mark.covering(1)
@pytest.mark.parametrize("divide", DIVISIONS)
@pytest.mark.parametrize("dtype", ["i4", "u8", "i8", "f4", "f8"])
def test_a_divisor_of_0_is_an_error_as_in_python(
    divide: Callable[[Any, Any], Any], dtype: str
) -> None:
    kernel = quotients(divide, np.dtype(dtype).type(0))
    a, out = np.array([7], dtype), np.zeros(3)
    kernel[1, 1](a, np.array([2], dtype), out)
    assert out.tolist() == [1, divide(7, 2), 1]
    placed = amdjit.to_device(np.zeros(3))
    with pytest.raises(ZeroDivisionError) as caught:
        kernel[1, 1](a, np.zeros(1, dtype), placed)
    assert isinstance(caught.value, amdjit.KernelFault)
    assert "ZeroDivisionError: division by zero" in str(caught.value)
    assert placed.copy_to_host().tolist() == [1, 0, 0]


def test_operands_are_evaluated_once_and_in_order() -> None:
    @amdjit.device_function
    def taken(log, number):
        log[log[0]] = number
        log[0] += 1
        return number

    @amdjit.kernel(division_check=True)
    def kernel(log, out):
        out[0] = taken(log, 12) // taken(log, 5)

    log, out = np.array([1, 0, 0, 0], np.int32), np.zeros(1, np.int32)
    kernel[1, 1](log, out)
    assert (log.tolist(), out[0]) == ([3, 12, 5, 0], 2)


def test_other_forms_of_division() -> None:
    @amdjit.kernel(division_check=True)
    def assigned(a, n):
        a[0] //= n

    @amdjit.kernel(division_check=True)
    def constant(a):
        a[0] = 12 // a[0] + a[0] // 3

    @amdjit.kernel(division_check=True)
    def mixed(a, u):
        a[0] = a[0] % u[0]

    @amdjit.kernel(division_check=True)
    def of_complex(a, z):
        a[0] = z[0] / z[1]

    @amdjit.kernel(division_check=True, asserts=False)
    def unchecked(a, n):
        a[0] = a[0] / n

    a = np.array([12])
    with pytest.raises(ZeroDivisionError):
        assigned[1, 1](a, 0)
    assigned[1, 1](a, 4)
    constant[1, 1](a)
    assert a[0] == 5
    with pytest.raises(ZeroDivisionError):
        mixed[1, 1](a, np.zeros(1, np.uint64))
    mixed[1, 1](a, np.array([3], np.uint64))
    assert a[0] == 2
    z = np.array([4 + 2j, 2])
    out = np.zeros(1, complex)
    of_complex[1, 1](out, z)
    assert out[0] == 2 + 1j
    with pytest.raises(ZeroDivisionError):
        of_complex[1, 1](out, np.array([1, 0j]))
    of_complex[1, 1](out, np.array([1, 1j]))
    f = np.ones(1, np.float32)
    unchecked[1, 1](f, 0)
    assert f[0] == np.inf


def test_numbers_of_the_launch_are_tested_where_they_are_divided() -> None:
    @amdjit.kernel(division_check=True)
    def kernel(out, n, m, divides):
        out[0] = 1
        if divides:
            out[1] = n / m + n // (m - 1)

    out = np.zeros(2)
    kernel[1, 1](out, 7, 2, True)
    assert out.tolist() == [1, 10.5]
    kernel[1, 1](out, 7, 0, False)
    for m in (0, 1):
        placed = amdjit.to_device(np.zeros(2))
        with pytest.raises(ZeroDivisionError):
            kernel[1, 1](placed, 7, m, True)
        assert placed.copy_to_host().tolist() == [1, 0]


def test_amdjits_own_functions_are_not_tested() -> None:
    @amdjit.kernel(division_check=True)
    def kernel(a):
        a[0] = real.log(a[1])

    a = np.array([1, 0], np.float32)
    kernel[1, 1](a)
    assert a[0] == -np.inf


def test_without_it_kernels_have_the_same_code() -> None:
    def divided(a: amdjit.i32[:], n: amdjit.i32):
        a[0] = a[0] // n

    plain, off, on = (
        amdjit.kernel(**options)(divided).compile(target="gfx1201").asm
        for options in ({}, {"division_check": False}, {"division_check": True})
    )
    assert plain == off != on


def test_numbas_debug_turns_it_on() -> None:
    def divided(r, x, y):
        r[0] = y[0] / x[0]
        r[1] = y[0]

    checked, quiet = cuda.jit(debug=True, opt=False)(divided), cuda.jit(divided)
    r, x, y = np.zeros(2), np.zeros(1), np.ones(1)
    with pytest.raises(ZeroDivisionError):
        checked[1, 1](r, x, y)
    assert r.tolist() == [0, 0]
    quiet[1, 1](r, x, y)
    assert r.tolist() == [np.inf, 1]


@pytest.mark.sample(12)
@pytest.mark.parametrize("divide", DIVISIONS)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i4", "i8", "u8", "f2", "f4", "f8"])
def test_a_constant_divisor_of_0_is_refused_for_integers(
    divide: Callable[[Any, Any], Any], dtype: str
) -> None:
    zero = np.dtype(dtype).type(0)
    constant = np.dtype(dtype).type(7)

    @amdjit.kernel
    def by_literal(a, out):
        out[0] = divide(a[0], 0)

    @amdjit.kernel
    def by_typed(a, out):
        out[0] = divide(a[0], zero)

    @amdjit.kernel
    def of_constants(a, out):
        out[0] = divide(constant, zero)

    a, out = np.array([7], dtype), np.ones(1)
    if dtype[0] == "f":
        with np.errstate(all="ignore"):
            expected = divide(a, zero)
        for kernel in (by_literal, by_typed, of_constants):
            kernel[1, 1](a, out)
            np.testing.assert_array_equal(out, expected)
    else:
        for kernel in (by_literal, by_typed, of_constants):
            with pytest.raises(amdjit.TypeCheckError, match="AJ0250"):
                kernel[1, 1](a, out)


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "i8", "f2", "f4", "f8"])
def test_a_divisor_of_0_at_run_time_gives_what_the_page_says(dtype: str) -> None:
    @amdjit.kernel
    def kernel(a, b, out):
        out[0] = a[0] / b[0]
        out[1] = a[0] // b[0]
        out[2] = a[0] % b[0]
        out[3], out[4] = divmod(a[0], b[0])

    a, b, out = np.array([7], dtype), np.zeros(1, dtype), np.ones(5)
    kernel[1, 1](a, b, out)
    if dtype[0] == "f":
        np.testing.assert_array_equal(out, [np.inf, np.inf, np.nan, np.inf, np.nan])
    else:
        np.testing.assert_array_equal(out, [np.inf, 0, 0, 0, 0])


def test_constants_of_python_and_divisors_in_helpers_are_refused() -> None:
    def quotient(x, n):
        return x // n

    @amdjit.kernel
    def in_helper(out):
        out[0] = quotient(amdjit.threadIdx.x, 0)

    @amdjit.kernel
    def both(out):
        out[0] = divmod(amdjit.threadIdx.x, 0)[0]

    @amdjit.kernel
    def of_launch(out, n):
        out[0] = n // 0

    @amdjit.kernel
    def in_numba(out):
        if out[0] > 5:
            out[0] = amdjit.threadIdx.x // 0

    out = np.ones(1)
    for kernel, arguments in ((in_helper, ()), (both, ()), (of_launch, (3,))):
        with pytest.raises(amdjit.TypeCheckError, match="AJ0250"):
            kernel[1, 1](out, *arguments)
    in_numba.with_options(typing="numba")[1, 1](out)
    assert out[0] == 1
