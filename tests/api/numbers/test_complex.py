"""complex64 and complex128 in kernels, against NumPy."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from tests.api.lanes import DEVICE

TYPES = pytest.mark.parametrize("kind", [np.complex64, np.complex128])
EDGES = [0, -0.0, 1, -2.5, 1e30, 1e-30, np.inf, -np.inf, np.nan]
LANES = 128


def numbers(kind: Any, seed: int) -> NDArray[Any]:
    random = np.random.default_rng(seed)
    parts = random.standard_normal((LANES, 2)).astype(np.zeros(1, kind).real.dtype)
    parts[:64] = random.choice(EDGES, (64, 2))
    return np.ascontiguousarray(parts).view(kind).reshape(-1)


def same(found: NDArray[Any], expected: NDArray[Any]) -> None:
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.real, expected.real)
    np.testing.assert_array_equal(found.imag, expected.imag)


@amdjit.kernel
def every_operator(a, b, out, equal):
    i = amdjit.grid(1)
    x, y = a[i], b[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * y
    out[3, i] = x / y
    out[4, i] = -x.conjugate()
    out[5, i] = +x
    equal[0, i] = x == y
    equal[1, i] = x != y
    equal[2, i] = bool(x)


def product(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """NumPy fuses multiplications and additions where the CPU can; C and kernels do not."""
    result = np.empty_like(x)
    result.real = x.real * y.real - x.imag * y.imag
    result.imag = x.real * y.imag + x.imag * y.real
    return result


@pytest.mark.sample(1)
@TYPES
def test_operators_on_complex_numbers_give_what_numpy_gives(kind: Any) -> None:
    a, b = numbers(kind, 1), numbers(kind, 2)
    b[:5] = a[:5]
    out, equal = np.zeros((6, LANES), kind), np.zeros((3, LANES), bool)
    with amdjit.use(DEVICE):
        every_operator[1, LANES](a, b, out, equal)
    with np.errstate(all="ignore"):
        for row, compute in zip(
            out, (operator.add, operator.sub, product, operator.truediv), strict=False
        ):
            same(row, compute(a, b))
        # NumPy's negation of a NaN may change its sign only.
        same(out[4], -a.conj())
        same(out[5], a)
        assert np.array_equal(equal, [a == b, a != b, a.astype(bool)])


@amdjit.kernel
def with_real_numbers(a, r, n, out):
    i = amdjit.grid(1)
    z = a[i]
    out[0, i] = z + r[i]
    out[1, i] = n[i] - z
    out[2, i] = z * 2 - 1j
    out[3, i] = 2.5j / (z + 3)
    out[4, i] = complex(n[i], r[i])
    out[5, i] = z.real if i % 2 == 0 else z.imag
    out[6, i] = n[i]


@TYPES
def test_real_operands_and_literals(kind: Any) -> None:
    z = (np.arange(32) - 7.5 + 1j * np.arange(32)).astype(kind)
    real = z.real.dtype
    r, n = np.linspace(-3, 4, 32).astype(real), np.arange(32, dtype=np.int32)
    out = np.zeros((7, 32), kind)
    with amdjit.use(DEVICE):
        with_real_numbers[1, 32](z, r, n, out)
    part = np.where(np.arange(32) % 2 == 0, z.real, z.imag)
    imaginary = (n + 1j * r).astype(kind)
    expected = [
        z + r,
        n.astype(real) - z,
        z * kind(2) - kind(1j),
        kind(2.5j) / (z + kind(3)),
        imaginary,
        part,
        n,
    ]
    for found, row in zip(out, expected, strict=True):
        same(found, row.astype(kind))


@amdjit.kernel
def mandelbrot(c, steps, limit):
    i = amdjit.grid(1)
    z = 0j
    count = 0
    while abs(z) <= 2 and count < limit:
        z = z * z + c[i]
        count += 1
    steps[i] = count


def test_complex_values_go_round_loops() -> None:
    c = (np.linspace(-2, 1, 64) + 0.3j).astype(np.complex64)
    steps = np.zeros(64, np.int32)
    with amdjit.use(DEVICE):
        mandelbrot[2, 32](c, steps, 20)
    expected = []
    for number in c:
        z, count = np.complex64(0), 0
        while abs(z) <= 2 and count < 20:
            z, count = z * z + number, count + 1
        expected.append(count)
    assert steps.tolist() == expected


@amdjit.kernel
def magnitudes(a, out):
    i = amdjit.grid(1)
    out[i] = abs(a[i])


@pytest.mark.sample(1)
@TYPES
def test_magnitudes_are_numpys(kind: Any) -> None:
    a = numbers(kind, 4)
    out = np.zeros(LANES, a.real.dtype)
    with amdjit.use(DEVICE):
        magnitudes[1, LANES](a, out)
    expected = np.abs(a)
    finite = np.isfinite(expected)
    assert np.array_equal(out[~finite], expected[~finite], equal_nan=True)
    np.testing.assert_allclose(out[finite], expected[finite], rtol=4 * np.finfo(out.dtype).eps)


@amdjit.kernel
def powers(a, out):
    i = amdjit.grid(1)
    z = a[i]
    out[0, i] = z**0
    out[1, i] = z**1
    out[2, i] = z**2
    out[3, i] = z**5


@TYPES
def test_constant_powers_are_products(kind: Any) -> None:
    a = numbers(kind, 6)
    out = np.zeros((4, LANES), kind)
    with amdjit.use(DEVICE):
        powers[1, LANES](a, out)
    with np.errstate(all="ignore"):
        square = product(a, a)
        same(out[0], np.ones_like(a))
        same(out[1], a)
        same(out[2], square)
        same(out[3], product(a, product(square, square)))


CONSTANT = np.complex64(1 + 2j)


@amdjit.kernel
def arguments(z, out, update):
    i = amdjit.grid(1)
    tile = amdjit.shared.array(4, np.complex64)
    tile[i] = z * i
    amdjit.syncthreads()
    out[i] = tile[3 - i] + CONSTANT
    out[i] += update
    out[i] *= np.complex64(2)


@pytest.mark.parametrize("z", [1 + 2j, np.complex64(3 - 1j)])
def test_scalars_constants_and_lds(z: Any) -> None:
    out = np.zeros(4, np.complex64)
    with amdjit.use(DEVICE):
        arguments[1, 4](z, out, 0.5)
    same(out, ((z * np.arange(3, -1, -1) + CONSTANT + 0.5) * 2).astype(np.complex64))


@amdjit.kernel
def less(a):
    a[0] = 1 if a[0] < a[1] else 0


@amdjit.kernel
def power(a):
    a[0] = a[0] // a[1]


@amdjit.kernel
def to_real(a, out):
    out[0] = a[0]


@pytest.mark.parametrize("kernel", [less, power, to_real])
def test_what_complex_numbers_cannot_do_is_refused(kernel: Any) -> None:
    a = np.zeros(2, np.complex64)
    with amdjit.use(DEVICE), pytest.raises(amdjit.TypeCheckError, match="complex64"):
        kernel[1, 1](a, *([np.zeros(1, np.float32)] if kernel is to_real else []))


@amdjit.device_function
def squared(z: amdjit.complex64) -> np.complex64:
    return z * z


@dataclasses.dataclass(frozen=True)
class Wave:
    phase: amdjit.complex64
    gain: amdjit.f32


@amdjit.kernel
def annotated(a: amdjit.complex64[:], z: np.complex128, wave: Wave, out: amdjit.complex128[:, :]):
    i = amdjit.grid(1)
    wide: amdjit.complex128 = a[i]
    narrow: amdjit.complex64 = z * 3
    out[0, i] = wide * z
    out[1, i] = squared(narrow)
    out[2, i] = squared(1j)
    out[3, i] = wave.phase * wave.gain + Wave(amdjit.f32(i), 1).phase
    out[4, i] = a.dtype(z) if a.dtype is amdjit.complex64 else a[i].nowhere
    out[5, i] = amdjit.complex64(i)


def test_complex_annotations_convert_arguments() -> None:
    a, out = np.arange(8).astype(np.complex64), np.zeros((6, 8), np.complex128)
    z = 0.1 + 0.7j
    with amdjit.use(DEVICE):
        annotated[1, 8](a, z, Wave(2 + 1j, 3.0), out)
    narrow = np.complex64(z * 3)
    assert np.array_equal(out[0], a.astype(np.complex128) * z)
    assert np.array_equal(out[1], product(np.full(8, narrow), np.full(8, narrow)))
    assert set(out[2]) == {-1}
    assert np.array_equal(out[3], (6 + 3j) + np.arange(8))
    assert set(out[4]) == {np.complex64(z)}
    assert np.array_equal(out[5], np.arange(8))
    annotated.compile()


def takes_narrow(z: np.complex64, out):
    out[0] = z


def takes_pair(p: tuple[amdjit.f32, amdjit.i32], out):
    out[0] = p[0] + p[1]


def passes_wide(out):
    out[0] = squared(out[0])


def test_other_types_than_annotated_are_refused() -> None:
    out = np.zeros(1, np.complex128)
    with amdjit.use(DEVICE):
        for value in (np.complex128(1), 1.5, (1.0, 2.0)):
            with pytest.raises(amdjit.CompileError, match="annotated complex64"):
                amdjit.kernel(takes_narrow)[1, 1](value, out)
        amdjit.kernel(takes_narrow)[1, 1](2 + 1j, out)
        assert out[0] == 2 + 1j
        with pytest.raises(amdjit.CompileError, match="annotated complex64, but complex128"):
            amdjit.kernel(passes_wide)[1, 1](out)
        result = np.zeros(1, np.float32)
        amdjit.kernel(takes_pair)[1, 1]((1, 2), result)
        assert result[0] == 3
        with pytest.raises(amdjit.CompileError, match="p"):
            amdjit.kernel(takes_pair)[1, 1]((1, 2, 3), result)


@amdjit.kernel
def parts_of_arrays(sums, x, y):
    i = amdjit.grid(1)
    amdjit.atomic.add(sums.real, i % 4, 1)
    amdjit.atomic.max(sums[4:].imag, i % 2, x.imag[i])
    y.real[i] = x.imag[5]
    y[i].imag = x[i].real
    y.imag[i] += 1
    y[i].real -= x.real[i]


@TYPES
def test_parts_of_arrays_are_views(kind: Any) -> None:
    x = (np.arange(32) + 1j * np.arange(32)[::-1]).astype(kind)
    sums, y = np.zeros(6, kind), np.zeros(32, kind)
    with amdjit.use(DEVICE):
        parts_of_arrays[1, 32](sums, x, y)
    assert sums.tolist() == [8, 8, 8, 8, 31j, 30j]
    np.testing.assert_array_equal(y, (x.imag[5] - x.real) + 1j * (x.real + 1))


def test_parts_of_views_and_rows() -> None:
    x = np.arange(12).reshape(3, 4).astype(complex)
    out = np.zeros((3, 4))

    @amdjit.kernel
    def of_rows(x, out):
        j, i = amdjit.grid(2)
        x[i, j].imag = 2
        out[i, j] = x.real[i, j] * x[i].imag[j] + x.T.real[j, i]

    with amdjit.use(DEVICE):
        of_rows[(1, 1), (4, 3)](x, out)
    np.testing.assert_array_equal(out, 3 * np.arange(12).reshape(3, 4))


@amdjit.kernel
def to_value(x):
    z = x[0]
    z.imag = 1
    x[0] = z


def test_parts_of_values_are_not_assigned() -> None:
    with pytest.raises(amdjit.CompileError, match="a field of complex128 cannot be assigned"):
        to_value[1, 1](np.zeros(1, complex))
