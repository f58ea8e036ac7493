"""The geometry of strided arrays, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from amdjit.runtime.strides import (
    basic_view,
    byte_span,
    contiguous_strides,
    is_c_contiguous,
    may_overlap_itself,
)

try:
    from numpy.lib.array_utils import byte_bounds
except ImportError:  # NumPy 1.26
    from numpy import byte_bounds  # type: ignore[attr-defined, no-redef]

SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@settings(deadline=None)
@given(SHAPES, st.data())
def test_basic_indexing_is_numpys(shape: tuple[int, ...], data: st.DataObject) -> None:
    base = np.zeros(shape, np.int32)
    key = data.draw(arrays.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    expected = base[_array_key(key)]
    view = basic_view(key, base.shape, base.strides)
    assert view.shape == expected.shape
    if expected.size:
        strides = [s for s, e in zip(expected.strides, expected.shape, strict=True) if e > 1]
        assert [s for s, e in zip(view.strides, view.shape, strict=True) if e > 1] == strides
        assert view.offset == expected.ctypes.data - base.ctypes.data


def _array_key(key: object) -> tuple[object, ...]:
    """Make NumPy give a view where it would give a scalar."""
    entries = key if isinstance(key, tuple) else (key,)
    return entries if Ellipsis in entries else (*entries, ...)


@settings(deadline=None)
@given(SHAPES, st.data())
def test_span_and_contiguity_are_numpys(shape: tuple[int, ...], data: st.DataObject) -> None:
    base = np.zeros(shape, np.int32)
    key = data.draw(arrays.basic_indices(shape, allow_newaxis=False))
    view = base[_array_key(key)].T
    assert is_c_contiguous(view.shape, view.strides, 4) == view.flags.c_contiguous
    low, high = byte_span(view.shape, view.strides, 4)
    if view.size:
        assert (view.ctypes.data + low, view.ctypes.data + high) == byte_bounds(view)
        assert not may_overlap_itself(view.shape, view.strides, 4)
    else:
        assert low == high == 0


def test_strides_of_contiguous_arrays_are_found() -> None:
    assert contiguous_strides((3, 5, 2), 4) == np.zeros((3, 5, 2), np.int32).strides
    assert contiguous_strides((), 4) == ()


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        ((4,), (0,), True),
        ((1,), (0,), False),
        ((3, 4), (4, 4), True),
        ((3, 4), (16, 4), False),
        ((3, 4), (-16, 4), False),
        ((0, 4), (0, 0), False),
        ((4,), (2,), True),
        ((), (), False),
    ],
)
def test_arrays_that_overlap_themselves_are_found(
    shape: tuple[int, ...], strides: tuple[int, ...], overlaps: bool
) -> None:
    assert may_overlap_itself(shape, strides, 4) is overlaps


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (3, IndexError, "index 3 is outside axis 0, which has 3 elements"),
        (-4, IndexError, "outside axis 0"),
        ((0, 0, 0), IndexError, "3 were given, the array has 2 axes"),
        ((..., ...), IndexError, "only one"),
        ([0, 1], TypeError, "not list; copy_to_host()"),
        (np.array([True, False, True]), TypeError, "not ndarray"),
        (True, TypeError, "not bool"),
        (1.0, TypeError, "not float"),
    ],
)
def test_other_indices_are_refused(key: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text.replace("(", r"\(").replace(")", r"\)")):
        basic_view(key, (3, 4), (16, 4))
