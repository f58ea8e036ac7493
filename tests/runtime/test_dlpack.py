"""DLPack both ways, with NumPy and a consumer and a producer that know the standard as oracles."""

from __future__ import annotations

import gc
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amdjit.runtime import arrays, dlpack
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.foreign_arrays import from_dlpack
from tests.runtime import dlpack_protocol
from tests.runtime.dlpack_protocol import IS_COPIED, READ_ONLY, Consumer, Producer
from tests.runtime.host_memory_device import HostMemoryDevice

# dlpack.h, DLDataTypeCode, with the bits of an item.
CODES = {
    "int8": (0, 8), "int16": (0, 16), "int32": (0, 32), "int64": (0, 64),
    "uint8": (1, 8), "uint16": (1, 16), "uint32": (1, 32), "uint64": (1, 64),
    "float16": (2, 16), "float32": (2, 32), "float64": (2, 64), "bfloat16": (4, 16),
    "complex64": (5, 64), "complex128": (5, 128), "bool": (6, 8),
    "float8_e4m3": (8, 8), "float8_e4m3b11fnuz": (9, 8), "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8), "float8_e5m2": (12, 8), "float8_e5m2fnuz": (13, 8),
}  # fmt: skip


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


def gpu() -> HostMemoryDevice:
    return HostMemoryDevice("hip:0", dlpack_device=(10, 0))


@st.composite
def views(draw: Any, device: HostMemoryDevice) -> tuple[np.ndarray[Any, Any], DeviceArray]:
    """An array on the host and the same view of its copy on the device."""
    dtype = dtype_of(draw(st.sampled_from(sorted(CODES))))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    host = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    there = arrays.to_device(device, host)
    key = tuple(
        slice(draw(st.integers(0, 2)), None, draw(st.sampled_from([1, 2, -1, -2]))) for _ in shape
    )
    host, there = host[key], there[key]
    return (host.T, there.T) if draw(st.booleans()) else (host, there)


