"""What Numba's programs call and annotate: kernels in kernels, compiled functions, any
annotation."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import UnsupportedSyntaxError
from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import float32, int32

pytestmark = pytest.mark.filterwarnings("ignore:f64 arithmetic")


@cuda.jit
def outside_band(i, j, width):
    return abs(i - j) > width > 0


@cuda.jit("(int32, int32, int32[:, :])")
def store_larger(i, j, out):
    out[i, j] = (i if i > j else j) + 1


@cuda.jit
def band(out, width):
    i, j = cuda.grid(2)
    if outside_band(i, j, width):
        return
    store_larger(i, j, out)


def test_a_kernel_calls_a_function_declared_without_device() -> None:
    out = np.zeros((4, 5), np.int32)
    band[1, (4, 5)](out, 1)
    i, j = np.indices(out.shape)
    assert (out == np.where(abs(i - j) > 1, 0, np.maximum(i, j) + 1)).all()


@amdjit.kernel
def calls_amdjits_kernel(out):
    own(out)


@amdjit.kernel
def own(out):
    out[0] = 1


def test_amdjits_kernels_are_not_called() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="AJ0111"):
        calls_amdjits_kernel[1, 1](np.zeros(1, np.int32))


class Compiled:
    """A function compiled by another compiler, which keeps the Python function as Numba does."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


@Compiled
def shifted(x, by):
    return x * 2 + by


@cuda.jit
def uses_compiled(x, out):
    i = cuda.grid(1)
    out[i] = shifted(x[i], 0.5)


@amdjit.kernel
def uses_compiled_by_own_rules(x, out):
    i = amdjit.grid(1)
    out[i] = shifted(x[i], 0.5)


@pytest.mark.parametrize("kernel", [uses_compiled, uses_compiled_by_own_rules])
def test_a_function_compiled_for_the_processor(kernel: Any) -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    kernel[1, 4](x, out)
    assert list(out) == [0.5, 2.5, 4.5, 6.5]


@cuda.jit(device=True)
def half(x: int32, data: Unknown.Tensor) -> int32:  # type: ignore[name-defined]  # noqa: F821
    part: int32 = x / 2
    data[0] = part
    return part


@cuda.jit
def annotated(x: np.ndarray, scale: float32, out: bytes):
    out[1] = half(x[0], out) * scale


def test_annotations_say_nothing() -> None:
    out = np.zeros(2)
    annotated[1, 1](np.array([5]), 0.1, out)
    assert list(out) == [2.5, 2.5 * 0.1]


@cuda.jit
def parts_by_numbas_rules(x, z, out):
    total = x[0] + 0 * 1j if x.size < 0 else x[0]
    cuda.atomic.add(out.real, 0, total.real)
    cuda.atomic.add(z.imag, 0, (x[1] + 2).real + x[0].imag)


@amdjit.kernel
def parts(x, n, out):
    out[0] = x[0].real
    out[1] = x[0].imag + n.real
    out.real[2] = n.imag + 4


def test_parts_of_real_numbers() -> None:
    z, out = np.zeros(1, np.complex128), np.ones(2)
    parts_by_numbas_rules[1, 1](np.array([3.0, 4.0]), z, out)
    assert out[0] == 4
    assert z[0] == 6j
    found = np.zeros(3, np.float32)
    parts[1, 1](np.array([2.5], np.float32), np.int32(7), found)
    assert list(found) == [2.5, 7, 4]


def test_no_memory_waits_to_be_freed() -> None:
    deallocations = cuda.current_context().deallocations
    deallocations.clear()
    assert len(deallocations) == 0
