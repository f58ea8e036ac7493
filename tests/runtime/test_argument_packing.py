"""Kernel arguments become the bytes of LLVM's kernarg layout."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit import types as t
from amdjit.diagnostics.errors import InternalError, LaunchError
from amdjit.runtime import arrays
from amdjit.runtime.arguments import ArgumentPacker, kernarg_fields
from tests.runtime.host_memory_device import HostMemoryDevice


def contiguous(element: t.Scalar, ndim: int, bits: int = 32) -> t.Array:
    return t.Array(element, ndim, t.Layout.CONTIGUOUS, offset_bits=bits)


def strided(element: t.Scalar, ndim: int, bits: int = 32) -> t.Array:
    return t.Array(element, ndim, t.Layout.STRIDED, offset_bits=bits)


def layout(*types: t.Type) -> list[list[tuple[int, str]]]:
    return [[(field.offset, field.code) for field in fields] for fields in kernarg_fields(types)]


def test_scalars_and_vectors_have_llvms_alignment() -> None:
    assert layout(t.boolean, t.f16, t.i8, t.f64, t.boolean, t.f32) == [
        [(0, "?")], [(2, "e")], [(4, "b")], [(8, "d")], [(16, "?")], [(20, "f")],
    ]  # fmt: skip
    # <3 x float> and <3 x i16> take and align to 16 and 8 bytes.
    assert layout(t.i8, t.vector(t.f32, 3), t.i8, t.vector(t.i16, 3), t.vector(t.f16, 8)) == [
        [(0, "b")], [(16, "12s")], [(32, "b")], [(40, "6s")], [(48, "16s")],
    ]  # fmt: skip


def test_addresses_come_first_then_extents_strides_and_scalars() -> None:
    assert layout(
        t.i8, contiguous(t.f32, 2), strided(t.f16, 2), contiguous(t.f32, 1, 64), t.i8
    ) == [
        [(24, "b")],
        [(0, "Q"), (28, "i"), (32, "i")],
        [(8, "Q"), (36, "i"), (40, "i"), (44, "i"), (48, "i")],
        [(16, "Q"), (56, "q")],
        [(64, "b")],
    ]


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        (t.i8, -128, b"\x80"),
        (t.u32, np.uint32(0xFFFFFFFF), b"\xff" * 4),
        (t.i64, np.int8(-1), b"\xff" * 8),
        (t.boolean, np.bool_(True), b"\x01"),
        (t.boolean, False, b"\x00"),
        (t.f16, 1.5, np.float16(1.5).tobytes()),
        (t.f16, np.float32(1 / 3), np.float16(1 / 3).tobytes()),
        (t.f32, 2, np.float32(2).tobytes()),
        (t.f32, float("inf"), np.float32("inf").tobytes()),
        (t.f64, np.float16(0.1), np.float64(np.float16(0.1)).tobytes()),
        (t.bf16, 1.0, b"\x80\x3f"),
        (t.bf16, ml_dtypes.bfloat16(-2.5), ml_dtypes.bfloat16(-2.5).tobytes()),
        (t.fp8, 1.0, b"\x38"),
        (t.bf8, 1.0, b"\x3c"),
        (t.vector(t.bf16, 2), (1, 1), b"\x80\x3f\x80\x3f"),
        (
            t.vector(t.f16, 4),
            t.vector(t.f16, 4)(1, 2, 3, 4),
            np.arange(1, 5, dtype=np.float16).tobytes(),
        ),
    ],
)
def test_values_are_packed_as_the_kernarg_segment_holds_them(
    type: t.Type, value: Any, expected: bytes
) -> None:
    assert bytes(ArgumentPacker(["x"], [type]).pack([value])) == expected


def test_arrays_are_packed_as_addresses_extents_and_strides(device: HostMemoryDevice) -> None:
    array = arrays.zeros(device, (4, 6), np.float16)
    packer = ArgumentPacker(["n", "a", "b"], [t.i16, contiguous(t.f16, 2), strided(t.f16, 2, 64)])
    view = array[::-2, 1::3]
    expected = struct.pack("<QQh2xii4xqqqq", array.address, view.address, 7, 4, 6, 2, 2, -12, 3)
    assert bytes(packer.pack([7, array, view])) == expected
    assert packer.nbytes == len(expected)
    larger = bytearray(b"\xee" * (len(expected) + 4))
    packer.pack_into(larger, [7, array, view])
    assert bytes(larger) == expected + b"\xee" * 4


@pytest.mark.parametrize(
    ("type", "value", "texts"),
    [
        (
            t.i8,
            128,
            ("argument second is 128 (int)", "does not fit i8", "from -128 to 127", "wider type"),
        ),
        (t.u16, -1, ("from 0 to 65535",)),
        (t.i32, 1.5, ("argument second is 1.5 (float)", "Give an integer")),
        (t.i32, 2**31, ("2147483648",)),
        (t.f32, "1", ("Give a number that f32 can hold",)),
        (t.f32, 1e40, ("1e+40",)),
        (t.f16, 1e6, ("f16 can hold",)),
        (t.f32, 1j, ("1j (complex)",)),
        (t.bf16, "x", ("bf16",)),
        (t.vector(t.f16, 4), (1, 2, 3), ("it has shape (3,), not (4,)", "amdjit.f16x4(...)")),
        (contiguous(t.f32, 1), 3, ("argument second is 3 (int)", "NumPy array or a DeviceArray")),
    ],
)
def test_values_that_do_not_fit_are_named(type: t.Type, value: Any, texts: tuple[str, ...]) -> None:
    with pytest.raises(LaunchError) as refused:
        ArgumentPacker(["first", "second"], [t.f32, type]).pack([1, value])
    for text in texts:
        assert text in str(refused.value)


def test_arrays_that_32_bits_cannot_describe_are_refused(device: HostMemoryDevice) -> None:
    small = arrays.zeros(device, 4, np.int8)
    huge = arrays.DeviceArray(device, small.address, (2**31,), small.dtype, (1,), small)
    with pytest.raises(LaunchError, match="argument a is DeviceArray"):
        ArgumentPacker(["a"], [contiguous(t.i8, 1)]).pack([huge])
    assert len(ArgumentPacker(["a"], [contiguous(t.i8, 1, 64)]).pack([huge])) == 16
    odd = arrays.DeviceArray(device, small.address, (2,), np.dtype(np.float32), (6,), small)
    with pytest.raises(LaunchError, match=r"strides \(6,\) are not multiples of its item size 4"):
        ArgumentPacker(["a"], [strided(t.f32, 1)]).pack([odd])


def test_wrong_counts_and_types_without_a_place_are_refused() -> None:
    packer = ArgumentPacker(["x", "y"], [t.f32, t.f32])
    with pytest.raises(LaunchError, match=r"takes 2 arguments \(x, y\), 1 were given"):
        packer.pack([1])
    with pytest.raises(InternalError, match="not passed to a kernel"):
        kernarg_fields([t.VOID])
    assert ArgumentPacker([], []).pack([]) == bytearray()
