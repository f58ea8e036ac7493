"""`vectorize`: broadcasting, types, outputs and mistakes, with NumPy's own functions as oracle."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import amdjit
from amdjit import f32
from tests.algorithms.whole_array_cases import (
    BF16,
    COMPLEX,
    FLOATS,
    FP8,
    INTEGERS,
    on_device,
    same,
    views,
)

RECORD = np.dtype([("x", "f4"), ("y", "i2")])


@amdjit.vectorize
def blend(a, b, c):
    return a * b - c


@amdjit.vectorize
def both(a, b):
    return a + b, a < b


@amdjit.vectorize
def halves(x: f32) -> f32:
    return x / 2


@settings(max_examples=8)
@given(
    hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=5, min_side=0),
    st.integers(0, 2),
)
def test_arrays_are_broadcast_as_numpy_does(shapes: Any, scalar: int) -> None:
    inputs = [
        np.arange(math.prod(shape), dtype=np.int32).reshape(shape) for shape in shapes.input_shapes
    ]
    inputs[scalar] = np.int32(3)
    same(blend(*inputs), inputs[0] * inputs[1] - inputs[2])


@settings(max_examples=8)
@given(views(np.int32), st.integers(-3, 3))
def test_views_of_any_strides_are_read_in_place(array: Any, number: int) -> None:
    device = on_device(array)
    result = blend(device, number, device)
    assert isinstance(result, amdjit.DeviceArray)
    same(result, array * np.int32(number) - array)
    same(blend(array, number, array), array * np.int32(number) - array)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, BF16, np.float64, np.complex64])
def test_results_have_the_type_that_the_function_returns(dtype: Any) -> None:
    array = np.arange(5).astype(dtype)
    result = blend(array, array, 1)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, array * array - np.dtype(dtype).type(1))


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", [*INTEGERS, *FLOATS, *COMPLEX, np.bool_])
@pytest.mark.parametrize("second", [*INTEGERS, *FLOATS, *COMPLEX, np.bool_])
def test_any_two_types_give_what_a_kernel_stores(first: Any, second: Any) -> None:
    a, b = np.arange(4).astype(first), np.arange(4).astype(second)
    try:
        found = blend(a, b, a)
    except amdjit.TypeCheckError:
        return  # the language refuses to mix these
    expected = a.astype(found.dtype) * b.astype(found.dtype) - a.astype(found.dtype)
    np.testing.assert_array_equal(found, expected)


def test_python_numbers_take_the_type_of_the_arrays() -> None:
    array = np.ones(3, np.float16)
    assert blend(array, 2, 0.5).dtype == np.float16
    assert blend(array, np.float64(2), 0.5).dtype == np.float64
    assert blend(2, 3, 1) == 5
    assert blend(2, 3, 1).dtype == np.int64
    assert isinstance(blend(np.float32(2), 3, 1), np.float32)


def test_a_tuple_of_results_is_a_tuple_of_arrays() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.array([2.0, 2.0, 2.0])
    total, less = both(a, b)
    same(total, a + b)
    same(less, a < b)
    outs = np.zeros((2, 3)), np.zeros((2, 3), np.int32)
    assert both(a, b, out=outs)[1] is outs[1]
    same(outs[1], (a < b).astype(np.int32))


def test_annotations_fix_types() -> None:
    same(halves(np.arange(3, dtype=np.int16)), np.arange(3, dtype=np.float32) / 2)
    same(halves(np.arange(3, dtype=np.float16)), np.arange(3, dtype=np.float32) / 2)
    with pytest.raises(amdjit.TypeCheckError, match="f64 is not converted to f32"):
        halves(np.arange(3.0))


def test_other_callables_and_storage_types_work() -> None:
    same(amdjit.vectorize(math.sqrt)(np.arange(4.0)), np.sqrt(np.arange(4.0)))
    same(amdjit.vectorize(np.maximum)([1, 5], [2, 3]), np.array([2, 5]))
    to_float = amdjit.vectorize(amdjit.device_function(lambda x: f32(x) * 2))
    same(to_float(np.arange(4).astype(FP8)), np.arange(4, dtype=np.float32) * 2)


def test_records_are_arguments_and_results() -> None:
    records = np.zeros(4, RECORD)
    records["x"], records["y"] = [1, 2, 3, 4], [5, 6, 7, 8]
    parts = amdjit.vectorize(lambda r: (r.x * 2, r.y))(records)
    same(parts[0], records["x"] * 2)
    same(parts[1], records["y"])
    copied = amdjit.vectorize(lambda r, i: r)(records, np.arange(4, dtype=np.int32))
    assert copied.tolist() == records.tolist()


def test_out_may_be_any_array_that_holds_the_results() -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    out = np.zeros((2, 4, 3), np.float64)
    assert blend(array, 1, 1, out=out.transpose(0, 2, 1)).base is out
    same(out, np.broadcast_to((array - 1).T, out.shape).astype(np.float64))
    device = amdjit.to_device(array)
    blend(device, 2, 0, out=device)
    same(device, array * 2)
    # Written elements that are read later: the result is computed first.
    blend(device[:, :-1], 1, 0, out=device[:, 1:])
    same(device[:, 1:], array[:, :-1] * 2)
    blend(device[::-1], 1, 0, out=device)
    same(device[:, 1:], array[::-1, :-1] * 2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: blend(x, x), TypeError, "takes 3 arrays, 2 were given"),
        (lambda x: blend(x, x, np.zeros(4)), ValueError, "broadcast"),
        (lambda x: blend(x, x, x, out=np.zeros(2, np.int32)), ValueError, r"out has shape \(2,\)"),
        (lambda x: blend(x / 1, x, x, out=x), TypeError, "out holds int32"),
        (lambda x: blend(x, x, x, out=[1]), TypeError, "out is an array"),
        (lambda x: blend(x, x, x, out=np.broadcast_to(x, (2, 3))), ValueError, "read-only"),
        (lambda x: both(x, x, out=x), TypeError, "has 2 results, 1 arrays"),
        (lambda x: amdjit.vectorize(lambda a: None)(x), TypeError, "returns nothing"),
        (lambda x: amdjit.vectorize(["f4(f4)"]), TypeError, "takes no signatures"),
        (lambda x: amdjit.vectorize(lambda *a: a), TypeError, "positional arguments only"),
        (lambda x: amdjit.vectorize(int)(x), TypeError, "<class 'int'> does not say what it takes"),
        (lambda x: blend(x, x, np.array([None])), TypeError, "Python objects"),
        (lambda x: blend(x, x, np.array(["a"])), TypeError, "no type for elements of <U1"),
        (lambda x: blend(x, x, np.ma.masked_array(x)), TypeError, "masked"),
    ],
)
def test_mistakes_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(np.arange(3, dtype=np.int32))


def test_a_mistake_in_the_function_is_shown_in_the_function() -> None:
    wrong = amdjit.vectorize(lambda x: x.nothing)
    with pytest.raises(amdjit.CompileError, match="test_vectorize"):
        wrong(np.arange(3))


def test_a_function_that_reads_a_changed_global_is_typed_again() -> None:
    scaled = amdjit.vectorize(times_scale)
    assert scaled(np.arange(3)).tolist() == [0, 2, 4]
    globals()["SCALE"] = 2.5
    same(scaled(np.arange(3, dtype=np.float32)), np.arange(3, dtype=np.float32) * 2.5)
    globals()["SCALE"] = 2


def test_a_partial_has_no_name_and_is_called() -> None:
    power = amdjit.vectorize(functools.partial(lambda y, x: x * x + y, 5))
    assert repr(power) == "<amdjit vectorized partial>"
    same(power(np.arange(6)), np.arange(6) ** 2 + 5)


SCALE: Any = 2


def times_scale(x):
    return x * SCALE


class Foreign:
    """An array of another library, in host memory."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries_in_host_memory_count_as_numpys() -> None:
    x = np.arange(5, dtype=np.int32)
    found = blend(Foreign(x), 2, Foreign(x))
    assert isinstance(found, np.ndarray)
    same(found, x)
    assert isinstance(blend(amdjit.to_device(x), 2, Foreign(x)), amdjit.DeviceArray)


