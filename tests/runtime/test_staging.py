"""NumPy arguments reach the device and come back as if the kernel had worked on them in place."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies
from numpy.typing import NDArray

from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime import arrays
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.staging import Staging
from tests.runtime.host_memory_device import HostMemoryDevice

Kernel = Callable[..., None]


def run(
    device: HostMemoryDevice, kernel: Kernel, values: list[Any], written: list[bool]
) -> Staging:
    """Launch a "kernel" that is a NumPy function on views of the device's memory."""
    names = [f"argument_{i}" for i in range(len(values))]
    staging = Staging(device, names, values)
    staging.check_writable(written)
    staging.upload()
    kernel(*(in_device(device, a) if isinstance(a, DeviceArray) else a for a in staging.arguments))
    staging.download(written)
    return staging


def in_device(device: HostMemoryDevice, array: DeviceArray) -> NDArray[Any]:
    """Return the device's memory itself, as a NumPy view with the array's strides."""
    start, block = next(
        (s, b) for s, b in device.allocations.items() if s <= array.address <= s + b.size
    )
    return np.ndarray(array.shape, array.dtype, block.data, array.address - start, array.strides)


def test_only_written_arrays_come_back(device: HostMemoryDevice) -> None:
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)

    def kernel(x: NDArray[Any], y: NDArray[Any], a: float) -> None:
        y[:] = a * x
        x[:] = -1

    staging = run(device, kernel, [x, y, 3.0], [False, True, False])
    assert x.tolist() == [0, 1, 2, 3]
    assert y.tolist() == [0, 3, 6, 9]
    assert staging.has_host_arrays
    assert staging.arguments[2] == 3.0
    assert device.copied_bytes == 3 * 16
    del staging
    gc.collect()
    assert not device.allocations


def test_device_arrays_are_used_in_place(
    device: HostMemoryDevice, other_device: HostMemoryDevice
) -> None:
    there = arrays.to_device(device, np.arange(4))
    device.copied_bytes = 0
    staging = Staging(device, ["x"], [there])
    staging.upload()
    staging.download([True])
    assert staging.arguments[0] is there
    assert not staging.has_host_arrays
    assert device.copied_bytes == 0
    with pytest.raises(LaunchError) as refused:
        Staging(other_device, ["x"], [there])
    assert "argument x is on emulator:test, the launch on emulator:other" in str(refused.value)
    assert "amdjit.to_device(x.copy_to_host())" in str(refused.value)


def test_vectors_and_constants_stay_numpy_arrays(device: HostMemoryDevice) -> None:
    vector, array = np.zeros(4, np.float16), np.zeros(4)
    staging = Staging(device, ["v", "a"], [vector, array], by_value={0})
    assert staging.arguments[0] is vector
    assert isinstance(staging.arguments[1], DeviceArray)


STRIDED: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "contiguous": lambda a: a,
    "steps": lambda a: a[::2, 1::3],
    "negative": lambda a: a[::-1, ::-2],
    "column": lambda a: a[:, 3],
    "transposed": lambda a: a.T,
    "one": lambda a: a[2:3, 4:5],
    "no axes": lambda a: a[2, 3, ...],
    "empty": lambda a: a[3:3],
    "fortran": np.asfortranarray,
    "unaligned": lambda a: np.frombuffer(bytearray(b"\0" + a.tobytes()), a.dtype, offset=1),
}


@pytest.mark.parametrize("how", STRIDED)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, ml_dtypes.bfloat16])
def test_results_land_in_the_callers_array(device: HostMemoryDevice, how: str, dtype: Any) -> None:
    base = np.arange(48).reshape(6, 8).astype(dtype)
    view = STRIDED[how](base)
    expected = view * 2 + 1
    untouched = base.copy()

    def kernel(a: NDArray[Any]) -> None:
        assert a.flags.c_contiguous
        assert a.flags.aligned or not a.size
        a[...] = a * 2 + 1

    run(device, kernel, [view], [True])
    np.testing.assert_array_equal(view, expected)
    if how not in ("fortran", "unaligned"):
        STRIDED[how](untouched)[...] = expected
        np.testing.assert_array_equal(base, untouched)  # nothing outside the view changed


def test_the_same_array_twice_is_one_memory(device: HostMemoryDevice) -> None:
    x = np.arange(4, dtype=np.int32)

    def kernel(a: NDArray[Any], b: NDArray[Any]) -> None:
        a[:] = a + 1
        assert b.tolist() == [1, 2, 3, 4]
        assert a.flags.c_contiguous

    run(device, kernel, [x, x], [True, False])
    assert x.tolist() == [1, 2, 3, 4]


def shift(source: NDArray[Any], target: NDArray[Any]) -> None:
    for i in range(target.size):  # one by one: every element sees those before it
        target[i] = source[i] + 1


@pytest.mark.parametrize("dtype", [np.int64, np.float16])
def test_overlapping_views_do_what_numpy_does_in_place(
    device: HostMemoryDevice, dtype: Any
) -> None:
    base = np.zeros(9, dtype)
    base[0] = 100
    expected = base.copy()
    shift(expected[:-1], expected[1:])
    run(device, shift, [base[:-1], base[1:]], [False, True])
    np.testing.assert_array_equal(base, expected)
    assert base[-1] == 108


