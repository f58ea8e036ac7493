"""Functions that make arrays give NumPy's values, shapes and types, on the device asked for."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit

KINDS = [
    np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64, np.complex64,
    np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, "u1", "f8", "datetime64[s]",
]  # fmt: skip


def check(made: amdjit.DeviceArray, expected: np.ndarray[Any, Any]) -> None:
    assert type(made) is amdjit.DeviceArray
    assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    assert made.strides == expected.strides or made.size == 0
    assert made.copy_to_host().tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [5, (), (2, 3), (0, 3), [2, 1], np.int64(4)])
def test_zeros_ones_and_full_are_numpys(dtype: Any, shape: Any) -> None:
    check(amdjit.zeros(shape, dtype), np.zeros(shape, dtype))
    check(amdjit.full(shape, 0, dtype), np.full(shape, 0, dtype))
    if dtype != "datetime64[s]":
        check(amdjit.ones(shape, dtype), np.ones(shape, dtype))
    like = np.zeros((2, 3), dtype)
    check(amdjit.zeros_like(like), np.zeros_like(like))
    assert amdjit.empty_like(amdjit.to_device(like)).dtype == like.dtype


@pytest.mark.parametrize(
    "value", [3, 2.5, True, np.float32(2), np.int8(3), 1j, [1, 2, 3], np.arange(3, dtype="i2")]
)
def test_full_takes_numpys_type_for_its_value(value: Any) -> None:
    check(amdjit.full((2, 3), value), np.full((2, 3), value))
    like = np.zeros((2, 3), complex)
    check(amdjit.full_like(like, value), np.full_like(like, value))


def test_default_types_are_float32() -> None:
    for make in (amdjit.zeros, amdjit.ones, amdjit.empty):
        assert make(3).dtype == np.float32
    for make in (amdjit.pinned_empty, amdjit.managed_empty):
        assert make(3).dtype == np.float32


@pytest.mark.parametrize(
    "arguments",
    [(7,), (2, 9), (2, 9, 3), (1, 2, 0.25), (9, 2, -2), (3.5,), (0,), (np.int16(4),), (5, 1)],
)
def test_arange_is_numpys(arguments: tuple[Any, ...]) -> None:
    check(amdjit.arange(*arguments), np.arange(*arguments))
    check(amdjit.arange(*arguments, dtype=np.float16), np.arange(*arguments, dtype=np.float16))


@pytest.mark.parametrize("size", [*range(1, 18), 24, 64, 65, 200])
@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_fills_of_every_item_size_write_their_elements_only(size: int, count: int) -> None:
    random = np.random.default_rng(size)
    for start in (0, 1, 3):
        host = random.integers(0, 255, (count + 5, size), np.uint8).view(f"V{size}")[:, 0]
        there = amdjit.to_device(host)
        pattern = random.integers(0, 255, size, np.uint8).view(f"V{size}")[0]
        for value in (
            pattern,
            np.zeros(1, f"V{size}")[0],
            np.full(size, 7, "u1").view(f"V{size}")[0],
        ):
            there[start : start + count].fill(value)
            host[start : start + count] = value
            assert there.copy_to_host().tobytes() == host.tobytes()


def test_fills_of_views_without_elements_do_nothing() -> None:
    for shape in ((5, 0, 1), (0, 3), (4, 5, 0)):
        there = amdjit.zeros(shape, np.int32)
        there[::-1, 1:][...] = 7
        there[:, -1:].fill(7)
        there.T[0:0] = 7


def test_fills_are_in_the_order_of_their_stream() -> None:
    stream = amdjit.Stream()
    there = amdjit.zeros(1000, np.float64, stream)
    for value in range(5):
        there[: 1000 - 100 * value].fill(value, stream)
    expected = np.zeros(1000)
    for value in range(5):
        expected[: 1000 - 100 * value] = value
    np.testing.assert_array_equal(there.copy_to_host(stream=stream), expected)


def test_arrays_are_made_on_the_device_that_is_named() -> None:
    for make in (
        lambda **where: amdjit.zeros(3, **where),
        lambda **where: amdjit.ones(3, **where),
        lambda **where: amdjit.empty(3, **where),
        lambda **where: amdjit.full(3, 1, **where),
        lambda **where: amdjit.arange(3, **where),
        lambda **where: amdjit.asarray([1, 2], **where),
        lambda **where: amdjit.to_device(np.ones(2), **where),
        lambda **where: amdjit.zeros_like(np.ones(2), **where),
    ):
        assert make().device is amdjit.current_device()
        other = make(device="emulator:gfx1200")
        assert other.device.name == "emulator:gfx1200"
        assert amdjit.empty_like(other).device is other.device
        assert make(device=other.device).device is other.device
    with amdjit.use("emulator:gfx1200"):
        stream = amdjit.Stream()
    assert amdjit.zeros(3, stream=stream).device is stream.device
    with pytest.raises(amdjit.LaunchError, match="no device 'nowhere'"):
        amdjit.zeros(3, device="nowhere")
    with pytest.raises(amdjit.LaunchError, match="belongs to emulator:gfx1200"):
        amdjit.zeros(3, stream=stream, device="emulator:gfx1201")


def test_asarray_keeps_what_is_right_already() -> None:
    there = amdjit.arange(4)
    assert amdjit.asarray(there) is there
    assert amdjit.asarray(there, np.int64) is there
    check(amdjit.asarray(there, np.float32), np.arange(4, dtype=np.float32))
    check(amdjit.asarray([[1, 2.5]], np.float16), np.asarray([[1, 2.5]], np.float16))
    check(amdjit.asarray(3), np.asarray(3))
    with pytest.raises(TypeError, match="masked array"):
        amdjit.asarray(np.ma.masked_array([1, 2], [0, 1]))
    with pytest.raises(TypeError, match="Python objects"):
        amdjit.asarray([None, 1])


def test_a_gigabyte_of_zeros_takes_no_copy_through_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = type(amdjit.current_device())

    def refuse(*arguments: object) -> None:
        raise AssertionError("zeros were copied from the host")

    monkeypatch.setattr(device, "copy_to_device", refuse)
    amdjit.zeros((1000, 1000), np.float64).free()
    amdjit.full(1 << 20, 3.5).free()


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 5), (1, 4), (4, 1), (0, 3), (7,)])
def test_the_order_of_a_host_array_is_kept(shape: tuple[int, ...]) -> None:
    host = np.asfortranarray(np.random.default_rng(1).integers(0, 99, shape))
    device = amdjit.to_device(host)
    back = device.copy_to_host()
    assert (device.shape, device.dtype) == (host.shape, host.dtype)
    np.testing.assert_array_equal(back, host)
    if host.size:
        assert device.strides == host.strides
        assert back.flags.f_contiguous
    out = np.zeros(shape, host.dtype)
    device.copy_to_host(out)
    np.testing.assert_array_equal(out, host)
    device.copy_from_host(np.ascontiguousarray(host + 1))
    np.testing.assert_array_equal(device.copy_to_host(), host + 1)
    device.fill(3)
    assert (device.copy_to_host() == 3).all()
    np.testing.assert_array_equal(device.copy().copy_to_host(), np.full(shape, 3))
