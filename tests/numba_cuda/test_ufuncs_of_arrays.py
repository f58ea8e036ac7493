"""Every ufunc of NumPy that kernels have, of whole arrays and of numbers: NumPy computes what to
expect."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import CompileError, numba_cuda, static_range
from amdjit.frontend.calls.python_functions import FUNCTIONS
from amdjit.frontend.calls.ufuncs import loop_of
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.overloads import OfKind

pytestmark = pytest.mark.filterwarnings("ignore::amdjit.PerformanceWarning")

UFUNCS = sorted(
    {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    & (PYTHON_FUNCTIONS | FUNCTIONS).keys() - {np.isnat},  # which is of dates
    key=lambda ufunc: ufunc.__name__,
)
TYPES = "?bBhHiIqQfdFD"
FLOATS = (0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2.5, 3.7, 1e-3, 100, -100.25, np.inf, -np.inf, np.nan)
COMPLEX = (0, 1, -1, 1j, -1j, 0.5 + 0.5j, -0.5 - 0.5j, 2 - 3j, 1.5, complex(1, -0.0), 3 + 0.25j)
NAMED = {"argvalues": UFUNCS, "ids": lambda ufunc: ufunc.__name__}


def values_of(letter: str) -> Any:
    """Return numbers of a type: the edges, and some between."""
    dtype = np.dtype(letter)
    if dtype.kind == "b":
        return np.array([False, True, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        edges = [limits.max, limits.max - 1, limits.min, limits.min + 1]
        signed = [-1, -2, -7] if dtype.kind == "i" else []
        return np.array([0, 1, 2, 3, 7, 100, *signed, *edges], dtype)
    return np.array(FLOATS if dtype.kind == "f" else COMPLEX, dtype)


def operands(ufunc: np.ufunc, letter: str, rng: np.random.Generator) -> tuple[Any, ...]:
    """Return operands for which NumPy's result is defined."""
    values = values_of(letter)
    if ufunc is np.reciprocal and values.dtype.kind in "biu":
        values = values[values != 0]
    if ufunc.nin == 1:
        return (values,)
    x, y = (np.ravel(each) for each in np.meshgrid(values, values))
    if ufunc in (np.left_shift, np.right_shift) and values.dtype.kind in "biu":
        y = y.astype(values.dtype) & np.array(15, values.dtype)
    if ufunc is np.power and values.dtype.kind == "i":
        y = np.maximum(y, 0)
    if ufunc is np.ldexp:
        y = rng.integers(-5, 6, x.size).astype(np.int32)
    return x, y


