"""Sums, extremes and tests of whole arrays in a kernel: the emulator against NumPy and Python."""

from __future__ import annotations

import linecache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import Const, f32, i32, local, shared
from tests.api.lanes import DEVICE, assert_same_bits, same_as_python

RANDOM = np.random.default_rng(5)
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def values(dtype: str, *shape: int) -> NDArray[Any]:
    """Return small numbers, whose sums are exact in every type and order."""
    low = 0 if np.dtype(dtype).kind in "?u" else -3
    return RANDOM.integers(low, 4, shape).astype(dtype)


def reduced(i, a, results):
    row = a[i]
    results[i, 0] = row.sum() + 2 * np.sum(row[1:]) + 4 * row[::-2].sum() + 8 * a[i:].sum()
    results[i, 1] = row.prod() + np.prod(row[:2])
    results[i, 2] = row.min() + 10 * np.max(row[1:3]) + 100 * a[:, 1].max()
    results[i, 3] = row.argmin() + 10 * np.argmax(row) + 100 * a[i:].argmax()
    results[i, 4] = row.any() + 2 * row.all() + 4 * np.any(row[2:]) + 8 * np.all(a[i:, 1:])
    results[i, 5] = np.count_nonzero(row) + 10 * len(row)
    results[i, 6] = (row[0] in row) + 2 * (3 in a[:i, 1:]) + 4 * (5 in row) + 8 * (2 not in row)
    results[i, 7] = a[i:, 1:].sum() - a.T[1:, i:].sum()
    results[i, 8] = a[i:, ::2].argmin()


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f4"])
def test_reductions_are_those_of_numpy(dtype: str) -> None:
    same_as_python(reduced, values(dtype, 8, 5), np.zeros((8, 9)), lanes=8)


def three_axes(i, a, results):
    part = a[i % 2 :, 1:, ::-1]
    results[i, 0] = part.sum() + 1000 * part.argmax()
    results[i, 1] = part.max() - part.min() + np.ptp(a[i % 3])
    number = 0
    for x in part.flat:
        number = number * 3 + x
    results[i, 2] = number
    for k, x in enumerate(a.flat):
        if x > 1:
            results[i, 3] = k
    deep = a.reshape(2, 2, 3, 3)[:, :, 1:, i % 2 :]
    results[i, 4] = deep.sum() + 100 * deep.argmin() + 1000 * deep.any()
    for x in deep.flat:
        results[i, 5] = results[i, 5] * 2 + x


def test_arrays_with_gaps_are_read_in_c_order() -> None:
    same_as_python(three_axes, values("i8", 3, 4, 3), np.zeros((6, 6), np.int64), lanes=6)


NANS = [
    [1.0, 2.0, 0.0, -0.0, -1.5, 0.0],
    [np.nan, -1.5, 2.5, np.nan, 3.0, 3.0],
    [-1.5, np.inf, 2.5, -np.inf, np.nan, 1.0],
    [np.inf, np.inf, 1.0, 2.0, 3.0, 1e30],
    [np.nan] * 6,
    [-np.inf, -1.0, 0.0, 5.0, np.nan, 5.0],
]


def with_nans(i, a, results):
    row = a[i]
    results[i, 0] = row.sum()
    results[i, 1] = row.min()
    results[i, 2] = row.max()
    results[i, 3] = row.argmin()
    results[i, 4] = row.argmax()
    results[i, 5] = row.any() + 2 * row.all()
    results[i, 6] = np.count_nonzero(row)
    results[i, 7] = np.nansum(row)
    results[i, 8] = np.nanmin(row)
    results[i, 9] = np.nanmax(row)
    results[i, 10] = np.nanprod(row[:3])
    results[i, 11] = (row[0] in row) + 2 * (5.0 in row)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.filterwarnings("ignore:All-NaN")
def test_nans_count_as_in_numpy(dtype: str) -> None:
    a = np.array(NANS).astype(dtype)
    same_as_python(with_nans, a, np.zeros((6, 12), dtype), lanes=6)


@amdjit.kernel
def means(a, results):
    i = amdjit.grid(1)
    row = a[i]
    results[i, 0] = row.mean()
    results[i, 1] = row.var()
    results[i, 2] = row.std(ddof=1)
    results[i, 3] = np.nanmean(row)
    results[i, 4] = np.mean(row, dtype=f32)


@pytest.mark.parametrize("dtype", ["u1", "f2", "f8"])
def test_means_are_as_accurate_as_numpys(dtype: str) -> None:
    a, results = values(dtype, 8, 7), np.zeros((8, 5))
    with amdjit.use(DEVICE):
        means[1, 8](a, results)
    wide = a.astype("f8")
    expected = [wide.mean(1), wide.var(1), wide.std(1, ddof=1), wide.mean(1)]
    assert np.allclose(results[:, 4], wide.mean(1), rtol=1e-6, atol=1e-6)
    tolerance = {"f2": 1e-3, "f4": 1e-6}.get(dtype, 1e-14 if dtype == "f8" else 1e-6)
    assert np.allclose(results[:, :4], np.transpose(expected), rtol=tolerance, atol=tolerance)


