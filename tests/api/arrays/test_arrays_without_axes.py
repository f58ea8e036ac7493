"""Arrays without axes: `a[()]` is their only element, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import CompileError, f32

pytestmark = pytest.mark.usefixtures("emulator")
SCALE = np.array(2.5)
POINT = np.dtype([("x", "f4"), ("n", "i4")])


@amdjit.kernel
def scale(x, out):
    out[()] = x[()] * SCALE[()] + x.ndim + x.size + len(x.shape)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16, np.uint64, np.float16])
@pytest.mark.parametrize("on_device", [False, True])
def test_the_element_is_read_and_written(kind: type[np.generic], on_device: bool) -> None:
    x, out = np.array(6, kind), np.zeros((), np.float64)
    given = (amdjit.to_device(x), amdjit.zeros((), np.float64)) if on_device else (x, out)
    for _ in range(3):
        scale[1, 1](*given)
    result = np.asarray(given[1])
    assert result.shape == ()
    assert result == 6 * 2.5 + 1


def add_to(total, value):
    total[()] += value


def test_views_and_functions_have_them_too() -> None:
    @amdjit.kernel
    def sums(x, out):
        add_to(out, x[1])
        out[...] = out[()] * 2

    device = amdjit.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = amdjit.zeros((), np.float32)
    sums[1, 1](device[1], out)
    assert np.asarray(out) == 8
    scale[1, 1](device[1, 2], device[0, 0])
    assert np.asarray(device)[0, 0] == 5 * 2.5 + 1


def test_atomics_take_their_element() -> None:
    @amdjit.kernel
    def count(out):
        amdjit.atomic.add(out, (), 1)

    out = np.array(5, np.int32)
    count[2, 32](out)
    assert out == 69


def test_a_record_without_axes() -> None:
    @amdjit.kernel
    def move(p):
        p[()].x += 1
        p.n = 7

    p = np.array((1.5, 2), POINT)
    move[1, 1](p)
    assert p.item() == (2.5, 7)


def test_complex_numbers_without_axes() -> None:
    @amdjit.kernel
    def square(z, out):
        out[()] = z[()] * z[()]

    out = np.zeros((), np.complex128)
    square[1, 1](np.array(1 + 2j, np.complex64), out)
    assert out == -3 + 4j


def test_they_can_be_annotated_and_compiled_for() -> None:
    @amdjit.kernel
    def double(x: f32[()]):
        x[()] *= 2

    compiled = double.compile(target="gfx1201")
    assert compiled.signature == "double(f32[()])"
    x = np.array(4, np.float32)
    double[1, 1](x)
    assert x == 8
    with pytest.raises(amdjit.TypeCheckError, match=r"f32\[\(\)\]"):
        double[1, 1](np.zeros(1, np.float32))


def test_the_array_itself_is_no_number() -> None:
    @amdjit.kernel
    def double(x, out):
        out[()] = x * 2

    with pytest.raises(CompileError, match=r"index an array: `a\[\(\)\]`"):
        double[1, 1](np.array(1.0), np.array(1.0))
