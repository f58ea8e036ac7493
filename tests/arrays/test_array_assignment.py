"""`array[key] = value` does what NumPy does, for numbers, host arrays and device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from tests.arrays.random_views import random_key, random_shape

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")

NUMBERS = [
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64,
]  # fmt: skip
BY_HOST = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.complex64]
RECORD = np.dtype([("a", "i2"), ("b", "f4"), ("c", "u1")])


def numbers(random: np.random.Generator, shape: Any, dtype: Any) -> Any:
    """Return small numbers: those that each type holds."""
    values = random.integers(0, 120, shape) / (1 if np.dtype(dtype).kind in "iub" else 2)
    return np.asarray(values).astype(dtype)


@pytest.mark.parametrize("seed", range(24))
def test_views_are_written_and_read_as_numpys(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = random_shape(random)
    dtype = [np.uint8, np.int16, np.float32, np.float64, np.complex128, RECORD][seed % 6]
    bytes_ = random.integers(0, 255, (*shape, np.dtype(dtype).itemsize), np.uint8)
    host = np.ascontiguousarray(bytes_).view(dtype).reshape(shape)
    there = amdjit.to_device(host)
    for _ in range(4):
        key = random_key(random, shape)
        assert there[key].copy().copy_to_host().tobytes() == host[key].tobytes()
        new = np.roll(host[key], 1)
        there[key] = new if random.integers(0, 2) else amdjit.to_device(new)
        host[key] = new
        assert there.copy_to_host().tobytes() == host.tobytes()


@pytest.mark.parametrize("seed", range(18))
def test_overlapping_arrays_are_copied_as_if_the_source_were_apart(seed: int) -> None:
    random = np.random.default_rng(seed)
    host = random.integers(0, 999, (6, 6, 5)).astype([np.int32, np.int8][seed % 2])
    there = amdjit.to_device(host)
    views = [
        lambda a: (a[1:], a[:-1]),
        lambda a: (a[:, 1:], a[:, :-1]),
        lambda a: (a[:-1], a[1:]),
        lambda a: (a[::-1], a),
        lambda a: (a[:, :, 1], a[:, :, 0]),
        lambda a: (a[:, :, 2], a[:, 3, 2]),
        lambda a: (a[..., 0], a[..., 0].T),
        lambda a: (a, a[2]),
        lambda a: (a, a),
    ][seed % 9]
    into, source = views(host)
    there_into, there_source = views(there)
    into[...] = source
    there_into[...] = there_source
    np.testing.assert_array_equal(there.copy_to_host(), host)


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", NUMBERS + BY_HOST)
def test_every_conversion_is_numpys(source: Any, random: np.random.Generator) -> None:
    check_conversions(source, NUMBERS + BY_HOST, random)


@pytest.mark.parametrize("index", range(len(NUMBERS + BY_HOST)))
def test_a_conversion_from_each_type_and_to_each_is_numpys(
    index: int, random: np.random.Generator
) -> None:
    kinds = NUMBERS + BY_HOST
    check_conversions(kinds[index], [kinds[(index + 5) % len(kinds)]], random)


def check_conversions(source: Any, targets: list[Any], random: np.random.Generator) -> None:
    host = numbers(random, (7, 11), source)
    there = amdjit.to_device(host)
    for target in targets:
        expected = host[:, ::-2].astype(target)
        made = there[:, ::-2].astype(target)
        assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
        assert made.copy_to_host().tobytes() == expected.tobytes(), target


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("target", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_rounding_is_numpys(dtype: Any, target: Any, random: np.random.Generator) -> None:
    """Halfway cases and their neighbours, where a second rounding shows."""
    bits = np.uint64(1) << random.integers(0, 15, 4000, np.uint64)
    host = (bits + (np.uint64(1) << random.integers(0, 14, 4000, np.uint64))).astype(dtype)
    if np.dtype(dtype).kind == "f":
        host += random.integers(-1, 2, 4000) * 2.0 ** random.integers(-40, 3, 4000)
    else:
        host = (random.integers(0, 2**62, 4000) >> random.integers(0, 62, 4000)).astype(dtype)
    with np.errstate(over="ignore"):
        expected = host.astype(target)
    made = amdjit.to_device(host).astype(target).copy_to_host()
    assert made.tobytes() == expected.tobytes()


def kind_of_refusal(array: Any, key: Any, value: Any) -> type[Exception] | None:
    try:
        array[key] = value
    except (OverflowError, TypeError, ValueError) as problem:
        return type(problem)
    return None


@pytest.mark.parametrize("dtype", [*NUMBERS, *BY_HOST, np.complex128])
@pytest.mark.parametrize("value", [0, 1, True, 2.5, np.float32(3.25), np.int8(-1), 300, -1, 1j])
def test_a_number_is_converted_as_numpy_does(dtype: Any, value: Any) -> None:
    for key in ((...,), (slice(None, None, 2),), (slice(1, 6), 1)):
        host, there = np.zeros((7, 3), dtype), amdjit.zeros((7, 3), dtype)
        kinds = [kind_of_refusal(array, key, value) for array in (host, there)]
        assert kinds[0] is kinds[1]
        assert there.copy_to_host().tobytes() == host.tobytes()


@pytest.mark.parametrize("seed", range(20))
def test_values_are_broadcast(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = random_shape(random)
    value_shape = [n if random.integers(0, 2) else 1 for n in shape]
    del value_shape[: int(random.integers(0, len(shape) + 1))]
    if seed % 3 == 0:
        value_shape.insert(0, 1)
    value = random.integers(0, 99, value_shape).astype(np.int16)
    host = np.zeros(shape, np.float32)
    host[...] = value
    for given in (value, value.tolist(), amdjit.to_device(value)):
        there = amdjit.zeros(shape)
        there[...] = given
        np.testing.assert_array_equal(there.copy_to_host(), host)


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    there = amdjit.zeros((2, 3))
    for value in (np.ones(2), amdjit.ones(2), np.ones((2, 2, 3)), [1, 2], np.ones((0,))):
        with pytest.raises(ValueError, match=r"broadcast"):
            there[...] = value
    with pytest.raises(TypeError, match="masked array"):
        there[...] = np.ma.masked_array(np.ones(3), [1, 0, 1])
    with pytest.raises(TypeError, match="as index"):
        there[[0, 1]] = 1
    with pytest.raises(IndexError):
        there[2] = 1
    assert not there.copy_to_host().any()


def test_records_and_empty_arrays() -> None:
    host, there = np.zeros(5, RECORD), amdjit.zeros(5, RECORD)
    host[1::2], there[1::2] = (7, 2.5, 3), (7, 2.5, 3)
    assert there.copy_to_host().tobytes() == host.tobytes()
    nothing = amdjit.zeros((0, 4))
    nothing[...] = 3
    nothing[...] = np.ones(4)
    nothing[...] = amdjit.ones((1, 4))
    assert nothing.copy().astype(np.int8).shape == (0, 4)
    without_axes = amdjit.zeros((), np.int32)
    without_axes[()] = 4
    assert without_axes.copy_to_host() == 4


def test_a_strided_view_is_written_without_touching_what_is_between() -> None:
    there = amdjit.zeros((4, 6), np.int32)
    stream = amdjit.Stream()
    there[:, ::2].fill(1, stream)
    there[:, 1::2].copy_from_host(np.full((4, 3), 2, np.int32), stream)
    assert there.copy_to_host(stream=stream).tolist() == [[1, 2] * 3] * 4


def test_another_devices_array_is_brought_here() -> None:
    host = np.arange(12, dtype=np.int16).reshape(3, 4)
    elsewhere = amdjit.to_device(host, device="emulator:gfx1200")
    assert elsewhere.device.name == "emulator:gfx1200"
    there = amdjit.zeros((3, 8), np.float32)
    there[:, ::2] = elsewhere[::-1]
    np.testing.assert_array_equal(there.copy_to_host()[:, ::2], host[::-1])
    back = amdjit.zeros((3, 4), np.int16, device=elsewhere.device)
    back[...] = there[:, ::2]  # a kernel on a device that is not the current one
    np.testing.assert_array_equal(back.copy_to_host(), host[::-1])


def refusal_of(action: Callable[[], object]) -> str | None:
    try:
        action()
    except ValueError as problem:
        return str(problem)
    return None


def test_views_of_types_follow_numpys_rules() -> None:
    host = np.arange(24, dtype=np.float32).reshape(2, 12)
    there = amdjit.to_device(host)
    for key in ((...,), (slice(None), slice(2, 8)), (slice(None), slice(None, None, 2))):
        for dtype in (np.int32, np.uint8, np.float64, np.complex64, "V2", np.dtype("(2,)f4")):
            why = refusal_of(lambda key=key, dtype=dtype: host[key].view(dtype))
            assert refusal_of(lambda key=key, dtype=dtype: there[key].view(dtype)) == why
            if why is not None:
                continue
            expected = host[key].view(dtype)
            made = there[key].view(dtype)
            assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
            assert made.copy_to_host().tobytes() == expected.tobytes()
    there.view(np.uint32)[0] = 0
    assert not there.copy_to_host()[0].any()
    with pytest.raises(TypeError, match="Python objects"):
        there.view(object)


def test_ravel_is_a_view_where_numpys_is() -> None:
    there = amdjit.arange(12).reshape(3, 4)
    assert there.ravel().address == there.address
    assert there.T.ravel().copy_to_host().tolist() == np.arange(12).reshape(3, 4).T.ravel().tolist()
    assert there.astype(np.int64, copy=False) is there
    assert there.astype(np.int64).address != there.address
    for view in (there[1:], there.T, there.reshape(-1), there.view(np.uint8), there.copy()):
        assert type(view) is amdjit.DeviceArray
