"""NumPy's functions that make arrays, in kernels: the emulator against Python."""

from __future__ import annotations

import enum
import linecache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, f64, i32, local, shared
from amdjit.tree.lds_arrays import lds_arrays
from tests.api.lanes import DEVICE, same_as_python


class Extent(enum.IntEnum):
    """Extents of arrays."""

    THREE = 3


FOUR, SHAPE = np.int32(4), (2, np.int64(3))


def all_kinds(i, a, out):
    zeros = np.zeros(Extent.THREE, np.float32)
    zeros[i % 3] = a[i]
    listed = np.array([a[i], 2.0, i], dtype=np.float64)
    table = np.array([[1, 2, 3], [4, 5, i]], np.int32)
    full = np.full(SHAPE, i, dtype="float32")
    ones = np.ones_like(table)
    large = np.zeros((FOUR, 30), np.int32)
    large[i % 4, i] += 5
    copy = table.copy()
    copy[0, 0] = 100
    out[i, 0] = zeros.sum() + 10 * listed.sum() + 100 * full.sum()
    out[i, 1] = table.sum() + copy.sum() + ones.size
    out[i, 2] = large.sum() + np.arange(5).sum() + np.eye(3)[i % 3, 1] + np.linspace(0, 2, 5)[i % 5]
    table.fill(i)
    out[i, 3] = table[1].sum() + np.full_like(listed, 2)[0] + len(copy.flatten())
    out[i, 4] = copy.astype(np.float32)[0, 1] / 4 + np.copy(listed)[-1]
    total = 0.0
    for k in range(3):
        part = np.zeros(2, np.float32)
        part[k % 2] = a[k]
        zeros = np.array([zeros[2], zeros[0], part.sum()], np.float32)
        zeros = zeros[::-1].copy()
        total += zeros[0] * 4 - zeros[1]
    turning = np.array([1, 2, i], np.int32)
    for _ in range(4):
        turning = np.array([turning[1], turning[2], turning[0] * 2], np.int32)
    out[i, 5] = total + turning[0] * 1000 + turning[2] * 100
    out[i, 6] = np.array((True, False, i > 3)).sum() + np.asarray((i, 3)).max()
    empty = np.empty((2, 2), np.int32)
    empty[:] = i
    out[i, 7] = empty.sum() + np.array([(i, 1), (2, 3)])[0, 0] + np.zeros_like(empty).any()


def test_made_arrays_are_those_of_numpy() -> None:
    a = np.random.default_rng(2).integers(-9, 9, 16).astype(np.float32)
    same_as_python(all_kinds, a, np.zeros((16, 8)), lanes=16)


@amdjit.kernel
def types(out, kinds: amdjit.Const):
    made = (
        np.zeros(2), np.ones(2, int), np.full(2, 3), np.full(2, 0.5), np.array([1, 2.5]),
        np.array([True]), np.zeros(2, float), np.arange(3), np.zeros(2, "u2"), np.array([1j]),
        np.array([out[0], 1]), np.zeros(2, bool),
    )  # fmt: skip
    for array, kind in zip(made, kinds, strict=True):
        if array.dtype != kind:
            raise TypeError("another type")


def test_numbers_without_a_type_are_those_of_the_language() -> None:
    boolean, complex64 = amdjit.boolean, amdjit.complex64
    kinds = (f32, amdjit.i64, i32, f32, f32, boolean, f64, i32, amdjit.u16, complex64, f64, boolean)
    with amdjit.use(DEVICE):
        types[1, 1](np.zeros(1), kinds)


@amdjit.kernel
def complex_numbers(out):
    made, listed = np.zeros(2, np.complex64), np.array([1, 2j])
    made[1] = 3j
    out[0], out[1] = made.sum(), listed.prod()


def test_arrays_of_complex_numbers_are_made() -> None:
    out = np.zeros(2, np.complex64)
    with amdjit.use(DEVICE):
        complex_numbers[1, 1](out)
    assert list(out) == [3j, 2j]


def kernel_of(lines: str) -> Any:
    text = "def made(x, out, n):\n" + "".join(f"    {line}\n" for line in lines.split("; "))
    text = text.replace("\n    > ", "\n        ")
    file = f"<{hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "local": local, "shared": shared, "f32": f32, "pair": pair}
    exec(compile(text, file, "exec"), names)
    return amdjit.kernel(names["made"])