def test_interleaved_and_reversed_views(device: HostMemoryDevice) -> None:
    base = np.arange(10, dtype=np.int32)
    expected = base.copy()
    shift(expected[::-1][:9], expected[1:])
    run(device, shift, [base[::-1][:9], base[1:]], [False, True])
    np.testing.assert_array_equal(base, expected)
    even, odd = base[::2], base[1::2]
    expected = base.copy()
    shift(expected[::2], expected[1::2])
    run(device, shift, [even, odd], [False, True])
    np.testing.assert_array_equal(base, expected)


def test_both_written_overlapping_arrays_come_back(device: HostMemoryDevice) -> None:
    base = np.zeros(6, np.int32)

    def kernel(a: NDArray[Any], b: NDArray[Any]) -> None:
        a[:] = 1
        b[:] += 1

    run(device, kernel, [base[:4], base[2:]], [True, True])
    assert base.tolist() == [1, 1, 2, 2, 1, 1]


def test_gaps_of_a_written_array_stay_the_callers(device: HostMemoryDevice) -> None:
    base = np.zeros(8, np.int32)

    def kernel(a: NDArray[Any], b: NDArray[Any]) -> None:
        base[1::2] = 7  # another thread of the host, meanwhile
        a[:] = 5

    run(device, kernel, [base[::2], base[::4]], [True, False])
    assert base.tolist() == [5, 7] * 4


def test_zero_strides_keep_one_element(device: HostMemoryDevice) -> None:
    cell = np.array([3], np.int32)
    many = np.lib.stride_tricks.as_strided(cell, (5,), (0,))

    def kernel(a: NDArray[Any]) -> None:
        assert a.strides == (0,)
        for i in range(5):
            a[i] += 1

    run(device, kernel, [many], [True])
    assert cell[0] == 8
    row = np.broadcast_to(np.arange(3, dtype=np.int32), (4, 3))
    run(device, lambda a: None, [row], [False])


def test_read_only_arrays_that_a_kernel_writes_are_refused(device: HostMemoryDevice) -> None:
    x = np.zeros(3)
    x.flags.writeable = False
    run(device, lambda a: None, [x], [False])
    staging = Staging(device, ["y"], [x])
    with pytest.raises(
        LaunchError, match=r"writes argument y, a read-only NumPy array. .* y.copy\(\)"
    ):
        staging.check_writable([True])


def test_unaligned_arrays_that_share_memory_are_refused(device: HostMemoryDevice) -> None:
    raw = np.zeros(41, np.uint8)
    odd = raw[1:].view(np.float32)
    with pytest.raises(LaunchError, match=r"argument b shares memory .* not aligned to 4 bytes"):
        Staging(device, ["a", "b"], [raw, odd])


def test_a_numpy_view_of_device_memory_beside_the_device_array_is_refused(
    device: HostMemoryDevice,
) -> None:
    there = arrays.zeros(device, 8)
    view = np.from_dlpack(there)  # type: ignore[arg-type]
    with pytest.raises(
        LaunchError, match=r"arguments b \(a NumPy array\) and a \(a DeviceArray\) share memory"
    ):
        Staging(device, ["a", "b"], [there, view[2:4]])


def test_empty_arrays_between_overlapping_ones_change_nothing(device: HostMemoryDevice) -> None:
    base = np.zeros(8, np.int32)

    def kernel(a: NDArray[Any], nothing: NDArray[Any], b: NDArray[Any]) -> None:
        a[:] = 1
        assert b.tolist() == [1, 1, 0, 0]
        assert nothing.size == 0

    run(device, kernel, [base[:6], base[3:3], base[4:]], [True, True, False])
    assert base.tolist() == [1] * 6 + [0] * 2


def test_alignment_on_the_device_is_that_of_the_host_or_better(device: HostMemoryDevice) -> None:
    base = np.zeros(64, np.float32)
    staging = Staging(device, ["a", "b", "c"], [base[1:], base[5:], np.zeros(9, np.float32)[1:]])
    for host, there in zip((base[1:], base[5:]), staging.arguments, strict=False):
        assert there.address % 256 == host.ctypes.data % 256
    assert staging.arguments[2].address % 256 == 0


@settings(deadline=None)
@given(st.data())
def test_any_two_views_of_one_array_alias_as_in_numpy(data: st.DataObject) -> None:
    device = HostMemoryDevice()
    base = np.arange(24, dtype=np.uint64).reshape(4, 6)
    keys = [
        data.draw(numpy_strategies.basic_indices(base.shape, allow_ellipsis=False, min_dims=1))
        for _ in "ab"
    ]
    expected = base.copy()

    def kernel(a: NDArray[Any], b: NDArray[Any]) -> None:
        for i in np.ndindex(a.shape):
            a[i] += b.sum() + np.uint64(1)
        for i in np.ndindex(b.shape):
            b[i] ^= a.sum()

    kernel(expected[keys[0]], expected[keys[1]])
    run(device, kernel, [base[keys[0]], base[keys[1]]], [True, True])
    np.testing.assert_array_equal(base, expected)
