"""Device arrays with Numba's methods hold what NumPy's arrays hold after the same."""

import numpy as np
import pytest

from amdjit import numba_cuda as cuda


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
