"""Arrays, streams and functions of arrays under Numba's names."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import float32, int32, void

pytestmark = pytest.mark.filterwarnings("ignore:f64 arithmetic")


@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def test_arrays_have_numbas_methods() -> None:
    host = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    array = cuda.to_device(host)
    assert array.is_f_contiguous()
    assert not array.is_c_contiguous()
    assert array[1, 2] == 6
    assert (array[1].copy_to_host() == host[1]).all()
    assert (array.copy_to_host() == host).all()
    assert array.copy_to_host().flags.f_contiguous
    like = cuda.device_array_like(array)
    like.copy_to_device(array)
    like[0] = 7
    assert (like.T.copy_to_host()[:, 0] == 7).all()
    flat = cuda.to_device(np.arange(10))
    assert [part.size for part in flat.split(4)] == [4, 4, 2]
    assert cuda.is_cuda_array(flat)
    assert not cuda.is_cuda_array(host)
    assert cuda.device_array(3).dtype == np.float64


def test_orders_of_elements() -> None:
    host = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    array = cuda.to_device(host)
    for order in "CFA":
        np.testing.assert_array_equal(array.ravel(order).copy_to_host(), host.ravel(order))
    flat = cuda.to_device(np.arange(10))
    expected = np.arange(10).reshape(2, 5, order="F")
    np.testing.assert_array_equal(flat.reshape(2, 5, order="F").copy_to_host(), expected)
    np.testing.assert_array_equal(flat.reshape((5, 2)).copy_to_host()[4], [8, 9])
    assert (
        array.reshape(4, 3, order="A").copy_to_host()[1, 0] == host.reshape(4, 3, order="A")[1, 0]
    )
    with pytest.raises(ValueError, match="invalid axes list"):
        array.transpose((0, 0))
    with pytest.raises(ValueError, match="order='K'"):
        array.ravel(order="K")


def test_elements_are_assigned() -> None:
    array = cuda.to_device(np.zeros((3, 4)))
    array[1, 2] = 7
    array[2] = np.arange(4)
    array[0, ::2] = 5
    assert array.copy_to_host().tolist() == [[5, 0, 5, 0], [0, 0, 7, 0], [0, 1, 2, 3]]


def test_records_are_references() -> None:
    inner = np.dtype([("x", "i2"), ("y", "f4")])
    record = np.dtype([("a", "f8"), ("m", "f4", (2, 2)), ("n", inner), ("c", "c8")])
    host = np.zeros(3, record)
    array = cuda.to_device(host)
    array[1]["a"] = 2.5
    array[1]["m"][1, 0] = 3
    array[1]["n"]["y"] = 4
    array[1]["c"] = 1j
    array[2] = array[1]
    for place in (1, 2):
        found = array.copy_to_host()[place]
        assert (found["a"], found["n"]["y"], found["c"]) == (2.5, 4, 1j)
        assert found["m"].tolist() == [[0, 0], [3, 0]]
    assert array[1]["a"] == 2.5
    assert array[1]["m"][1, 0] == 3
    assert array[0]["n"]["x"] == 0
    with pytest.raises(KeyError, match="a record has the fields a, m, n, c, not 'z'"):
        array[0]["z"]

    @cuda.jit
    def doubled(r):
        r.a *= 2

    doubled[1, 1](array[1])
    assert array[1]["a"] == 5


@pytest.mark.parametrize("make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
def test_host_memory_for_devices(make: Any) -> None:
    host = make((3, 2), np.float32, order="F")
    host[...] = np.arange(6).reshape(3, 2)
    assert host.flags.f_contiguous
    assert (cuda.to_device(host).copy_to_host() == host).all()


def test_streams_and_events() -> None:
    stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
    x = cuda.to_device(np.ones(64), stream=stream)
    begin.record(stream)
    twice[1, 64, stream](x)
    twice.forall(64, tpb=32, stream=stream)(x)
    end.record(stream)
    end.wait(cuda.default_stream())
    called: list[Any] = []
    stream.add_callback(lambda *given: called.append(given), 5)
    with stream.auto_synchronize():
        out = x.copy_to_host(stream=stream)
    assert (out == 4).all()
    assert called == [(stream, 0, 5)]
    assert begin.elapsed_time(end) >= 0


def test_kernels_pickle_with_their_rules() -> None:
    again = pickle.loads(pickle.dumps(twice))
    assert again is twice
    assert twice.py_func.__name__ == "twice"


def test_a_vectorised_function_takes_the_first_signature_that_fits() -> None:
    @cuda.vectorize(["int32(int32, int32)", float32(float32, float32), "f8(f8, f8)"])
    def average(x, y):
        return (x + y) / 2

    small = average(np.int8([3, 5]), np.int32([4, 6]))
    assert small.dtype == np.int32
    assert small.tolist() == [3, 5]
    assert average(np.float32([3]), np.float32([4])).dtype == np.float32
    assert average(1, 2.0) == 1.5
    on_device = average(cuda.to_device(np.arange(4.0)), np.ones((3, 1)))
    assert on_device.copy_to_host().shape == (3, 4)
    out = np.zeros(2, np.int32)
    average(np.int32([2, 4]), np.int32([4, 8]), out=out)
    assert out.tolist() == [3, 6]
    with pytest.raises(TypeError, match="no signature for arguments of the types"):
        average(np.complex64(1j), 1)


def test_a_generalised_function_runs_over_axes_in_front() -> None:
    @cuda.guvectorize([void(float32[:, :], float32[:], int32, float32[:], float32[:])],
                      "(m,n),(n),()->(m),()")  # fmt: skip
    def product(matrix, vector, shift, out, norm):
        norm[0] = 0
        for i in range(matrix.shape[0]):
            out[i] = shift
            for j in range(matrix.shape[1]):
                out[i] += matrix[i, j] * vector[j]
            norm[0] += out[i] * out[i]

    generator = np.random.default_rng(2)
    matrices = generator.random((5, 1, 3, 4), np.float32)
    vectors, shifts = generator.random((2, 4), np.float32), np.int32([0, 3])
    out, norm = product(matrices, vectors, shifts)
    expected = np.einsum("abmn,bn->abm", np.broadcast_to(matrices, (5, 2, 3, 4)), vectors)
    expected = expected + shifts[:, None]
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    np.testing.assert_allclose(norm, (expected**2).sum(2), rtol=1e-5)
    placed, _ = product(cuda.to_device(matrices), vectors, shifts)
    assert (placed.copy_to_host() == out).all()
    given = np.zeros_like(out), np.zeros_like(norm)
    product(matrices, vectors, shifts, *given)
    assert (given[0] == out).all()
    with pytest.raises(ValueError, match="axis n has 4 and 3 elements"):
        product(matrices, vectors[:, :3], shifts)
    with pytest.raises(TypeError, match=r"gufunc accepts 3 .* or 5"):
        product(matrices)


def test_a_generalised_function_with_one_signature_converts() -> None:
    @cuda.guvectorize(["void(int32, int32[:], int32[:])"], "(),(t)->(t)", nopython=True)
    def scaled(factor, x, out):
        for i in range(x.size):
            out[i] = factor * x[i]

    x = np.arange(4, dtype=np.int32)
    assert scaled(np.int64(3), x).tolist() == [0, 3, 6, 9]
    assert scaled(2.9, x).tolist() == [0, 2, 4, 6]
    with pytest.raises(TypeError, match=r"does not become safely.* does not support .astype\(\)"):
        scaled(cuda.to_device(np.array(3)), x)

    @cuda.guvectorize([void(int32, int32[:])], "()->()")
    def twice(x, out):
        out[0] = 2 * x

    twice.max_blocksize = 32
    assert twice(10) == 20
    assert type(twice(10)) is np.int32
    assert twice(np.arange(99)).tolist() == list(range(0, 198, 2))


def test_arrays_for_the_results_of_generalised_functions() -> None:
    @cuda.guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
    def shifted(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y[0]

    x = np.arange(4, dtype=np.int32)
    out = np.zeros(4, np.int32)
    assert shifted(x, np.int32([2]), out=out) is out
    assert out.tolist() == [2, 3, 4, 5]
    with pytest.raises(ValueError, match="'out' as both positional and keyword"):
        shifted(x, 1, out, out=out)
    with pytest.raises(ValueError, match=r"the shape \(4,\), and the array for it \(3,\)"):
        shifted(x, 1, out[:3])

    @cuda.guvectorize(["void(int32[:], int32[:])"], "(n)->(m)")
    def cut(x, out):
        for i in range(out.shape[0]):
            out[i] = x[i]

    assert cut(x, np.zeros(2, np.int32)).tolist() == [0, 1]
    with pytest.raises(ValueError, match="no input has the axis m"):
        cut(x)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize(["void(int32[:], int32[:])"], "(n)->(m)", nopython=False)
    with pytest.raises(TypeError, match="not supported: 'what'"):
        cuda.guvectorize(["void(int32[:], int32[:])"], "(n)->(m)", what=1)(cut)


def test_functions_of_dates() -> None:
    date, duration = np.dtype("datetime64[D]"), np.dtype("timedelta64[D]")

    @cuda.vectorize([(date, date)])
    def between(start, end):
        return end - start

    @cuda.guvectorize([(date, duration, date, duration)], "(),()->(),()")
    def later(start, more, end, double):
        end[0] = start + more
        double[0] = more * 2

    start = np.arange("2024-01", "2024-03", dtype=date)
    end = start[::-1].copy()
    end[3] = np.datetime64("NaT")
    found = between(start, end)
    assert found.dtype == duration
    np.testing.assert_array_equal(found, end - start)
    np.testing.assert_array_equal(between(cuda.to_device(start), start[0]).copy_to_host(),
                                  start[0] - start)  # fmt: skip
    moved, double = later(start, np.timedelta64(40, "D"))
    np.testing.assert_array_equal(moved, start + 40)
    assert (double == np.timedelta64(80, "D")).all()


def test_a_reduction() -> None:
    @cuda.reduce
    def greatest(x, y):
        return max(x, y)

    values = np.random.default_rng(4).integers(-1000, 1000, 777)
    assert greatest(values, init=-5000) == values.max()
    assert greatest(values, size=5, init=-5000) == values[:5].max()
    assert greatest(values[:0], init=3) == 3
    result = cuda.to_device(np.zeros(1, values.dtype))
    assert greatest(cuda.to_device(values), res=result, init=-5000) is None
    assert result[0] == values.max()
