"""Arrays with a CUDA array interface: as globals of kernels, with streams, in mapped memory."""

from __future__ import annotations

import enum
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import amdjit
from amdjit import numba_cuda as cuda


class Foreign:
    """Another library's array over the memory of one of amdjit's."""

    def __init__(self, array: Any) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@pytest.mark.parametrize("kernel_of", [cuda.jit, amdjit.kernel])
def test_kernels_read_and_write_foreign_arrays_from_outside(kernel_of: Any) -> None:
    there, matrix = cuda.to_device(np.arange(4)), cuda.to_device(np.ones((4, 2))[:, ::-1])
    source, rows = Foreign(there), Foreign(matrix.T)

    @kernel_of
    def kernel(out):
        i = cuda.threadIdx.x
        out[i] = source[i] + rows[0, i]
        source[i] += 1

    out = np.zeros(4)
    for _ in range(2):
        kernel[1, 4](out)
    assert out.tolist() == [2, 3, 4, 5]
    assert there.copy_to_host().tolist() == [2, 3, 4, 5]


def test_another_foreign_array_in_the_same_variable_is_used_by_later_launches() -> None:
    source = Foreign(cuda.to_device(np.arange(4)))

    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        out[i] = source[i]

    out = cuda.device_array(4)
    launch = kernel[1, 4].bind(out)
    for new in (cuda.to_device(np.ones(4, int)), Foreign(cuda.to_device(np.full(4, 2.5)))):
        launch()
        source = new
    launch()
    assert (out.copy_to_host() == 2.5).all()


def test_a_foreign_array_from_outside_may_be_an_argument_too() -> None:
    there = cuda.to_device(np.arange(4))
    source = Foreign(there)

    @cuda.jit
    def shifted(out):
        out[1] = source[0] + 7
        out[2] = source[1]

    shifted[1, 1](there)
    assert there.copy_to_host().tolist() == [0, 7, 7, 3]


def test_foreign_arrays_of_the_host_are_refused_as_globals() -> None:
    class OfTheHost:
        def __init__(self, array: Any) -> None:
            self._array = array

        def __dlpack__(self, **how: Any) -> Any:
            return self._array.__dlpack__(**how)

        def __dlpack_device__(self) -> Any:
            return self._array.__dlpack_device__()

    source = OfTheHost(np.arange(4))

    @cuda.jit
    def kernel(out):
        out[0] = source[0]

    with pytest.raises(amdjit.CompileError, match=r"source = amdjit.asarray\(source\)"):
        kernel[1, 1](np.zeros(1))


def test_arrays_keep_the_stream_that_they_were_made_with() -> None:
    stream = cuda.stream()
    number = int(stream.handle)
    made = [
        cuda.device_array((2, 3), stream=stream),
        cuda.device_array((2, 3), order="F", stream=stream),
        cuda.device_array((2, 3), strides=(8, 16), stream=stream),
        cuda.to_device(np.ones((2, 3)), stream=stream),
        cuda.device_array_like(np.ones((2, 3)), stream=stream),
        cuda.to_device(np.ones((2, 3))).bind(stream),
        cuda.mapped_array((2, 3), stream=stream),
        cuda.managed_array((2, 3), stream=stream),
    ]
    for array in made:
        for view in (array, array[1:], array.T, array.view(np.int64)):
            assert view.stream is stream
            assert view.__cuda_array_interface__["stream"] == number
        again = cuda.as_cuda_array(Foreign(array))
        assert again.stream.handle is stream.handle
        assert again.device_ctypes_pointer.value == array.device_ctypes_pointer.value
    assert cuda.device_array(3).stream == 0
    assert cuda.device_array(3).__cuda_array_interface__["stream"] is None
    with_default = cuda.device_array(3, stream=cuda.default_stream())
    assert with_default.__cuda_array_interface__["stream"] == 1


def test_uses_of_a_foreign_array_wait_for_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (Foreign(cuda.device_array(4, stream=cuda.stream())) for _ in range(2))

    @cuda.jit
    def kernel(x, y):
        pass

    def waits() -> int:
        with patch.object(cuda.driver.Stream, "synchronize") as synchronize:
            kernel[1, 1](first, second)
            cuda.as_cuda_array(first, sync=False)
            cuda.as_cuda_array(first)
        return synchronize.call_count

    assert waits() == 3
    monkeypatch.setattr(cuda.config, "CUDA_ARRAY_INTERFACE_SYNC", 0)
    assert waits() == 0


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_mapped_and_managed_arrays_offer_their_memory(make: Any) -> None:
    host = make((2, 3), np.float32)
    host[...] = 1

    @cuda.jit
    def double(x):
        x[cuda.threadIdx.y, cuda.threadIdx.x] += x[cuda.threadIdx.y, cuda.threadIdx.x]

    for given in (host, Foreign(host), cuda.as_cuda_array(host), Foreign(host[:, ::-1])):
        double[1, (3, 2)](given)
    assert (host == 16).all()
    assert cuda.is_cuda_array(host)
    assert not cuda.is_cuda_array(host + 1)
    assert not hasattr(host.copy(), "__cuda_array_interface__")


def test_streams_of_the_emulator_are_found_by_their_number() -> None:
    stream = cuda.stream()
    assert cuda.external_stream(int(stream.handle)).handle is stream.handle
    with pytest.raises(amdjit.LaunchError, match="the emulator has no HIP stream 0x10"):
        cuda.external_stream(0x10)


class Shape(enum.IntEnum):
    """Members with the same value as those of another class."""

    circle = 2
    square = 4


class Colour(enum.IntEnum):
    red = 2


def test_members_of_int_enums_are_objects_and_numbers() -> None:
    @cuda.jit
    def kernel(a, b, values, out):
        out[0] = a is b
        out[1] = a is not b
        out[2] = a == b
        out[3] = values[a] + 10 * b
        out[4] = a is Shape.circle
        out[5] = a / 4

    pairs = [(Shape.circle, Shape.circle), (Shape.circle, Colour.red), (Colour.red, Shape.circle)]
    for a, b in [*pairs, (Shape.square, Shape.circle)]:
        for _ in range(2):
            out = np.zeros(6)
            kernel[1, 1](a, b, np.arange(8.0), out)
            expected = [a is b, a is not b, a == b, a + 10 * b, a is Shape.circle, a / 4]
            assert out.tolist() == expected


def test_a_member_of_an_int_enum_has_the_type_of_a_signature() -> None:
    @cuda.jit("void(int16, int16[:])")
    def kernel(a, out):
        out[0] = a * 20000

    out = np.zeros(1, np.int16)
    kernel[1, 1](Shape.circle, out)
    assert out[0] == np.array([40000]).astype(np.int16)[0]
