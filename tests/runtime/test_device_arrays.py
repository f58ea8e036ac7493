"""DeviceArray: NumPy's shape of things over device memory."""

from __future__ import annotations

import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit.diagnostics.errors import BackendError
from amdjit.runtime import arrays
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.foreign_arrays import from_dlpack
from amdjit.runtime.streams import Stream
from tests.runtime.host_memory_device import HostMemoryDevice

TYPES = [
    np.int8, np.uint16, np.int64, np.bool_, np.float16, np.float32, np.float64,
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_round_trip_of_every_type(device: HostMemoryDevice, dtype: Any) -> None:
    host = np.arange(12).reshape(3, 4).astype(dtype)
    there = arrays.to_device(device, host)
    assert (there.shape, there.dtype, there.strides) == (host.shape, host.dtype, host.strides)
    assert (there.nbytes, there.ndim, there.size, len(there)) == (host.nbytes, 2, 12, 3)
    back = there.copy_to_host()
    assert back.dtype == host.dtype
    assert back.tobytes() == host.tobytes()
    assert np.asarray(there[1:, ::2]).tobytes() == host[1:, ::2].tobytes()


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (0, 1),
        slice(None, None, -1),
        (slice(1, None), 2),
        (..., slice(None, None, 2)),
        (None, 1),
        (),
    ],
)
def test_views_read_and_write_the_same_memory(device: HostMemoryDevice, key: Any) -> None:
    host = np.arange(20, dtype=np.int32).reshape(4, 5)
    there = arrays.to_device(device, host)
    np.testing.assert_array_equal(there[key].copy_to_host(), host[key])
    new = np.asarray(host[key]) * 10 + 1
    there[key].copy_from_host(new)
    host[key] = new
    np.testing.assert_array_equal(there.copy_to_host(), host)


def test_transposed_and_reshaped_views(device: HostMemoryDevice) -> None:
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    there = arrays.to_device(device, host)
    np.testing.assert_array_equal(there.T.copy_to_host(), host.T)
    np.testing.assert_array_equal(there.reshape(4, -1).copy_to_host(), host.reshape(4, -1))
    assert there.reshape((24,)).address == there.address
    assert there.is_contiguous
    assert not there.T.is_contiguous
    with pytest.raises(ValueError, match="strided"):
        there.T.reshape(24)
    with pytest.raises(ValueError, match="reshape"):
        there.reshape(5, 5)


def test_copies_into_given_arrays(device: HostMemoryDevice) -> None:
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = arrays.to_device(device, host)
    wide = np.zeros((2, 6), np.float32)
    assert there.copy_to_host(out=wide[:, ::2]).base is wide
    np.testing.assert_array_equal(wide[:, ::2], host)
    assert not wide[:, 1::2].any()
    with pytest.raises(
        TypeError, match="out has type float64, the DeviceArray float32: convert with astype"
    ):
        there.copy_to_host(out=np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"out has shape \(3, 2\), the DeviceArray \(2, 3\)"):
        there.copy_to_host(out=np.zeros((3, 2), np.float32))
    host.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        there.copy_to_host(out=host)
    with pytest.raises(TypeError, match="the source has type int64"):
        there.copy_from_host(np.zeros((2, 3), np.int64))
    there.copy_from_host([[1, 2, 3], [4, 5, 6.5]])
    assert there.copy_to_host()[1, 2] == 6.5


def test_strided_sources_and_empty_arrays(device: HostMemoryDevice) -> None:
    host = np.arange(20, dtype=np.int16)[::-3]
    assert arrays.to_device(device, host).copy_to_host().tolist() == host.tolist()
    nothing = arrays.to_device(device, np.zeros((0, 3), np.float32))
    assert nothing.copy_to_host().shape == (0, 3)
    assert nothing.address != 0
    nothing.copy_from_host(np.zeros((0, 3), np.float32))
    scalar = arrays.to_device(device, np.float32(2.5))
    assert scalar.shape == ()
    assert float(scalar.copy_to_host()) == 2.5
    with pytest.raises(TypeError, match="no axes"):
        len(scalar)


def test_constructors_fill_arrays_as_numpy_does(device: HostMemoryDevice) -> None:
    assert not arrays.zeros(device, (2, 3)).copy_to_host().any()
    filled = arrays.full(device, 4, 7.5, np.float16)
    assert filled.dtype == np.float16
    assert filled.copy_to_host().tolist() == [7.5] * 4
    assert arrays.full(device, (), 3).dtype == np.asarray(3).dtype
    assert arrays.empty(device, [2, 3], "u1").nbytes == 6
    assert arrays.to_device(device, filled) is filled
    with pytest.raises(ValueError, match="negative"):
        arrays.empty(device, (2, -1))
    with pytest.raises(TypeError, match="Python objects"):
        arrays.empty(device, 3, object)


def test_memory_goes_with_the_last_view(device: HostMemoryDevice) -> None:
    there = arrays.zeros(device, (8, 8))
    view = there[2:, ::2].T[1]
    assert len(device.allocations) == 1
    del there
    gc.collect()
    assert view.copy_to_host().tolist() == [0] * 6
    del view
    gc.collect()
    assert not device.allocations