def test_work_on_a_stream_runs_on_its_device() -> None:
    with amdjit.use("emulator:gfx1200"):
        stream = amdjit.Stream()
    result = both(np.arange(3), 1, stream=stream)
    same(result[0], np.arange(3) + 1)
    device = amdjit.to_device(np.arange(3))
    with amdjit.use("emulator:gfx1200"):
        # The arrays say where the work runs.
        assert both(device, 1)[0].device is device.device


def test_work_goes_to_the_current_stream_and_into_graphs() -> None:
    device, out = amdjit.to_device(np.arange(3)), amdjit.zeros(3, np.int64)
    stream = amdjit.Stream()
    with stream.capture() as graph, stream:
        blend(device, 2, 1, out=out)
    assert len(graph.nodes) == 1
    same(out, np.zeros(3, np.int64))
    graph.instantiate().launch(stream)
    stream.synchronize()
    same(out, np.arange(3) * 2 - 1)
    with pytest.raises(amdjit.AmdjitError, match="make arrays"), stream.capture():
        blend(device, 2, 1, stream=stream)
    total, long = amdjit.zeros((), np.int64), amdjit.zeros(20_000, np.int64)
    with pytest.raises(amdjit.LaunchError, match="needs memory"), stream.capture():
        amdjit.reduce(max, long, out=total, stream=stream)
