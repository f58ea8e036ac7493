"""`numba.cuda.kernels`, what `inspect_types` writes, and the options of functions of arrays."""

from __future__ import annotations

import io

import numpy as np
import pytest

from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import float32, int32, void
from amdjit.numba_cuda.kernels.transpose import transpose

RECORD = np.dtype([("i", np.int32), ("j", np.float32, (3, 2))])


@pytest.mark.parametrize("dtype", [np.int32, np.float64, np.bool_, np.complex64, RECORD])
@pytest.mark.parametrize("shape", [(2, 3), (16, 17), (33, 14), (1, 5)])
def test_a_matrix_is_transposed(shape: tuple[int, int], dtype: object) -> None:
    x = np.arange(shape[0] * shape[1]).reshape(shape).astype(np.dtype(dtype))
    given = cuda.to_device(x)
    made = transpose(given)
    assert made.is_c_contiguous()
    assert (made.copy_to_host() == x.T).all()
    for like in (x.T, np.ascontiguousarray(x.T)):
        out = cuda.device_array_like(like)
        assert transpose(given, out) is out
        assert (out.copy_to_host() == x.T).all()


def test_what_is_no_matrix_is_not_transposed() -> None:
    with pytest.raises(ValueError, match=r"\(3,\) is no matrix"):
        transpose(np.zeros(3))


def test_inspect_types_writes_names_and_trees() -> None:
    @cuda.jit((float32, int32))
    def both(x, y):
        pass

    file = io.StringIO()
    assert both.inspect_types(file=file) is None
    assert "both (float32, int32)" in file.getvalue()
    assert str(both.inspect_types((float32, int32))) in file.getvalue()
    again = io.StringIO()
    both.inspect_types(again, (float32, int32))
    assert again.getvalue() == file.getvalue()


def test_options_that_functions_of_arrays_have_not() -> None:
    with pytest.raises(KeyError, match=r"Unrecognized options.*nonexistent"):
        cuda.vectorize([float32(float32)], nonexistent=2)(lambda x: x)
    text = "target options are not supported: 'what1', 'ever2'"
    with pytest.raises(TypeError, match=text):
        cuda.guvectorize([void(float32[:], float32[:])], "(x)->(x)", what1=True, ever2=False)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize([void(float32[:], float32[:])], "(x)->(x)", nopython=False)
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        cuda.vectorize([float32(float32)], nopython=True, fastmath=True)(lambda x: x)
