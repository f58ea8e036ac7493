"""Names of numba.cuda for the host, and what has no meaning on an AMD GPU."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from amdjit import numba_cuda as cuda


def test_events_tell_the_time_between_them() -> None:
    first, second = cuda.event(), cuda.event()
    first.record()
    second.record()
    second.synchronize()
    assert cuda.event_elapsed_time(first, second) >= 0


def test_devices_have_facts() -> None:
    device, memory = cuda.get_current_device(), cuda.current_context().get_memory_info()
    assert device.uuid.startswith("GPU-")
    assert min(device.MULTIPROCESSOR_COUNT, device.MAX_REGISTERS_PER_BLOCK) > 0
    assert device.MAX_GRID_DIM_X > 2**16
    assert (device.UNIFIED_ADDRESSING, device.TCC_DRIVER) == (1, 0)
    assert 0 < memory.free <= memory.total
    with pytest.raises(AttributeError, match=r"docs/numba_cuda\.md"):
        _ = device.PCI_BUS_ID


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (lambda: cuda.compile(lambda x: x, ()), "PTX"),
        (lambda: cuda.LTOIR(b""), "links no code"),
        (lambda: type("Manager", (cuda.HostOnlyCUDAMemoryManager,), {}), "pools"),
        (lambda: cuda.device_array(3).get_ipc_handle(), "processes"),
        (lambda: cuda.types.Literal(3), "inside Numba's compiler"),
        (lambda: cuda.jit(lambda x: None).inspect_sass_cfg(), "SASS"),
    ],
)
def test_what_an_amd_gpu_lacks_says_so(use: Callable[[], Any], reason: str) -> None:
    with pytest.raises(cuda.AbsentError, match=reason):
        use()


def test_modules_of_numba_are_modules() -> None:
    for name in ("libdevice", "cudadrv.driver", "cudadrv.devicearray", "cudadrv.error"):
        assert importlib.import_module(f"amdjit.numba_cuda.{name}")
    assert issubclass(cuda.cudadrv.driver.CudaAPIError, Exception)
    assert cuda.float32x4.aliases == ("float4",)
    assert cuda.types.int16.bitwidth == 16


def test_new_arrays_have_the_order_of_the_axes_of_old_ones() -> None:
    base = np.arange(24.0).reshape(2, 3, 4)
    for view in (base.T, base.transpose(1, 0, 2), base[:, ::2], base.T[::2], base[:, 1]):
        expected = np.empty_like(view).strides
        assert cuda.device_array_like(view).strides == expected
        assert cuda.pinned_array_like(view).strides == expected
        assert cuda.mapped_array_like(view).strides == expected
    there = cuda.to_device(base).transpose((1, 0, 2))
    assert cuda.device_array_like(there).strides == (32, 96, 8)


def test_arrays_are_iterated_on_the_host() -> None:
    x, y = cuda.to_device([1, 10, 234]), cuda.to_device([2, 2, 4014])
    assert [a + b for a, b in zip(x, y, strict=True)] == [3, 12, 4248]
    rows = list(cuda.to_device(np.arange(6).reshape(2, 3)))
    assert rows[1].copy_to_host().tolist() == [3, 4, 5]
    assert cuda.device_array((1, 3, 1)).squeeze().shape == (3,)
    assert cuda.device_array((1, 3, 1)).squeeze(0).shape == (3, 1)


class Foreign:
    """Another library's array, over memory of the emulator."""

    def __init__(self, array: Any) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@cuda.jit
def doubled(x):
    x[cuda.grid(1)] *= 2


def test_interfaces_of_emulated_arrays_are_marked() -> None:
    there = cuda.to_device(np.arange(4.0))
    described = there.__cuda_array_interface__
    assert described["mask"] is not None
    assert described["shape"] == (4,)
    doubled[1, 4](cuda.from_cuda_array_interface(described, owner=there))
    doubled[1, 4](Foreign(there))
    doubled[1, 4](cuda.as_cuda_array(Foreign(there)))
    assert there.copy_to_host().tolist() == [0, 8, 16, 24]
    with pytest.raises(NotImplementedError, match="Masked"):
        cuda.from_cuda_array_interface({**described, "mask": there})


def test_mapped_arrays_are_copied_back() -> None:
    host = np.arange(4.0)
    with cuda.mapped(host) as there:
        doubled[1, 4](there)
    assert host.tolist() == [0, 2, 4, 6]


def test_bytes_are_set_and_copied_by_functions_of_the_driver() -> None:
    driver = cuda.cudadrv.driver
    host, back = np.arange(10, dtype=np.uint32), np.zeros(10, np.uint32)
    first, second = (
        cuda.device_array(10, np.uint32),
        cuda.device_array((2, 5), np.uint32, order="F"),
    )
    driver.host_to_device(first, host, 40)
    driver.device_to_device(second, first, 40)
    driver.device_to_host(back, second, 40)
    assert (back == host).all()
    driver.device_memset(second, 0xAB, 8)
    driver.device_to_host(back, second, 40)
    assert back[1] == 0xABABABAB
    assert (back[2:] == host[2:]).all()
    assert driver.device_memory_size(first) == driver.host_memory_size(host) == 40
    assert driver.host_memory_extents(host)[0] == host.ctypes.data
    assert driver.host_memory_extents(host[::-3]) == driver.host_memory_extents(host)
    assert driver.host_memory_size(ctypes.c_double(1)) == 8
    assert driver.device_pointer(first) == first.device_ctypes_pointer.value
    with pytest.raises(ValueError, match="44 bytes"):
        driver.device_memset(first, 0, 44)
    with pytest.raises(TypeError, match="to_device"):
        driver.require_device_memory(host)


def test_a_repeated_array_is_as_contiguous_as_what_it_repeats() -> None:
    devicearray = cuda.cudadrv.devicearray
    for host in (np.zeros((2, 3)), np.zeros((2, 3))[:, ::2], np.zeros((4, 2, 3))[:1], np.zeros(0)):
        array = cuda.to_device(host)
        assert devicearray.is_contiguous(array)
        assert devicearray.is_contiguous(array.T) == (host.ndim < 2)
        assert devicearray.array_core(array).shape == host.shape
    repeated = np.broadcast_to(np.arange(3.0), (5, 3))
    assert devicearray.array_core(repeated).shape == (3,)
    assert devicearray.is_contiguous(repeated)