def expected_of(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return NumPy's results, none for types that it refuses and for f16, which Numba lacks."""
    try:
        with np.errstate(all="ignore"):
            made = ufunc(*inputs)
    except TypeError:
        return ()
    results = made if isinstance(made, tuple) else (made,)
    return () if any(result.dtype == np.float16 for result in results) else results


def check_close(ufunc: np.ufunc, found: Any, expected: Any, inputs: tuple[Any, ...]) -> None:
    """Compare: integers and booleans exactly, floats to a few units in the last place, complex
    numbers where they are finite."""
    if expected.dtype.kind not in "fc":
        wrong = found != expected
    else:
        limit = 2e-6 if expected.dtype.char in "fF" else 1e-14
        scale = np.abs(expected) if expected.dtype.kind == "f" else np.maximum(np.abs(expected), 1)
        with np.errstate(all="ignore"):
            near = np.abs(found - expected) <= limit * scale + 1e-30
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        wrong = ~(near | same | (~np.isfinite(expected) & (expected.dtype.kind == "c")))
    at = [tuple(each[i] for each in inputs) for i in np.flatnonzero(wrong)]
    assert not at, f"{ufunc.__name__}{at[0]}: {found[wrong][0]}, not {expected[wrong][0]}"


def check(ufunc: np.ufunc, letters: str) -> None:
    """Run one kernel with a call for each type that the ufunc takes."""
    rng = np.random.default_rng(3)
    cases = [operands(ufunc, letter, rng) for letter in letters]
    known = [(case, expected_of(ufunc, case)) for case in cases]
    known = [(case, expected) for case, expected in known if expected]
    assert known, f"no type of {letters} is one of {ufunc.__name__}"

    @numba_cuda.jit
    def kernel(inputs, outputs):
        for i in static_range(len(inputs)):
            ufunc(*inputs[i], *outputs[i])

    outputs = tuple(tuple(map(np.zeros_like, expected)) for _, expected in known)
    kernel[1, 1](tuple(case for case, _ in known), outputs)
    for (case, expected), found in zip(known, outputs, strict=True):
        for mine, theirs in zip(found, expected, strict=True):
            check_close(ufunc, mine, theirs, case)


@pytest.mark.sample(22)
@pytest.mark.parametrize("ufunc", **NAMED)
def test_arrays_are_computed_as_numpy_computes_them(ufunc: np.ufunc) -> None:
    number = UFUNCS.index(ufunc)
    is_own = OfKind(ufunc, "complex") in PYTHON_FUNCTIONS
    check(ufunc, "bHiQhIqB"[number % 8] + "f" + ("F" if is_own or number % 4 == 0 else ""))


LOOPS = [
    (ufunc, letter)
    for ufunc in UFUNCS
    for letter in TYPES
    if expected_of(ufunc, operands(ufunc, letter, np.random.default_rng(3)))
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("ufunc", "letter"), LOOPS, ids=[f"{ufunc.__name__}-{letter}" for ufunc, letter in LOOPS]
)
def test_arrays_of_every_type(ufunc: np.ufunc, letter: str) -> None:
    check(ufunc, letter)


@numba_cuda.jit
def added(x, y, out):
    np.add(x, y, out)


def both_typings(function: Any) -> tuple[Any, Any]:
    return numba_cuda.jit(function), amdjit.kernel(function, warnings=False)


def test_operands_are_broadcast_to_the_output() -> None:
    x, row = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    for operand in (row, row[None], x[:, 1:2], x[1:2, 2:3], 2.5, np.float64(3), x.T.copy().T):
        for out in (np.zeros((3, 4)), np.zeros((3, 4), order="F"), np.zeros((6, 8))[::2, ::2]):
            added[1, 1](x, operand, out)
            np.testing.assert_array_equal(out, x + operand)
    cube, out = np.arange(24.0).reshape(2, 3, 4), np.zeros((2, 3, 4))
    added[1, 1](cube, row, out)
    np.testing.assert_array_equal(out, cube + row)
    point = np.zeros(())
    added[1, 1](1.0, 2.0, point)
    assert point == 3


def test_operands_that_do_not_fit_are_pythons_error() -> None:
    for x, y, out in (
        (np.zeros(3), np.zeros(4), np.zeros(4)),
        (np.zeros(4), np.zeros(4), np.zeros(1)),
        (np.zeros((4, 1)), np.zeros((1, 3)), np.zeros((4, 1))),
    ):
        with pytest.raises(ValueError, match="broadcast"):
            np.add(x, y, out)
        with pytest.raises(
            ValueError, match=r"could not broadcast input array from shape \(.*\) into shape"
        ):
            added[1, 1](x, y, out)


def test_the_output_may_be_an_operand_and_is_the_result() -> None:
    def kernel(x, y, n):
        z = np.multiply(x, y, x)
        np.add(z, n, out=z)
        np.subtract(x[1:3], 1, x[1:3])
        np.divmod(x, 3, x, y)

    for made in both_typings(kernel):
        x, y = np.arange(5, dtype=np.int64), np.arange(5, 10, dtype=np.int64)
        mine = x.copy(), y.copy()
        kernel(x, y, 4)
        made[1, 1](*mine, 4)
        np.testing.assert_array_equal(mine, (x, y))


def test_every_lane_fills_its_own_row_of_local_and_shared_arrays() -> None:
    def kernel(x, out):
        i = numba_cuda.threadIdx.x
        own = numba_cuda.local.array(4, np.float32)
        tile = numba_cuda.shared.array((8, 4), np.float32)
        np.sqrt(x[i], own)
        np.multiply(own, x[i], tile[i])
        numba_cuda.syncthreads()
        np.maximum(tile[(i + 1) % 8], own, out[i])

    x = np.random.default_rng(2).random((8, 4), np.float32)
    expected = np.maximum(np.roll(np.sqrt(x) * x, -1, axis=0), np.sqrt(x))
    for made in both_typings(kernel):
        out = np.zeros_like(x)
        made[1, 8](x, out)
        np.testing.assert_array_equal(out, expected)


def test_results_of_small_arrays_are_new_arrays() -> None:
    def kernel(x, out):
        own = np.array((1.0, 2.0, 3.0))
        for i in range(2):
            own = np.add(own, own[i])
        out[:] = np.multiply(own, x[0])

    for made in both_typings(kernel):
        out = np.zeros(3)
        made[1, 1](np.array([0.5]), out)
        np.testing.assert_array_equal(out, np.add(np.array([2.0, 3, 4]), 3) * 0.5)


def test_numbers_are_computed_in_the_types_of_numpys_loops() -> None:
    @numba_cuda.jit
    def kernel(byte, word, single, out, wide):
        out[0] = np.add(byte, byte)
        out[1] = np.multiply(byte, word)
        out[2] = np.sin(byte)
        out[3] = np.invert(byte)
        out[4] = np.floor_divide(word, byte)
        out[5] = np.add(single, byte)
        wide[0] = np.subtract(word, np.uint16(3))

    byte, word, single = np.int8(100), np.int16(30000), np.float32(1 / 3)
    out, wide = np.zeros(6), np.zeros(1, np.int64)
    kernel[1, 1](byte, word, single, out, wide)
    with np.errstate(all="ignore"):
        expected = [byte + byte, byte * word, np.sin(np.float32(byte)), ~byte, word // byte]
        expected += [single + byte]
    np.testing.assert_allclose(out, np.array(expected, np.float64), rtol=1e-7)
    assert wide[0] == 29997


def test_powers_with_constant_exponents_are_products() -> None:
    @numba_cuda.jit
    def kernel(x, z, n, out):
        out[0] = np.power(x[0], 2)
        out[1] = np.power(n, 3)
        out[2] = np.power(x[0], -2)
        np.power(z, 2, z)
        np.power(x, 3, x)

    x, z, out = np.float32([3, 0.1, -7]), np.array([1 + 2j, -2j]), np.zeros(3)
    kernel[1, 1](x, z, np.int8(-3), out)
    np.testing.assert_allclose(out, [9, -27, 1 / 9], rtol=1e-6)
    np.testing.assert_array_equal(z, [-3 + 4j, -4])
    np.testing.assert_allclose(x, np.float32([27, 0.001, -343]), rtol=3e-7)


def test_amdjits_typing_computes_elements_as_its_operators_do() -> None:
    @amdjit.kernel
    def kernel(x, y, out, roots):
        np.add(x, 2, out)
        np.sqrt(y, roots)

    out, roots = np.zeros(3, np.int32), np.zeros(3, np.float32)
    kernel[1, 1](np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int32), out, roots)
    assert list(out) == [2, 3, 4]
    np.testing.assert_array_equal(roots, np.sqrt(np.arange(3, dtype=np.float32)))
    with pytest.raises(CompileError, match="f32 is not converted to i32"):
        amdjit.kernel(lambda x, out: np.sin(x, out)).compile(amdjit.f32[:], amdjit.i32[:])


def test_overlapping_operands_are_refused() -> None:
    for function in (
        lambda x: np.add(x[1:], 1, x[:-1]),
        lambda x: np.add(x[::-1], 1, x),
        lambda x: np.divmod(x[2:], 3, x[1:-1], x[1:-1]),
    ):
        with pytest.raises(CompileError, match="may overlap"):
            amdjit.kernel(function).compile(amdjit.i32[:])


def test_loops_are_those_that_numpy_chooses() -> None:
    dtypes = [np.dtype(letter) for letter in TYPES]
    compared = 0
    for ufunc in UFUNCS:
        for inputs in itertools.product(dtypes, repeat=ufunc.nin):
            kinds = {dtype.kind for dtype in inputs}
            is_mixed = bool(kinds & set("iu") and kinds & set("fc"))
            try:
                chosen = ufunc.resolve_dtypes((*inputs, *[None] * ufunc.nout))
            except TypeError:
                continue
            if is_mixed or np.dtype(np.float16) in chosen:
                continue
            loop = loop_of(ufunc, inputs, ())
            assert loop is not None
            # Truth is asked of each operand in its own type.
            is_logical = ufunc.__name__.startswith("logical")
            found = loop.outputs if is_logical else (*loop.inputs, *loop.outputs)
            assert found == chosen[-len(found) :], (ufunc, inputs)
            compared += 1
    assert compared > 3500


def test_integers_do_not_widen_floats_and_f16_is_computed_in_f32() -> None:
    short, word, half, single, double = map(np.dtype, "hiefd")
    for given, taken in (((single, word), single), ((half, word), single), ((half, half), single)):
        loop = loop_of(np.add, given, ())
        assert loop is not None
        assert loop.inputs == (taken, taken)
    root = loop_of(np.sqrt, (word,), ())
    assert root is not None
    assert root.inputs == (double,)
    assert loop_of(np.sqrt, (short,), (short,)) is None