@settings(max_examples=60)
@given(st.data())
def test_a_capsule_says_what_the_array_is(data: st.DataObject) -> None:
    device = gpu()
    host, there = data.draw(views(device))
    max_version = data.draw(st.sampled_from([None, (0, 8), (1, 0), (1, 9), (2, 0)]))
    stream = data.draw(st.sampled_from([None, 0, -1, 4096]))
    consumer = Consumer(there.__dlpack__(stream=stream, max_version=max_version))
    seen = consumer.seen
    assert seen.device == there.__dlpack_device__() == (10, 0)
    assert seen.dtype == (*CODES[host.dtype.name], 1)
    assert seen.shape == host.shape
    if host.size:
        assert seen.address == there.address
        strides = tuple(s // host.itemsize for s in there.strides)
        assert seen.strides == strides or (seen.strides is None and host.ndim == 0)
    expected = None if max_version in (None, (0, 8)) else 1
    assert (seen.version and seen.version[0]) == expected
    assert seen.flags == 0
    del there
    assert len(device.allocations) == 1
    consumer.release()
    assert not device.allocations


@settings(max_examples=60)
@given(st.data())
def test_a_tensor_is_read_as_its_producer_says(data: st.DataObject) -> None:
    device = gpu()
    host, there = data.draw(views(device))
    flags = data.draw(st.sampled_from([0, READ_ONLY, IS_COPIED]))
    producer = Producer(
        there, (*CODES[host.dtype.name], 1), versions=data.draw(st.booleans()), flags=flags
    )
    taken = from_dlpack(device, producer)
    assert (taken.shape, taken.dtype, taken.address) == (host.shape, host.dtype, there.address)
    assert taken.copy_to_host().tobytes() == host.tobytes()
    assert taken.is_read_only == (producer.versions and flags == READ_ONLY)
    view = taken[...]
    del taken
    assert (producer.unused, producer.deleted) == (0, 0)
    del view
    assert producer.deleted == 1


def test_a_tensor_can_be_copied_instead() -> None:
    device = gpu()
    there = arrays.to_device(device, np.arange(6, dtype=np.float32))
    producer = Producer(there, flags=READ_ONLY)
    copied = from_dlpack(device, producer, copy=True)
    assert producer.deleted == 1
    assert copied.address != there.address
    assert not copied.is_read_only
    assert copied.copy_to_host().tolist() == [0, 1, 2, 3, 4, 5]


def test_read_only_memory_is_not_written_and_says_so_on() -> None:
    device = gpu()
    there = arrays.zeros(device, 4)
    taken = from_dlpack(device, Producer(there, flags=READ_ONLY))
    with pytest.raises(ValueError, match="read-only"):
        taken.copy_from_host(np.ones(4, np.float32))
    with pytest.raises(BufferError, match=r"max_version=\(1, 0\)"):
        taken.__dlpack__()
    assert Consumer(taken.__dlpack__(max_version=(1, 0))).seen.flags == READ_ONLY
    assert taken[1:].__cuda_array_interface__["data"] == (there.address + 4, True)


def test_capsules_that_cannot_be_taken_stay_the_producers() -> None:
    device = gpu()
    there = arrays.zeros(device, 4)
    for producer, reason in (
        (Producer(there, (17, 4, 1)), "no type for DLPack's code 17 of 4 bits x 1"),
        (Producer(there, (2, 32, 2)), "code 2 of 32 bits x 2"),
        (Producer(there, (2, 128, 1)), "code 2 of 128 bits"),
        (Producer(there, major=2), r"DLPack 2\.0; amdjit reads 0 and 1"),
    ):
        with pytest.raises(BufferError, match=reason):
            from_dlpack(device, producer)
        assert (producer.unused, producer.deleted) == (1, 0)


def test_a_capsule_is_taken_once() -> None:
    capsule = Producer(arrays.zeros(gpu(), 4)).__dlpack__()
    first = dlpack.consume(capsule)
    gc.collect()  # nobody keeps the producer
    with pytest.raises(BufferError, match="ask the producer for another one"):
        dlpack.consume(capsule)
    with pytest.raises(BufferError, match="not a DLPack capsule"):
        dlpack.consume("no capsule")
    assert first.shape == (4,)


def test_numpy_reads_what_the_host_has(device: HostMemoryDevice) -> None:
    for name in ("int8", "uint64", "float16", "float64", "complex64", "complex128", "bool"):
        there = arrays.to_device(device, np.arange(6).reshape(2, 3).astype(name))
        shared = np.from_dlpack(there.T)  # type: ignore[arg-type]
        assert shared.dtype == name
        assert shared.ctypes.data == there.address
        np.testing.assert_array_equal(shared, there.T.copy_to_host())
        assert shared.flags.writeable == (np.lib.NumpyVersion(np.__version__) >= "2.1.0")


def consumers_that_fail(device: HostMemoryDevice) -> list[DeviceArray]:
    special = [name for name in CODES if name.startswith(("bf", "float8"))]
    return [arrays.zeros(device, 4, dtype_of(name)) for name in special]


@pytest.mark.parametrize("kind", [(1, 0), (10, 0), (10, 3)])
def test_a_consumer_that_fails_says_why_and_frees_the_capsule(kind: tuple[int, int]) -> None:
    device = HostMemoryDevice("any", dlpack_device=kind)
    # NumPy has none of these types, and no memory of a GPU: it releases the capsule while its
    # error is pending.
    refused = consumers_that_fail(device)
    if kind[0] == 10:
        refused.append(arrays.zeros(device, 4))
    for array in refused:
        with pytest.raises((RuntimeError, BufferError), match="Unsupported d"):
            np.from_dlpack(array)  # type: ignore[arg-type]
    del array, refused
    assert not device.allocations


def test_a_capsule_that_nobody_takes_frees_the_memory() -> None:
    for max_version in (None, (1, 0)):
        device = gpu()
        capsule = arrays.zeros(device, 3).__dlpack__(max_version=max_version)
        assert len(device.allocations) == 1
        del capsule
        assert not device.allocations


def test_what_dlpack_cannot_say_is_refused(device: HostMemoryDevice) -> None:
    record = arrays.zeros(device, 2, [("x", "f4"), ("y", "i4")])
    for array, reason in (
        (record, "DLPack has no code for"),
        (arrays.zeros(device, 2, "M8[s]"), "no code for datetime64"),
        (arrays.zeros(device, 2, ">f4"), "no code for >f4"),
        (arrays.zeros(device, 2, np.longdouble), "no code for float128"),
        (DeviceArray(device, 4096, (2,), np.dtype("f4"), (6,), None), "not multiples"),
    ):
        with pytest.raises(BufferError, match=reason):
            array.__dlpack__()


def test_streams_mean_what_the_standard_says() -> None:
    there = arrays.zeros(gpu(), 4)
    device = there.device
    assert isinstance(device, HostMemoryDevice)
    before = device.synchronizations
    Consumer(there.__dlpack__(stream=-1)).release()
    assert device.synchronizations == before
    for stream in (1, 2, -2):
        with pytest.raises(BufferError, match="0 or None for the default stream"):
            there.__dlpack__(stream=stream)
    for wrong in ("0", 1.0, True):
        with pytest.raises(TypeError, match="an integer or None"):
            there.__dlpack__(stream=wrong)  # type: ignore[arg-type]
    on_host = arrays.zeros(HostMemoryDevice(), 4)
    Consumer(on_host.__dlpack__(stream=None)).release()
    with pytest.raises(BufferError, match="stream=None"):
        on_host.__dlpack__(stream=0)


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_copies_are_made_where_they_are_wanted(max_version: tuple[int, int] | None) -> None:
    device = gpu()
    there = arrays.to_device(device, np.arange(6, dtype=np.float32).reshape(2, 3)).T
    flags = 0 if max_version is None else IS_COPIED
    on_device = Consumer(there.__dlpack__(copy=True, max_version=max_version))
    assert on_device.seen.device == (10, 0)
    assert (on_device.seen.flags, on_device.seen.shape) == (flags, (3, 2))
    assert on_device.seen.address != there.address
    assert len(device.allocations) == 2
    on_device.release()
    assert len(device.allocations) == 1
    on_host = Consumer(there.__dlpack__(dl_device=(1, 0), max_version=max_version))
    assert (on_host.seen.device, on_host.seen.flags) == ((1, 0), flags)
    on_host.release()
    for copy in (None, True):
        host = np.from_dlpack(there, device="cpu", copy=copy)  # type: ignore[call-overload]
        np.testing.assert_array_equal(host, there.copy_to_host())
    for keywords in ({"copy": False, "dl_device": (1, 0)}, {"dl_device": (10, 1)}):
        with pytest.raises(BufferError, match=r"is on DLPack device \(10, 0\)"):
            there.__dlpack__(**keywords)  # type: ignore[arg-type]


def test_the_fakes_of_these_tests_fail_where_they_should() -> None:
    capsule = arrays.zeros(gpu(), 3).__dlpack__(max_version=(1, 0))
    assert dlpack_protocol.name_of(capsule) == b"dltensor_versioned"
    consumer = Consumer(capsule)
    with pytest.raises(AssertionError, match="cannot be taken"):
        Consumer(capsule)
    consumer.release()
    with pytest.raises(AssertionError, match="released twice"):
        consumer.release()
    with pytest.raises(AssertionError, match="CUDA's"):
        Producer(arrays.zeros(gpu(), 3)).__dlpack__(stream=1)
