"""Arrays of NumPy records, packed and aligned: fields read and written, elements copied, records as
arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import f32
from tests.api.lanes import DEVICE


def record_type(align: bool) -> np.dtype[Any]:
    """Return a type whose fields are misaligned where it is packed."""
    inner = np.dtype([("a", "i4"), ("b", "u1")], align=align)
    fields = [
        ("t", "i1"),
        ("x", "f4"),
        ("p", inner),
        ("v", "i2", (2, 2)),
        ("d", "f8"),
        ("on", "?"),
        ("z", "f2"),
    ]
    return np.dtype(fields, align=align)


PACKED, ALIGNED = record_type(False), record_type(True)
LAYOUTS = pytest.mark.parametrize("dtype", [PACKED, ALIGNED], ids=["packed", "aligned"])


def sample(dtype: np.dtype[Any], shape: Any = 8) -> NDArray[Any]:
    random = np.random.default_rng(2)
    a = np.zeros(shape, dtype)
    for name, low in (("t", -9), ("x", -99), ("d", -5), ("z", 0)):
        a[name] = random.integers(low, 100, a.shape)
    a["p"]["a"], a["p"]["b"] = (
        random.integers(-1000, 1000, a.shape),
        random.integers(0, 256, a.shape),
    )
    a["v"] = random.integers(-99, 99, a["v"].shape)
    a["on"] = random.integers(0, 2, a.shape)
    return a


def total(r: Any) -> Any:
    return (
        r["t"] + r["x"] + r["p"]["a"] + r["p"]["b"] + r["v"][..., 1, 0] + r["d"] + r["on"] + r["z"]
    )


def sum_of(r):
    return r.t + r.x + r.p.a + r.p.b + r.v[1, 0] + r.d + r.on + r.z


@amdjit.kernel
def read(a, out):
    i = amdjit.grid(1)
    out[i] = sum_of(a[i])


@LAYOUTS
def test_every_field_is_read(dtype: np.dtype[Any]) -> None:
    a, out = sample(dtype), np.zeros(8)
    with amdjit.use(DEVICE):
        read[1, 8](a, out)
        assert np.array_equal(out, total(a))
        read[1, 4](np.broadcast_to(sample(dtype)[:4], (4,))[::-1], out)
        assert np.array_equal(out[:4], total(a)[:4][::-1])


@amdjit.kernel
def write(a):
    i = amdjit.grid(1)
    r = a[i]
    r.t = i
    a[i].p.a += 10
    a[i]["d"] = i + 0.5
    r.v[0, 1] = 9
    a["x"][i] *= 2
    r.on = not r.on


@LAYOUTS
def test_every_field_is_written(dtype: np.dtype[Any]) -> None:
    a = sample(dtype)
    expected = a.copy()
    expected["t"], expected["d"] = np.arange(8), np.arange(8) + 0.5
    expected["p"]["a"] += 10
    expected["v"][:, 0, 1] = 9
    expected["x"] *= 2
    expected["on"] ^= True
    with amdjit.use(DEVICE):
        write[1, 8](a)
    for name in dtype.names or ():
        assert np.array_equal(a[name], expected[name])


@LAYOUTS
def test_elements_are_copied_through_every_memory(dtype: np.dtype[Any]) -> None:
    a, b = sample(dtype), np.zeros(8, dtype)
    expected = a[::-1].copy()
    expected[3] = (1, 2.5, (3, 4), ((1, 2), (3, 4)), 5, True, 6)
    with amdjit.use(DEVICE):
        amdjit.kernel(_copy_function(dtype))[1, 8](a, b)
    for name in dtype.names or ():
        assert np.array_equal(b[name], expected[name])


def _copy_function(record: np.dtype[Any]) -> Any:
    def kernel(a, b):
        i = amdjit.grid(1)
        tile = amdjit.shared.array(8, record)
        mine = amdjit.local.array(2, record)
        tile[i] = a[i]
        amdjit.syncthreads()
        mine[1] = tile[7 - i]
        mine[0] = mine[1]
        b[i] = mine[0]
        if i == 3:
            b[i] = (1, 2.5, (3, 4), ((1, 2), (3, 4)), 5, True, 6)

    return kernel


@amdjit.kernel
def scalars(r, out):
    out[0] = r.t + r.x + r.p.a + r.p.b + r.v[1][0] + r.d + r.on + r.z


@LAYOUTS
def test_records_arrive_as_arguments_with_their_fields(dtype: np.dtype[Any]) -> None:
    a, out = sample(dtype), np.zeros(1)
    with amdjit.use(DEVICE):
        for r in a:
            scalars[1, 1](r, out)
            assert out[0] == total(r)


@amdjit.kernel
def planes(a, out):
    i, j = amdjit.grid(2)
    out[j, i] = a[j, i].p.b + a["x"][j, i]


@LAYOUTS
def test_two_dimensions_and_strides(dtype: np.dtype[Any]) -> None:
    whole, out = sample(dtype, (8, 12)), np.zeros((4, 4), np.float32)
    with amdjit.use(DEVICE):
        device = amdjit.to_device(whole)
        planes[(4, 4), (1, 1)](device[::2, 1::3], out)
    part = whole[::2, 1::3]
    assert np.array_equal(out, part["p"]["b"] + part["x"])


@amdjit.kernel
def histogram(a, x):
    i = amdjit.grid(1)
    amdjit.atomic.add(a["count"], x[i], 1)


def test_atomics_change_one_field_of_a_record() -> None:
    a = np.zeros(4, np.dtype([("weight", "f4"), ("count", "i4")], align=True))
    x = np.arange(32, dtype=np.int32) % 3
    with amdjit.use(DEVICE):
        histogram[1, 32](a, x)
        assert a["count"].tolist() == [11, 11, 10, 0]
        packed = np.zeros(4, np.dtype([("weight", "i1"), ("count", "i4")]))
        with pytest.raises(amdjit.TypeCheckError, match="align=True"):
            histogram[1, 32](packed, x)


@amdjit.kernel
def unknown(a, out: f32[:]):
    out[0] = a[0].y


@amdjit.kernel
def too_few(a):
    a[0] = (1, 2)


@amdjit.kernel
def whole(a):
    a[0].p = 1


@amdjit.kernel
def other_shape(a):
    a[0].v = (1, 2, 3)


@amdjit.kernel
def overlapping(a):
    a[0].v[1:] = a[0].v[:-1]


@amdjit.kernel
def overlapping_columns(a):
    a["x"][1:] = a["x"][:-1]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (unknown, "its fields are t, x, p, v, d, on, z"),
        (too_few, "2 values"),
        (whole, "is not converted to"),
        (other_shape, "is not converted to"),
        (overlapping, "may overlap"),
        (overlapping_columns, "may overlap"),
    ],
)
def test_what_structured_arrays_cannot_do_is_refused(kernel: Any, message: str) -> None:
    a = sample(ALIGNED)
    with amdjit.use(DEVICE), pytest.raises(amdjit.CompileError, match=message):
        kernel[1, 1](a, *([np.zeros(1, np.float32)] if kernel is unknown else []))


@amdjit.kernel(bounds_check=True)
def behind(a, out):
    i = amdjit.grid(1)
    out[i] = a[i + 7].x


def test_indices_of_records_are_checked() -> None:
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault, match=r"index 8 is outside of `a`"):
        behind[1, 2](sample(ALIGNED), np.zeros(2, np.float32))
