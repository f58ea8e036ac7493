"""Functions that no module has as variables travel to other processes where cloudpickle, or the one
that Numba brings, is loaded."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import float32, void

cloudpickle = pytest.importorskip("cloudpickle")


@pytest.fixture(params=["cloudpickle", "numba.cloudpickle"])
def _loaded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cloudpickle", raising=False)
    monkeypatch.setitem(sys.modules, request.param, cloudpickle)


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.usefixtures("_loaded")
def test_local_kernels_and_functions_of_arrays() -> None:
    factor = 3

    @cuda.jit(device=True)
    def scaled(x):
        return factor * x

    @cuda.jit
    def scale(x):
        i = cuda.grid(1)
        x[i] = scaled(x[i])

    @cuda.vectorize([float32(float32, float32)])
    def added(x, y):
        return x + y

    @cuda.guvectorize([void(float32[:], float32[:])], "(n)->()")
    def summed(x, out):
        out[0] = 0
        for i in range(x.shape[0]):
            out[0] += x[i]

    x = np.arange(4, dtype=np.float32)
    again(scale)[1, 4](x)
    assert x.tolist() == [0, 3, 6, 9]
    assert again(added)(x, x).tolist() == [0, 6, 12, 18]
    assert again(summed)(x) == 18


@pytest.mark.usefixtures("_loaded")
def test_configured_launches_of_local_kernels() -> None:
    @cuda.jit
    def count(x, n):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] += n

    @cuda.jit("void(CPointer(int64), int64)")
    def count_at(x, n):
        x[cuda.grid(1)] += n

    x = np.zeros(8, np.int64)
    launch = again(count[(2, 1), 4])
    launch(x, 1)
    again(launch)(x, 2)
    again(count.forall(8))(x, 4)
    assert x.tolist() == [7] * 8
    assert (launch.griddim, launch.blockdim) == ((2, 1, 1), (4, 1, 1))
    assert (launch.stream, launch.sharedmem, again(count[1, 2, 0, 64]).sharedmem) == (0, 0, 64)
    there = cuda.to_device(x)
    of_pointer = again(count_at[1, 8])
    of_pointer(there, 1)
    assert there.copy_to_host().tolist() == [8] * 8
    assert of_pointer.blockdim == (8, 1, 1)


def test_a_launch_in_a_stream_stays_in_its_process() -> None:
    launch = of_module[1, 1, cuda.stream()]
    assert launch.stream.handle is not None
    with pytest.raises(pickle.PicklingError, match="its stream is of this process"):
        pickle.dumps(launch)
    assert pickle.loads(pickle.dumps(of_module[1, 1])) is not None


@cuda.jit
def of_module(x):
    x[0] = 1


def test_without_it_they_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cloudpickle", "numba.cloudpickle"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    @cuda.vectorize([float32(float32)])
    def doubled(x):
        return 2 * x

    with pytest.raises(pickle.PicklingError, match="import cloudpickle"):
        pickle.dumps(doubled)


def test_kernels_do_not_call_functions_with_axes_before_their_own() -> None:
    @cuda.guvectorize([void(float32[:], float32[:])], "(n)->(n)")
    def copied(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i]

    @cuda.jit
    def wrong(x, out):
        copied(x, out)

    with pytest.raises(amdjit.CompileError, match="cannot be called"):
        wrong[1, 1](np.ones(2, np.float32), np.ones(2, np.float32))
