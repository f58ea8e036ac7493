"""Pinned, mapped and managed host memory: NumPy arrays that a device knows."""

from __future__ import annotations

import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import standin

import amdjit


@amdjit.kernel(warnings=False)
def double(x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i]


def mapped(shape: Any, dtype: Any = np.float32) -> Any:
    return amdjit.pinned_empty(shape, dtype, mapped=True)


@pytest.mark.parametrize("make", [amdjit.pinned_empty, amdjit.managed_empty, mapped])
@pytest.mark.parametrize("shape", [5, (2, 3), (), (0, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.complex128, ml_dtypes.bfloat16])
def test_they_are_numpy_arrays_like_others(make: Any, shape: Any, dtype: Any) -> None:
    array, plain = make(shape, dtype), np.empty(shape, dtype)
    assert type(array) is np.ndarray
    assert (array.shape, array.dtype) == (plain.shape, plain.dtype)
    assert array.strides == plain.strides or array.size == 0
    assert array.flags.writeable
    assert array.flags.aligned
    array[...] = 3
    there = amdjit.to_device(array)
    assert there.copy_to_host().tobytes() == array.tobytes()


@pytest.mark.parametrize("make", [amdjit.managed_empty, mapped])
def test_kernels_use_them_in_place(
    make: Any, on_standin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, out = make((4, 8)), make(16)
    x[...] = np.arange(32).reshape(4, 8)
    out[...] = -1

    def refuse(*arguments: object) -> None:
        raise AssertionError("an array was copied")

    with monkeypatch.context() as patch:
        for name in ("copy_to_device", "copy_to_host"):
            patch.setattr(type(amdjit.current_device()), name, refuse)
        double[1, 32](x[1], out[::2])
    if on_standin:
        assert out.tolist() == [-1] * 16  # nobody has waited
    amdjit.synchronize()
    assert out[::2].tolist() == (2 * np.arange(8, 16)).tolist()
    assert (out[1::2] == -1).all()


def test_strided_and_reversed_views_are_used_in_place() -> None:
    x = mapped((4, 8))
    x[...] = np.arange(32).reshape(4, 8)
    out = mapped(8)
    double[1, 32](x[2, ::-1], out)
    amdjit.synchronize()
    assert out.tolist() == (2 * np.arange(16, 24)[::-1]).tolist()


def test_a_read_only_view_is_not_written() -> None:
    out = mapped(4)
    out[...] = 1
    out.flags.writeable = False
    with pytest.raises(amdjit.LaunchError, match="writes argument out, a read-only NumPy array"):
        double[1, 4](np.ones(4, np.float32), out)


def test_pinned_memory_that_is_not_mapped_is_copied_as_others_are() -> None:
    x, out = amdjit.pinned_empty(4), amdjit.pinned_empty(4)
    x[...] = 3
    double[1, 4](x, out)
    assert out.tolist() == [6] * 4


def test_mapped_memory_of_another_device_is_copied() -> None:
    x = amdjit.pinned_empty(4, mapped=True, device="emulator:gfx1200")
    x[...] = 3
    out = np.zeros(4, np.float32)
    double[1, 4](x, out)
    assert out.tolist() == [6] * 4


def test_copies_in_a_stream_do_not_wait_for_pinned_memory(on_standin: bool) -> None:
    stream = amdjit.Stream()
    source, back = amdjit.pinned_empty(100, np.int32), amdjit.pinned_empty(100, np.int32)
    source[...] = np.arange(100)
    back[...] = -1
    there = amdjit.zeros(100, np.int32)
    amdjit.synchronize()
    there.copy_from_host(source, stream)
    there.copy_to_host(back, stream)
    if on_standin:
        assert (back == -1).all()
        source[0] = 77  # too early: HIP has not read it
    stream.synchronize()
    assert back.tolist() == [77 if on_standin else 0, *range(1, 100)]


def test_copies_without_a_stream_and_of_other_memory_wait() -> None:
    stream = amdjit.Stream()
    source, out = amdjit.pinned_empty(100, np.int32), amdjit.pinned_empty((100, 2), np.int32)
    source[...] = 5
    there = amdjit.zeros(100, np.int32, stream)
    there.copy_from_host(source)
    source[...] = 6
    assert there.copy_to_host().tolist() == [5] * 100
    assert there.copy_to_host(out[:, 1]).tolist() == [5] * 100
    pageable = np.full(100, 7, np.int32)
    there.copy_from_host(pageable, stream)
    pageable[...] = 0
    assert there.copy_to_host(stream=stream).tolist() == [7] * 100
    there.copy_from_host(source[::-1], stream)  # strided: through a copy
    source[...] = 0
    out[...] = 0
    assert there.copy_to_host(out[:, 0], stream).tolist() == [6] * 100  # strided: waits


def test_memory_is_freed_with_the_last_array_over_it_and_after_its_work(on_standin: bool) -> None:
    device: Any = amdjit.current_device()

    def held() -> int:
        if on_standin:
            return int(standin.library().standin_host_allocations())
        return int(device.memory_used)

    gc.collect()
    before = held()
    pinned = amdjit.pinned_empty(1000)
    views = [pinned[1:].reshape(3, -1).T, np.asarray(pinned.view(np.int32))]
    del pinned
    assert held() > before
    stream = amdjit.Stream()
    there = amdjit.ones(1000)
    there[:999].copy_to_host(amdjit.pinned_empty(999), stream)  # dropped before it is written
    views.clear()
    gc.collect()
    stream.synchronize()
    del there, stream
    gc.collect()
    assert held() == before


def test_what_no_host_memory_can_be_is_refused() -> None:
    with pytest.raises(TypeError, match="Python objects"):
        amdjit.pinned_empty(3, object)
    with pytest.raises(ValueError, match="negative"):
        amdjit.managed_empty((2, -1))
    with pytest.raises(amdjit.BackendError, match=r"[Mm]emory"):
        amdjit.pinned_empty(1 << 50)