@amdjit.kernel
def types_of_results(a, kinds: Const):
    total, product, mean, least, place = a.sum(), a.prod(), a.mean(), a.min(), a.argmin()
    for found, expected in zip((total, product, mean, least, place), kinds, strict=True):
        if found.dtype != expected:
            raise TypeError("another type")


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", TYPES)
def test_results_have_numpys_types(dtype: str) -> None:
    a = np.ones(3, dtype)
    kinds = [a.sum(), a.prod(), a.mean(), a.min()]
    names = tuple(amdjit.types.from_dtype(kind.dtype) for kind in kinds)
    with amdjit.use(DEVICE):
        types_of_results[1, 1](a, (*names, i32))


@amdjit.kernel
def pythons(a, results):
    results[0] = sum(a)
    results[1] = min(a)
    results[2] = max(a)
    results[3] = any(a) + 2 * all(a)
    results[4] = sum(a, 10)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_pythons_own_functions_take_arrays(dtype: str) -> None:
    a = np.array([200, 3, 100, 0], dtype)
    results = np.zeros(5)
    with amdjit.use(DEVICE), np.errstate(over="ignore"):
        pythons[1, 1](a, results)
        expected = [sum(a), min(a), max(a), any(a) + 2 * all(a), sum(a, np.array(10, dtype)[()])]
    assert list(results) == expected


@amdjit.kernel
def in_lds_and_registers(a, results):
    i = amdjit.threadIdx.x
    tile, own = shared.array((8, 4), f32), local.array((2, 3), i32)
    for k in range(4):
        tile[i, k] = a[i, k]
    for k in range(6):
        own.flat[k] = k * i
    amdjit.syncthreads()
    results[i, 0] = tile.sum() + tile[i].max()
    results[i, 1] = own.sum() + 10 * own.argmax() + own[1].min()
    results[i, 2] = own.T[2].sum() + own.ravel()[4] + own.size + own.nbytes + own.itemsize


def test_shared_and_local_arrays_are_reduced() -> None:
    a, results = values("f4", 8, 4), np.zeros((8, 3), np.float32)
    with amdjit.use(DEVICE):
        in_lds_and_registers[1, 8](a, results)
    lanes = np.arange(8)
    own = np.arange(6).reshape(2, 3) * lanes[:, None, None]
    assert (results[:, 0] == a.sum() + a.max(1)).all()
    places = [part.argmax() for part in own]
    assert (results[:, 1] == own.sum((1, 2)) + np.multiply(10, places) + own[:, 1].min(1)).all()
    assert (results[:, 2] == own[:, :, 2].sum(1) + own[:, 1, 1] + 6 + 24 + 4).all()


@amdjit.kernel
def complex_totals(a, out):
    out[0] = a.sum()
    out[1] = a[1:].prod()
    out[2] = a.mean()
    out[3] = 1j in a


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_summed(dtype: Any) -> None:
    a, out = np.array([1 + 2j, 3 - 1j, 1j, 2], dtype), np.zeros(4, dtype)
    with amdjit.use(DEVICE):
        complex_totals[1, 1](a, out)
    assert list(out) == [a.sum(), a[1:].prod(), a.mean(), 1]


@amdjit.kernel
def small_floats(a, out):
    out[0] = a.sum()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_sums_of_small_floats_are_rounded_once(dtype: Any) -> None:
    a, out = RANDOM.normal(size=400).astype(dtype), np.zeros(1, dtype)
    with amdjit.use(DEVICE):
        small_floats[1, 1](a, out)
    total = np.float32(0)
    for x in a:
        total += np.float32(x)
    assert_same_bits(out.view("u2"), np.array([total]).astype(dtype).view("u2"), "the sum")


@amdjit.kernel
def of_empty(a, out, which: Const):
    out[0] = a.sum() + a.prod() + a.any() + a.all()
    if which == "min":
        out[0] = a.min()
    elif which == "argmax":
        out[0] = a.argmax()
    elif which == "max":
        out[0] = max(a)


@pytest.mark.sample(2)
@pytest.mark.parametrize("which", ["sum", "min", "argmax", "max"])
def test_empty_arrays_have_sums_but_no_extremes(which: str) -> None:
    a, out = np.zeros(0, np.float32), np.zeros(1, np.float32)
    with amdjit.use(DEVICE):
        if which == "sum":
            of_empty[1, 1](a, out, which)
            assert out[0] == 2
            return
        numpys = {"min": a.min, "argmax": a.argmax, "max": lambda: max(a)}[which]
        with pytest.raises(ValueError, match=r"empty|zero-size") as expected:
            numpys()
        with pytest.raises(amdjit.KernelFault, match="ValueError") as found:
            of_empty[1, 1](a, out, which)
        assert which == "max" or found.value.detail == f"ValueError: {expected.value}"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("a.sum(axis=1)", "along an axis"),
        ("np.max(a, axis=0)", "along an axis"),
        ("sum(a)", "Python's `sum` of a matrix"),
        ("np.sum(f32(1))", "not an array"),
        ("np.max((a[0, 0], a[0, 1]))", "not an array"),
        ("local.array((2, 0), f32).min()", "the shape of an array"),
        ("np.sum(local.array(3, f32x4))", "array of vectors"),
    ],
)
def test_what_cannot_be_reduced_is_refused(call: str, words: str) -> None:
    names: dict[str, Any] = {"np": np, "local": local, "f32": f32, "f32x4": amdjit.f32x4}
    source = f"def refused(a, out):\n    out[0] = {call}\n"
    kernel = _defined(source, names)
    with pytest.raises(amdjit.CompileError, match=words):
        kernel.compile(f32[:, :], f32[:])


def _defined(source: str, names: dict[str, Any]) -> Any:
    file = f"<{hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return amdjit.kernel(names["refused"])