def pair():
    return np.zeros(2)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("out[0] = np.zeros(n)[0]", "the shape of an array"),
        ("out[0] = np.zeros(2**20)[0]", "private array of 4194304 bytes"),
        ("out[0] = np.zeros_like(x)[0]", "shape is known only at run time"),
        ("out[0] = x.copy()[0]", "shape is known only at run time"),
        ("out[0] = np.array([[1, 2], [3]])[0, 0]", "differ in length"),
        ("out[0] = np.array(3)[0]", "the shape of an array"),
        ("out[0] = np.array([x, x])[0, 0]", "dtype"),
        ("out[0] = np.arange(n)[0]", "known when compiling"),
        ("out[0] = np.arange(300)[0]", "more than 256 listed elements"),
        ("out[0] = np.stack((x, x))[0]", "local.array"),
        ("out[0] = shared.array(0, f32)[0]", r"shared.dynamic\(f32\)"),
        ("out[0] = local.array(2, f32, alignment=3)[0]", "power of two, not 3"),
        ("out[0] = shared.array(2, f32, alignment=0)[0]", "power of two, not 0"),
        ("out[0] = local.array(2, f32, alignment=1.5)[0]", "power of two, not 1.5"),
        ("out[0] = local.array(2, 'int33')[0]", "dtype"),
        ("a = pair(); for i in range(n):; > b = np.ones(2); > out[i] = a[0]; > a = b", "again"),
        ("a = pair(); for i in range(n):; > b = pair(); > out[i] = a[0]; > a = b[:]", "again"),
        ("a = (pair(), 1); for i in range(n):; > b = pair(); > a = (b, 2)", "again"),
    ],
)
def test_what_cannot_be_made_is_refused(lines: str, words: str) -> None:
    with pytest.raises(amdjit.CompileError, match=words):
        kernel_of(lines).compile(f32[:], f32[:], i32)


@pytest.mark.parametrize(
    "lines",
    [
        "a = pair(); for i in range(n):; > a = np.ones(2); > out[i] = a[0]",
        "a = pair(); b = pair(); for i in range(n):; > a, b = b, a; > out[i] = a[0]",
        "a = pair(); b = pair(); for i in range(n):; > a, b = pair(), pair(); > out[i] = b[0]",
        "a = pair(); while n > 0:; > a = pair(); > n = n - 1",
    ],
)
def test_names_may_take_new_arrays_in_a_loop(lines: str) -> None:
    kernel_of(lines).compile(f32[:], f32[:], i32)


@amdjit.kernel
def aligned(addresses):
    i = amdjit.threadIdx.x
    bytes_ = shared.array(3, np.uint8)
    tile = shared.array((2, 3), f64, alignment=256)
    own = local.array(5, f32, alignment=64)
    for k in range(5):
        own[k] = k * i
    if i == 0:
        bytes_[0], tile[0, 0] = 1, 2
    amdjit.syncthreads()
    addresses[i] = own[i % 5] + bytes_[0] + tile[0, 0]


def test_alignment_is_in_the_ir_and_the_array_there() -> None:
    compiled = aligned.compile(f32[:])
    lines = compiled.llvm.splitlines()
    assert [line for line in lines if "alloca [5 x float]" in line and "align 64" in line]
    assert [line for line in lines if "[6 x double]" in line and "align 256" in line]
    assert "aligned to 256" in compiled.typed_tree
    out = np.zeros(32, np.float32)
    with amdjit.use(DEVICE):
        aligned[1, 32](out)
    assert list(out) == [i % 5 * i + 3 for i in range(32)]
    assert {array.offset for array in lds_arrays(compiled.program)} == {0, 256}


@amdjit.device_function(inline=False)
def made_apart(value):
    made = np.zeros(2)
    made[1] = value
    return made, 1


@amdjit.device_function(inline=False)
def declared_apart(value):
    made = local.array(2, f32)
    made[0] = value
    return made


@amdjit.kernel
def from_functions(out):
    i = amdjit.grid(1)
    (one, _), (two, _), three = made_apart(i), made_apart(2 * i), declared_apart(3)
    out[i] = one[1] + 10 * two[1] + 100 * three[0]


def test_functions_that_are_not_inlined_return_arrays() -> None:
    out = np.zeros(8, np.float32)
    with amdjit.use(DEVICE):
        from_functions[1, 8](out)
    assert list(out) == [i + 20 * i + 300 for i in range(8)]
