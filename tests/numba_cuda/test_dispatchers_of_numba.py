"""What Numba's dispatchers offer: attributes, configurations, hints and handlers of arguments."""

from __future__ import annotations

import pickle
import warnings
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from amdjit import LaunchError
from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import errors, float32, int32
from amdjit.numba_cuda.args import wrap_arg

pytestmark = pytest.mark.filterwarnings("ignore:f64 arithmetic")


@cuda.jit
def fill(x, value):
    """Write the value."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] = value


@cuda.jit(device=True)
def half(x):
    """Return half of it."""
    return x / 2


def test_attributes_of_dispatchers() -> None:
    assert (fill.__name__, fill.__doc__) == ("fill", "Write the value.")
    assert (half.__name__, half.__doc__) == ("half", "Return half of it.")
    assert half.py_func(3) == 1.5
    assert pickle.loads(pickle.dumps(half)) is half
    with pytest.raises(RuntimeError, match="a device function as a kernel"):
        half[1, 1]


def test_specialising_twice_is_refused() -> None:
    x = np.zeros(4, np.float32)
    special = fill.specialize(x, 3)
    assert special is fill.specialize(float32[::1], cuda.int64)
    assert list(fill.specializations.values()) == [special]
    special[1, 4](x, 5)
    assert x.tolist() == [5] * 4
    with pytest.raises(RuntimeError, match="already specialized"):
        special.specialize(float32[::1], int32)


@pytest.mark.parametrize(
    ("grid", "block", "error", "says"),
    [
        (2.0, 3, TypeError, r"griddim must be a sequence of integers, got \[2.0\], and 2.0 is a f"),
        (2, (1, "3"), TypeError, r"blockdim must be a sequence of integers, .* '3' is a str"),
        ((1, 2, 3, 4), 1, ValueError, r"griddim must be .* 1, 2 or 3 integers, got \[1, 2, 3, 4\]"),
        (1, [], ValueError, r"blockdim must be .* 1, 2 or 3 integers, got \[\]"),
        (None, 1, ValueError, r"fill\[griddim, blockdim\]"),
    ],
)
def test_wrong_configurations_are_refused_before_the_call(
    grid: Any, block: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        fill[grid, block]
    assert isinstance(caught.value, LaunchError)


def test_configurations_take_numpys_integers_and_lists() -> None:
    x = np.zeros(6)
    fill[[np.int64(2), 1], np.int32(3)](x, 1)
    assert (x == 1).all()
    with pytest.raises(ValueError, match="at least the griddim and blockdim"):
        fill[3]
    with pytest.raises(LaunchError, match="grid"):
        fill[0, 3](x, 1)


def test_hints_say_which_copies_are_made() -> None:
    given, kept = np.zeros(4), np.zeros(4)
    fill[1, 4](cuda.In(given), 7)
    fill.forall(4)(cuda.InOut(kept), 7)
    assert (given == 0).all()
    assert (kept == 7).all()
    out = np.asfortranarray(np.zeros((2, 3)))[:, ::2]
    stream = cuda.stream()

    @cuda.jit
    def numbered(x):
        j, i = cuda.grid(2)
        x[i, j] = 10 * i + j

    numbered[1, (2, 2), stream](cuda.Out(out))
    assert out.tolist() == [[0, 1], [10, 11]]
    placed = cuda.to_device(given)
    fill[1, 4](cuda.Out(placed), 3)
    assert (placed.copy_to_host() == 3).all()


class Doubled:
    """A handler for numbers in boxes, which keeps the order of its calls."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def prepare_args(self, ty: Any, val: Any, stream: Any, retr: list[Any]) -> tuple[Any, Any]:
        if isinstance(val, dict):
            self.log.append(f"in {stream}")
            retr.append(lambda: self.log.append("out"))
            return cuda.int64, 2 * val["number"]
        return ty, val


class OnlyRead:
    """A handler that lets arrays be read only."""

    def prepare_args(self, ty: Any, val: Any, **_: Any) -> tuple[Any, Any]:
        return ty, wrap_arg(val, default=cuda.In) if isinstance(val, np.ndarray) else val


def test_handlers_prepare_arguments() -> None:
    log: list[str] = []

    @cuda.jit(extensions=[Doubled(log)])
    def stored(x, value):
        x[cuda.grid(1)] = value

    x = np.zeros(2, np.int64)
    stored[1, 2](x, {"number": 4})
    assert x.tolist() == [8, 8]
    assert log == ["in 0", "out"]
    stored.extensions.append(OnlyRead())
    stored[1, 2](x, {"number": 5})
    assert x.tolist() == [8, 8]
    assert fill.extensions == []


def test_kernels_call_kernels() -> None:
    @cuda.jit
    def outer(x):
        fill(x, 2)
        if cuda.grid(1) == 0:
            one(x, 3.9)

    @cuda.jit("void(float64[:], int64)", inline="always")
    def one(x, value):
        x[0] += value

    x = np.zeros(3)
    outer[1, 3](x)
    assert x.tolist() == [5, 2, 2]


def test_signatures_of_device_functions_drop_fractions() -> None:
    @cuda.jit(["int64(int64, int64)", "float64(float32, float32)"], device=True)
    def added(x, y):
        return x + y

    @cuda.jit("int32(int32)", device=True, forceinline=True)
    def own(x):
        return x

    @cuda.jit
    def kernel(x, out):
        out[0] = added(x[0], x[1])
        out[1] = own(x[0]) + own(-x[1])

    out = np.zeros(2)
    kernel[1, 1](np.array([1.5, 2.75]), out)
    assert out.tolist() == [4.25, -1]


def test_warnings_of_few_blocks_and_of_copies_have_numbas_names() -> None:
    few = pytest.warns(errors.NumbaPerformanceWarning, match="Grid size 6 .* low occupancy")
    copies = pytest.warns(errors.NumbaPerformanceWarning, match="Host array used .* copy overhead")
    host, there = np.zeros(4), cuda.to_device(np.zeros(4))
    with warnings.catch_warnings(), patch.object(cuda.config, "CUDA_LOW_OCCUPANCY_WARNINGS", 1):
        warnings.simplefilter("error")
        fill[128, 1](there, 1)
        with few as found:
            fill[(3, 2), 1]
    assert found[0].filename == __file__
    with warnings.catch_warnings(), patch.object(cuda.config, "CUDA_WARN_ON_IMPLICIT_COPY", 1):
        warnings.simplefilter("error")
        fill[1, 4](there, 1)
        fill[1, 4](cuda.mapped_array(4), 1)
        for launch in (fill[1, 4], fill.forall(4)):
            with copies as found:
                launch(host, 1)
            assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fill[1, 4](host, 1)
