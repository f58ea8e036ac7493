"""Launches as users write them, on the emulator: what arrives in the kernel and what comes back."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import f16x4, f32, f32x2, f64, i32, i64, shared, syncthreads

pytestmark = pytest.mark.usefixtures("emulator")


@amdjit.kernel
def saxpy(a, x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


@amdjit.kernel
def add_2d(a, b, out):
    x, y = amdjit.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = a[y, x] + b[y, x]


def ramp(n: int, dtype: type = np.float32) -> np.ndarray:
    return np.arange(n).astype(dtype)


def test_numpy_arrays_come_back_changed_only_where_written() -> None:
    x, y, out = ramp(100), ramp(100) * 10, np.full(100, -1, np.float32)
    saxpy[3, 32](2.0, x, y, out[:90])
    assert (out[:90] == 12 * ramp(90)).all()
    assert (out[90:] == -1).all()
    assert (x == ramp(100)).all()


STRIDED = {
    "every third": lambda base: base[::3],
    "backwards": lambda base: base[::-1],
    "backwards by two": lambda base: base[90:10:-2],
    "broadcast": lambda base: np.broadcast_to(base[:1], 30),
    "a column": lambda base: base.reshape(10, 10)[:, 4],
    "empty": lambda base: base[:0],
}


@pytest.mark.parametrize("name", STRIDED)
def test_strided_arrays_arrive_with_their_strides(name: str) -> None:
    base = ramp(100)
    x = STRIDED[name](base)
    written = np.full(100, 7, np.float32)
    out = STRIDED[name](written) if name != "broadcast" else written[: len(x)]
    expected = written.copy()
    place = STRIDED[name](expected) if name != "broadcast" else expected[: len(x)]
    place[...] = np.float32(3) * x + x
    saxpy[4, 32](np.float32(3), x, x, out)
    assert (written == expected).all()
    assert (base == ramp(100)).all()


def test_two_dimensional_arrays_in_every_layout() -> None:
    a = ramp(12 * 20).reshape(12, 20)
    layouts = [
        a,
        np.asfortranarray(a),
        a[::-1, ::-1],
        a.reshape(20, 12).T,
        np.broadcast_to(a[3], (12, 20)),
    ]
    for left in layouts:
        for right in (a, layouts[3]):
            out = np.zeros((24, 40), np.float32)[::2, ::-2]
            add_2d[(2, 2), (16, 8)](left, right, out)
            assert (out == left + right).all()


def test_three_dimensional_arrays_and_unequal_extents() -> None:
    @amdjit.kernel
    def sum_last(a, out):
        x, y = amdjit.grid(2)
        if x < a.shape[1] and y < a.shape[0]:
            total = a.dtype(0)
            for k in range(a.shape[2]):
                total += a[y, x, k]
            out[y, x] = total * a.ndim + a.size

    a = np.arange(5 * 3 * 7, dtype=np.int64).reshape(5, 3, 7)
    out = np.zeros((5, 3), np.int64)
    sum_last[(1, 1), (4, 8)](a, out)
    assert (out == a.sum(axis=2) * 3 + a.size).all()


def test_device_arrays_are_used_in_place_and_mix_with_numpy() -> None:
    x, y = amdjit.to_device(ramp(64)), amdjit.full(64, 5.0, np.float32)
    out = amdjit.zeros(64, np.float32)
    saxpy[2, 32](np.float32(2), x, y, out)
    saxpy[2, 32](np.float32(1), out, ramp(64), out)
    assert (out.copy_to_host() == 3 * ramp(64) + 5).all()
    saxpy[1, 32](np.float32(0), x[:32], x[::2], out[32:])
    assert (out.copy_to_host()[32:] == ramp(64)[::2]).all()


@pytest.mark.parametrize("name", STRIDED)
def test_strided_device_arrays_arrive_with_their_strides(name: str) -> None:
    base = np.zeros(100, np.float32)
    views = {
        "every third": lambda a: a[::3],
        "backwards": lambda a: a[::-1],
        "backwards by two": lambda a: a[90:10:-2],
        "empty": lambda a: a[:0],
        "a column": lambda a: a[4::10],
        "broadcast": lambda a: a[7:8],
    }
    device, x = amdjit.to_device(base), ramp(100)
    view = views[name](device)
    saxpy[4, 32](
        np.float32(3),
        amdjit.to_device(x)[:: 100 // max(1, view.shape[0])][: view.shape[0]],
        view,
        view,
    )
    views[name](base)[...] = 3 * x[:: 100 // max(1, view.shape[0])][: view.shape[0]]
    assert (device.copy_to_host() == base).all()


def test_one_array_for_several_parameters() -> None:
    @amdjit.kernel
    def shift(source, target):
        i = amdjit.grid(1)
        value = source[i]
        syncthreads()
        target[i] = value + 1

    x = ramp(33)
    shift[1, 32](x[:32], x[1:])
    assert (x == np.concatenate([[0], ramp(32) + 1])).all()


SCALARS = [
    (True, 1), (7, 7), (-3, -3), (2**40, 2**40), (2**63, 2**63), (np.uint8(200), 200),
    (np.int16(-5), -5),
    (2.5, 2.5), (np.float64(0.1), 0.1), (np.float16(1.5), 1.5), (np.bool_(False), 0),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), SCALARS, ids=lambda value: repr(value))
def test_scalars_of_every_type_arrive(given: object, expected: float) -> None:
    @amdjit.kernel
    def store(value, out):
        out[0] = f64(value)

    out = np.zeros(1)
    store[1, 1](given, out)
    assert out[0] == expected


def test_pythons_numbers_take_the_annotated_type() -> None:
    @amdjit.kernel
    def store(a: f32, b: i64, c: f16x4, out: f64[:]):
        out[0] = a
        out[1] = b
        out[2] = c[3]

    out = np.zeros(3)
    store[1, 1](1, 5, np.arange(4, dtype=np.float16), out)
    assert list(out) == [1, 5, 3]
    store[1, 1](0.1, -1, (0, 0, 0, 9), out)
    assert list(out) == [np.float32(0.1), -1, 9]


def test_vector_arguments_and_wide_access() -> None:
    @amdjit.kernel
    def scale(x: f32[:], factors: f32x2, out: f32[:]):
        i = 2 * amdjit.grid(1)
        out.store(i, x.load(i, 2) * factors)

    x, out = ramp(64), np.zeros(64, np.float32)
    scale[1, 32](x, np.array([2, 3], np.float32), out)
    assert (out.reshape(32, 2) == x.reshape(32, 2) * [2, 3]).all()


@pytest.mark.parametrize("n", [0, 1, 31, 256, 257, 1000])
def test_forall_covers_every_work_item(n: int) -> None:
    @amdjit.kernel
    def count(out):
        i = amdjit.grid(1)
        if i < out.shape[0]:
            out[i] += i

    out = np.ones(n, np.int32)
    count.forall(n)(out)
    assert (out == 1 + np.arange(n)).all()


def test_forall_with_a_compiled_in_block() -> None:
    @amdjit.kernel(block=(64,))
    def count(out):
        i = amdjit.grid(1)
        if i < out.shape[0]:
            out[i] = amdjit.blockDim.x

    out = np.zeros(100, np.int32)
    count.forall(100)(out)
    assert (out == 64).all()


def test_grids_and_blocks_of_three_axes() -> None:
    @amdjit.kernel
    def visit(out):
        x, y, z = amdjit.grid(3)
        sx, sy, _ = amdjit.gridsize(3)
        out[(z * sy + y) * sx + x] += 1

    out = np.zeros(2 * 3 * 4 * 4 * 2 * 3, np.int32)
    visit[(2, 3, 4), (4, 2, 3)](out)
    assert (out == 1).all()


def test_dynamic_lds_beside_static_lds() -> None:
    @amdjit.kernel
    def reverse(a, out):
        fixed = shared.array(8, i32)
        tile = shared.dynamic(f32)
        i = amdjit.threadIdx.x
        fixed[i % 8] = 5
        tile[i] = a[i]
        syncthreads()
        out[i] = tile[amdjit.blockDim.x - 1 - i] + fixed[0]

    a, out = ramp(48), np.zeros(48, np.float32)
    reverse[1, 48, None, 48 * 4](a, out)
    assert (out == a[::-1] + 5).all()


def test_launches_on_a_stream_run_in_order_and_are_timed() -> None:
    stream = amdjit.Stream()
    x, out = amdjit.to_device(ramp(64)), amdjit.zeros(64, np.float32)
    saxpy[2, 32, stream](np.float32(2), x, x, out)
    host = np.zeros(64, np.float32)
    saxpy[2, 32, stream](np.float32(1), out, x, host)
    stream.synchronize()
    assert (out.copy_to_host() == 3 * ramp(64)).all()
    assert (host == 4 * ramp(64)).all()


def test_keyword_and_default_arguments() -> None:
    @amdjit.kernel
    def fill(out, value=3, *, factor=2):
        i = amdjit.grid(1)
        if i < out.shape[0]:
            out[i] = value * factor

    out = np.zeros(32, np.int32)
    for arguments, keywords, expected in (
        ((out,), {}, 6),
        ((out, 4), {}, 8),
        ((out,), {"factor": 5}, 15),
        ((), {"value": 1, "out": out}, 2),
    ):
        fill[1, 32](*arguments, **keywords)
        assert (out == expected).all()
        fill.forall(32)(*arguments, **keywords)
        assert (out == expected).all()


def test_specialisations_are_compiled_once_for_each_signature() -> None:
    @amdjit.kernel
    def double(x):
        i = amdjit.grid(1)
        if i < x.shape[0]:
            x[i] *= 2

    for _ in range(2):
        double[1, 32](ramp(32))
        double[1, 32](amdjit.to_device(ramp(64))[::2])
        double[1, 32](ramp(32, np.int32))
    assert sorted(double.inspect_types()) == [
        "double(f32[::1])",
        "double(f32[:])",
        "double(i32[::1])",
    ]
    for texts in (double.inspect_types(), double.inspect_llvm(), double.inspect_asm()):
        assert len(texts) == 3
        assert all("double" in text for text in texts.values())


def test_kernels_may_be_methods_nested_and_renamed() -> None:
    def make(factor):
        @amdjit.kernel
        def scaled(x):
            x[amdjit.grid(1)] *= factor

        return scaled

    twice, thrice = make(2), make(3)
    x = ramp(32)
    twice[1, 32](x)
    thrice[1, 32](x)
    assert (x == 6 * ramp(32)).all()
    assert twice.__name__ == "scaled"
    assert repr(twice) == (
        "<amdjit kernel "
        "test_kernels_may_be_methods_nested_and_renamed.<locals>.make.<locals>.scaled>"
    )
