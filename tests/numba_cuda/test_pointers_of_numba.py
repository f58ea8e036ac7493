"""Addresses as arguments: `CPointer` in signatures, `carray` and `farray`, and the memory of device
arrays and records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import types
from amdjit.numba_cuda.cudadrv import devicearray
from amdjit.numba_cuda.type_classes import carray, farray

RECORD = np.dtype([("a", np.int32), ("b", np.float32)], align=True)


@cuda.jit(types.void(types.CPointer(types.uint8), types.uint32))
def increment(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] += 1


@pytest.mark.parametrize("kind", ["interface", "memory", "array", "inside"])
def test_a_kernel_takes_an_address_for_a_pointer(kind: str) -> None:
    x = cuda.to_device(np.arange(10, dtype=np.uint8))
    address = x.__cuda_array_interface__["data"][0]
    given = {
        "interface": address,
        "memory": np.uint64(x.gpu_data.device_pointer),
        "array": x,
        "inside": address + 4,
    }
    increment[1, 32](given[kind], 3)
    first = 4 if kind == "inside" else 0
    expected = np.arange(10)
    expected[first : first + 3] += 1
    assert x.copy_to_host().tolist() == expected.tolist()


def test_an_access_beyond_the_memory_that_a_pointer_is_in_is_a_fault() -> None:
    x = cuda.to_device(np.zeros(10, np.uint8))
    with pytest.raises(amdjit.KernelFault):
        increment[1024, 1024](x.gpu_data.device_pointer, 1 << 20)


def test_the_pointers_of_one_kernel_may_point_at_one_array() -> None:
    @cuda.jit(types.void(types.CPointer(types.int32), types.CPointer(types.int32)))
    def shift(x, y):
        x[0] = 1
        y[0] += 1
        x[1] = x[0]

    x = cuda.to_device(np.zeros(2, np.int32))
    shift[1, 1](x.gpu_data.device_pointer, x.gpu_data.device_pointer)
    assert x.copy_to_host().tolist() == [2, 2]


def test_pointers_as_arrays_of_a_shape() -> None:
    @cuda.jit(types.void(types.CPointer(types.float32), types.int64, types.float32[:, :]))
    def read(p, n, out):
        in_c, in_f = carray(p, (2, n), dtype=np.float32), farray(p, (2, n))
        flat = carray(p, n)
        for i in range(2):
            for k in range(n):
                out[i, k] = 100 * in_c[i, k] + in_f[i, k]
        flat[0] = -1

    x, out = cuda.to_device(np.arange(6, dtype=np.float32)), np.zeros((2, 3), np.float32)
    read[1, 1](x.gpu_data.device_pointer, 3, out)
    places = np.arange(6)
    assert (out == 100 * places.reshape(2, 3) + places.reshape((2, 3), order="F")).all()
    assert x.copy_to_host()[0] == -1


@pytest.mark.parametrize("function", [carray, farray])
def test_another_type_than_the_pointers_is_refused(function: Any) -> None:
    with pytest.raises(amdjit.CompileError, match="the dtype is not that of the pointer's"):

        @cuda.jit(types.void(types.CPointer(types.float32)))
        def wrong(p):
            function(p, (2,), np.float64)[0] = 1


def test_device_functions_take_pointers() -> None:
    @cuda.jit(types.float32(types.CPointer(types.float32), types.int64), device=True)
    def read(p, i):
        return p[i]

    @cuda.jit(types.void(types.CPointer(types.float32), types.float32[:]))
    def copy(p, out):
        out[0] = read(p, 1)

    x, out = cuda.to_device(np.float32([1, 2])), np.zeros(1, np.float32)
    copy[1, 1](x.gpu_data.device_pointer, out)
    assert out[0] == 2


def test_memory_is_compared_by_its_address() -> None:
    x, other = cuda.to_device(np.arange(4)), cuda.to_device(np.arange(4))
    assert x.gpu_data == x.view(np.float64).gpu_data
    assert x.gpu_data != other.gpu_data
    assert x.gpu_data != x[1:].gpu_data
    assert len({x.gpu_data, x.gpu_data}) == 1


def test_records_on_the_device() -> None:
    host = np.zeros(1, RECORD)[0]
    host["a"], host["b"] = 10, 11
    record = devicearray.DeviceRecord(RECORD)
    record.copy_to_device(host)
    back = np.zeros(1, RECORD)[0]
    record.copy_to_host(back)
    assert back == host
    assert record.shape == ()
    assert record._numba_type_ == cuda.from_dtype(RECORD)
    like = devicearray.from_record_like(record)
    assert like.dtype == RECORD
    assert like.gpu_data != record.gpu_data


def test_what_auto_device_copies() -> None:
    found, is_new = devicearray.auto_device(np.arange(3))
    assert found.copy_to_host().tolist() == [0, 1, 2]
    assert is_new
    assert devicearray.auto_device(found)[1] is False
    assert devicearray.auto_device(2)[0].copy_to_host() == 2
    record, _ = devicearray.auto_device(np.ones(1, RECORD)[0])
    assert record["b"] == 1
    with pytest.raises(ValueError, match="not adjacent"):
        devicearray.auto_device(np.arange(6)[::2])


def test_signatures_as_text_have_pointers() -> None:
    @cuda.jit(["void(CPointer(float32), i8)", "void(CPointer(uint8), i8)"])
    def either(x, n):
        x[0] += n

    @cuda.jit("void(CPointer( f8 ), int64)")
    def double(x, n):
        for i in range(n):
            x[i] *= 2

    x = cuda.to_device(np.arange(3.0))
    double[1, 1](x.gpu_data.device_pointer, 2)
    assert x.copy_to_host().tolist() == [0, 2, 2]
    y = cuda.to_device(np.float32([1, 2]))
    either[1, 1](y, 3)
    assert y.copy_to_host().tolist() == [4, 2]
    for wrong in ("CPointer(f4[:])", "CPointer(void)", "CPointer(CPointer(f4))"):
        with pytest.raises(amdjit.OptionError, match="CPointer takes the type of a number"):
            cuda.jit(f"void({wrong})")
    with pytest.raises(amdjit.OptionError, match="pass an array"):
        amdjit.kernel("void(CPointer(f32))")(lambda x: None)


def test_an_array_of_the_host_may_lie_behind_an_address() -> None:
    @cuda.jit(types.void(types.CPointer(types.uint8), types.uint8[:]))
    def write(p, out):
        out[0] = 1

    out = np.zeros(1, np.uint8)
    write[1, 1](out.ctypes.data - 64, out)
    assert out[0] == 1


@pytest.mark.parametrize("kernel_of", [cuda.jit, amdjit.kernel])
@pytest.mark.parametrize("device", ["emulator:gfx1201", "emulator:gfx942"])
def test_arrays_have_their_address_in_kernels(kernel_of: Any, device: str) -> None:
    @kernel_of
    def addresses(x, records, out):
        in_lds = cuda.shared.array(8, np.float64, alignment=64)
        private = cuda.local.array((2, 3), np.float32, alignment=128)
        private[cuda.threadIdx.x, 0] = 1
        in_lds[0] = private[0, 0]
        out[0] = x.ctypes.data
        out[1] = x[1:].ctypes.data
        out[2] = x[::-1].ctypes.data
        out[3] = records.b.ctypes.data
        out[4] = in_lds.ctypes.data
        out[5] = in_lds[2:].ctypes.data
        out[6] = private.ctypes.data

    with amdjit.use(device):
        x, records = cuda.to_device(np.arange(6.0)), cuda.to_device(np.zeros(3, RECORD))
        there = cuda.to_device(np.zeros(7, np.uint64))
        addresses[1, 1](x, records, there)
        found = there.copy_to_host().tolist()
    assert [each - x.address for each in found[:3]] == [0, 8, 40]
    assert found[3] - records.address == 4
    in_lds, part_of_it, private = found[4:]
    assert (part_of_it - in_lds, in_lds % 64, private % 128) == (16, 0, 0)
    assert len({in_lds >> 32, private >> 32, x.address >> 32}) == 3