def test_memory_that_cannot_be_freed_is_a_warning(
    device: HostMemoryDevice, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(address: int) -> None:
        raise BackendError("the device is gone")

    there = arrays.zeros(device, 3)
    monkeypatch.setattr(device, "free", refuse)
    del there
    gc.collect()
    assert [r.getMessage() for r in caplog.records] == [
        "memory of emulator:test could not be freed: the device is gone"
    ]


def test_another_devices_array_is_copied(
    device: HostMemoryDevice, other_device: HostMemoryDevice
) -> None:
    there = arrays.full(other_device, 3, np.int32(5))
    here = arrays.to_device(device, there)
    assert here.device is device
    assert here.copy_to_host().tolist() == [5, 5, 5]


def test_numpy_shares_host_memory_through_dlpack(device: HostMemoryDevice) -> None:
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    there = arrays.to_device(device, host)
    shared = np.from_dlpack(there.T)  # type: ignore[arg-type]
    np.testing.assert_array_equal(shared, host.T)
    assert shared.ctypes.data == there.address
    there.copy_from_host(host + 1)
    np.testing.assert_array_equal(shared, host.T + 1)
    del there
    gc.collect()
    assert len(device.allocations) == 1
    np.testing.assert_array_equal(shared, host.T + 1)
    del shared
    gc.collect()
    assert not device.allocations


def test_unused_dlpack_capsules_free_what_they_hold(device: HostMemoryDevice) -> None:
    capsule = arrays.zeros(device, 3).__dlpack__()
    gc.collect()
    assert len(device.allocations) == 1
    del capsule
    gc.collect()
    assert not device.allocations


def test_dlpack_import_shares_same_device_memory() -> None:
    gpu = HostMemoryDevice("hip:0", dlpack_device=(10, 0))
    for dtype in (np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.bool_):
        source = _Foreign(arrays.to_device(gpu, np.arange(6).reshape(2, 3).astype(dtype)))
        taken = from_dlpack(gpu, source)
        assert (taken.address, taken.shape, taken.dtype) == (
            source.array.address,
            (2, 3),
            np.dtype(dtype),
        )
        copied = from_dlpack(gpu, source, copy=True)
        assert copied.address != taken.address
        assert copied.copy_to_host().tobytes() == taken.copy_to_host().tobytes()
        del source, copied
        gc.collect()
        assert len(gpu.allocations) == 1  # taken still holds it
        del taken
        gc.collect()
        assert not gpu.allocations


def test_dlpack_import_of_host_memory_is_a_copy(device: HostMemoryDevice) -> None:
    host = np.arange(4, dtype=np.int32)
    assert from_dlpack(device, host).copy_to_host().tolist() == [0, 1, 2, 3]
    with pytest.raises(BufferError, match="leave out copy=False"):
        from_dlpack(device, host, copy=False)
    own = arrays.to_device(device, host)
    assert from_dlpack(device, own).address == own.address
    gpu = HostMemoryDevice("hip:1", dlpack_device=(10, 1))
    with pytest.raises(BufferError, match=r"\(10, 1\), emulator:test is \(1, 0\)"):
        from_dlpack(device, arrays.zeros(gpu, 3))


class _Foreign:
    """Another library's tensor: all it has is DLPack."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream: int) -> object:
        return self.array.__dlpack__(stream=stream)


def test_cuda_array_interface_is_for_gpu_memory_only(device: HostMemoryDevice) -> None:
    gpu = HostMemoryDevice("hip:0", dlpack_device=(10, 0))
    there = arrays.zeros(gpu, (2, 3), np.float16)
    assert there.__cuda_array_interface__ == {
        "shape": (2, 3), "typestr": "<f2", "data": (there.address, False), "strides": None,
        "stream": 1, "version": 3,
    }  # fmt: skip
    assert there.T.__cuda_array_interface__["strides"] == (2, 6)
    assert not hasattr(arrays.zeros(device, 3), "__cuda_array_interface__")
    assert not hasattr(arrays.zeros(gpu, 3, ml_dtypes.bfloat16), "__cuda_array_interface__")


def test_as_a_numpy_array(device: HostMemoryDevice) -> None:
    there = arrays.full(device, 3, np.float32(1.5))
    assert np.asarray(there, np.float64).dtype == np.float64
    assert np.asarray(there).tolist() == [1.5] * 3
    with pytest.raises(ValueError, match="always a copy"):
        there.__array__(copy=False)
    assert repr(there) == "DeviceArray(shape=(3,), dtype=float32, device=emulator:test)"


def test_streams_of_another_device_are_refused(
    device: HostMemoryDevice, other_device: HostMemoryDevice
) -> None:
    there = arrays.to_device(device, np.zeros(3), Stream(device))
    with pytest.raises(Exception, match="belongs to emulator:other, the work is for emulator:test"):
        there.copy_to_host(stream=Stream(other_device))
