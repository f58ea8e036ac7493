"""Device arrays with Numba's methods hold what NumPy's arrays hold after the same."""

from typing import Any

import numpy as np
import pytest

from amdjit import numba_cuda as cuda
from amdjit.numba_cuda.cudadrv import devicearray


def test_one_element_is_assigned():
    host = np.arange(12).reshape(3, 4)
    array = cuda.to_device(host)
    array[1, 2] = 50
    array.setitem((2, 0), 7)
    host[1, 2], host[2, 0] = 50, 7
    assert (array.copy_to_host() == host).all()
    assert array[1, 2] == 50


@pytest.mark.parametrize("made", ["C", "F"])
@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_elements_along_one_axis(made, order):
    host = np.array(np.arange(24).reshape(2, 3, 4), order=made)
    array = cuda.to_device(host)
    assert list(array.ravel(order=order).copy_to_host()) == list(host.ravel(order))


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_another_shape(order):
    host = np.arange(24)
    array = cuda.to_device(host)
    for shape in [(4, 6), (2, -1, 3)]:
        expected = host.reshape(shape, order=order)
        assert (array.reshape(*shape, order=order).copy_to_host() == expected).all()
        assert (array.reshape(shape, order=order).copy_to_host() == expected).all()
    fortran = np.asfortranarray(host.reshape(4, 6))
    found = cuda.to_device(fortran).reshape(8, 3, order="F").copy_to_host()
    assert (found == fortran.reshape(8, 3, order="F")).all()


@pytest.mark.parametrize("axes", [(0, 0), (0, 2), (0,)], ids=["twice", "beyond", "too-few"])
def test_axes_of_a_transposed_view_are_all_axes_once(axes):
    with pytest.raises(ValueError, match="invalid axes list"):
        cuda.to_device(np.zeros((3, 4))).transpose(axes)


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="order="):
        cuda.to_device(np.zeros((3, 4))).ravel(order="K")


def test_arrays_of_a_shape_and_strides() -> None:
    made = devicearray.DeviceNDArray((1, 10), (800, 8), np.float64)
    assert made.flags == {"C_CONTIGUOUS": True, "F_CONTIGUOUS": True}
    empty = devicearray.DeviceNDArray(shape=(0,), strides=(8,), dtype=np.int8)
    assert empty.copy_to_host().shape == (0,)
    devicearray.verify_cuda_ndarray_interface(made)
    with pytest.raises(ValueError, match="require an cuda ndarray"):
        devicearray.verify_cuda_ndarray_interface(np.zeros(3))


@pytest.mark.parametrize(
    ("key", "order", "layout"),
    [(..., "C", "C"), (..., "F", "F"), ((slice(None), 2), "C", "A"), ((2, slice(None)), "C", "C")],
)
def test_the_layout_of_an_arrays_type(key: Any, order: Any, layout: str) -> None:
    found = cuda.to_device(np.zeros((5, 4), np.int32, order=order))[key]._numba_type_
    assert found.layout == layout
    assert found.dtype == cuda.int32
    assert found.ndim == (2 if key is ... else 1)


def test_assignments_of_other_shapes_are_refused_in_numbas_words() -> None:
    x = cuda.to_device(np.arange(35))
    with pytest.raises(ValueError, match="Can't assign 3-D array to 1-D self"):
        x[:] = np.ones((1, 2, 3))
    with pytest.raises(ValueError, match="sequence with size 2 to array axis 0 with dimension 35"):
        x[:] = [1, 3]
    x[:2] = [7, 8]
    x[2:4] = 9
    assert x.copy_to_host()[:5].tolist() == [7, 8, 9, 9, 4]
