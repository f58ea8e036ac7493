"""`round` and `numpy.round`, with constant digits and with digits that are known at run time only:
bit for bit NumPy's or Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import Const

DEVICE = "emulator:gfx1201"
FLOATS = [np.float16, np.float32, np.float64]
INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]


@amdjit.kernel
def each(x, digits, numpys, pythons):
    i = amdjit.grid(1)
    numpys[i] = np.round(x[i], digits[i])
    pythons[i] = round(x[i], digits[i])


@amdjit.kernel
def of_constant(x, digits: Const, numpys, pythons):
    i = amdjit.grid(1)
    numpys[i] = np.round(x[i], digits)
    pythons[i] = round(x[i], digits)


def numbers(dtype: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return numbers of every size, halves among them, and digits from far below to far above what
    matters."""
    random = np.random.default_rng(8)
    sizes = 10.0 ** random.integers(
        -5 if dtype is np.float16 else -30, 5 if dtype is np.float16 else 30, 4096
    )
    x = (random.normal(size=4096) * sizes).astype(dtype)
    x[:2048] = (random.integers(-4000, 4000, 2048) / 8).astype(dtype)
    x[-4:] = (0.0, -0.0, np.inf, np.nan)
    digits = random.integers(-25, 25, 4096)
    digits[2000:3000] = random.integers(-400, 400, 1000)
    return x, digits.astype(np.int32)


def same(found: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.bool_]:
    bits = f"u{found.dtype.itemsize}"
    return (found.view(bits) == expected.view(bits)) | ((found != found) & (expected != expected))


def with_digits(x: Any, n: int) -> Any:
    """Return what NumPy does; but its doubles' powers of ten are the host's, of which some (10**23)
    are one off."""
    with np.errstate(all="ignore"):
        if x.dtype != np.float64 or n == 0:
            return np.round(x, n)
        power = np.float64(f"1e{abs(n)}")
        return np.rint(x * power) / power if n > 0 else np.rint(x / power) * power


def test_the_expected_numbers_are_numpys() -> None:
    x, digits = numbers(np.float64)
    found = np.array([with_digits(value, int(n)) for value, n in zip(x, digits, strict=True)])
    with np.errstate(all="ignore"):
        expected = np.array([np.round(value, int(n)) for value, n in zip(x, digits, strict=True)])
    assert same(found, expected)[abs(digits) <= 22].all()


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
def test_run_time_digits_of_floats_round_as_numpy(dtype: Any) -> None:
    x, digits = numbers(dtype)
    numpys, pythons = np.zeros_like(x), np.zeros_like(x)
    with amdjit.use(DEVICE):
        each[128, 32](x, digits, numpys, pythons)
    expected = np.array([with_digits(value, int(n)) for value, n in zip(x, digits, strict=True)])
    assert same(numpys, expected).all()
    left = ~same(pythons, expected)
    # Where NumPy's product leaves the type, Python has the number itself, or 0 for tens beyond it.
    assert not np.isfinite(expected[left]).any()
    assert left.any()
    own = np.array(
        [
            float(value) if n > 0 else round(float(value), int(n))
            for value, n in zip(x[left], digits[left], strict=True)
        ]
    )
    assert same(pythons[left], own.astype(dtype)).all()


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("digits", [-400, -39, -5, -1, 0, 1, 5, 11, 39, 400])
def test_constant_digits_round_as_those_of_run_time(dtype: Any, digits: int) -> None:
    x = numbers(dtype)[0][-2080:-1]
    x = np.resize(x, 2080)
    found = [np.zeros_like(x) for _ in range(4)]
    with amdjit.use(DEVICE):
        each[65, 32](x, np.full(2080, digits, np.int32), *found[:2])
        of_constant[65, 32](x, digits, *found[2:])
    assert same(found[0], found[2]).all()
    assert same(found[1], found[3]).all()


def test_all_powers_of_ten_are_exact_in_double() -> None:
    digits = np.resize(np.arange(309, dtype=np.int32), 320)
    x = np.array([3 * float(f"1e{n}") for n in digits])
    x[digits == 308] = 1e308
    numpys, pythons = np.zeros_like(x), np.zeros_like(x)
    with amdjit.use(DEVICE):
        each[10, 32](x, -digits, numpys, pythons)
    expected = np.array([with_digits(value, -int(n)) for value, n in zip(x, digits, strict=True)])
    assert same(numpys, expected).all()
    assert same(pythons, expected).all()


def test_round_of_a_run_time_zero_and_of_digits_that_differ_between_lanes() -> None:
    x = np.full(32, 2.5, np.float64)
    digits = (np.arange(32) % 3 - 1).astype(np.int32)
    numpys, pythons = np.zeros_like(x), np.zeros_like(x)
    with amdjit.use(DEVICE):
        each[1, 32](x, digits, numpys, pythons)
    assert (pythons == [round(2.5, n) for n in map(int, digits)]).all()


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
def test_integers_round_to_tens_as_python(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    random = np.random.default_rng(9)
    x = random.integers(limits.min, limits.max, 2048, dtype, endpoint=True)
    x[:1024] = np.clip(random.integers(-2000, 2000, 1024) * 5, limits.min, limits.max).astype(dtype)
    digits = random.integers(-21, 3, 2048).astype(np.int32)
    digits[:1024] = random.integers(-4, 1, 1024)
    numpys, pythons = np.zeros_like(x), np.zeros_like(x)
    with amdjit.use(DEVICE):
        each[64, 32](x, digits, numpys, pythons)
    exact = [round(int(value), int(n)) for value, n in zip(x, digits, strict=True)]
    expected = np.array([value % (1 << limits.bits) for value in exact], np.uint64).astype(dtype)
    held = np.array([limits.min <= value <= limits.max for value in exact])
    assert held.sum() > 1000
    assert (pythons == expected)[held].all()
    assert (numpys == pythons).all()
