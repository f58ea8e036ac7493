"""NumPy arrays outside of a kernel are constants of its code: the emulator against NumPy."""

from __future__ import annotations

import functools
from collections import namedtuple
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import amdjit
from amdjit import CompileError, KernelFault, f32, f64, i32

pytestmark = pytest.mark.usefixtures("emulator")
LANES = 32
RANDOM = np.random.default_rng(5)
TABLE = np.array([1.5, 2.5, 4, 8], np.float32)
GRID = np.asfortranarray(np.arange(60, dtype=np.int32).reshape(10, 6))
PAIR = (TABLE, GRID)
SECOND = TABLE * 3
Tables = namedtuple("Tables", "low high")
NAMED = Tables(TABLE, GRID[::-2, ::3])
EMPTY = np.zeros((0, 3), np.int16)
module = ModuleType("tables")
module.weights = np.linspace(0, 1, 7)

KINDS = [
    np.dtype(kind)
    for kind in (
        *("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?"),
        *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn),
    )
]
POINT = np.dtype([("a", "u1"), ("b", "f4"), ("v", "i2", (2, 2)), ("z", "c8")], align=True)
PACKED = np.dtype([("a", "u1"), ("b", "f8"), ("c", "u2")])


def filled(shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of random bits that are numbers of its type."""
    array = RANDOM.integers(-100, 100, shape).astype(kind)
    return (array + RANDOM.integers(0, 9, shape) * 1j).astype(kind) if kind.kind == "c" else array


def laid_out(array: NDArray[Any], order: str) -> NDArray[Any]:
    """Return the same elements in another layout."""
    if order == "F":
        return np.asfortranarray(array)
    if order == "sliced":
        wide = np.empty(tuple(2 * extent for extent in array.shape), array.dtype)
        part = wide[tuple(slice(None, None, -2) for _ in array.shape)]
        part[...] = array
        return part
    return array


def copying(table: NDArray[Any]) -> amdjit.Kernel:
    """Return a kernel that reads a captured array of one to three axes at run-time indices."""

    def line(out):
        i = amdjit.grid(1)
        if i < out.shape[0]:
            out[i] = table[i]

    def rows(out):
        for i in range(amdjit.grid(1), out.shape[0], LANES):
            for k, value in enumerate(table[i]):
                out[i, k] = value

    def cube(out):
        i = amdjit.grid(1)
        if i < out.shape[0]:
            for j in range(table.shape[1]):
                for k in range(table.shape[2]):
                    out[i, j, k] = table[i, j, k]

    return amdjit.kernel(warnings=False)((line, rows, cube)[table.ndim - 1])


shapes = st.lists(st.integers(0, 6), min_size=1, max_size=3).map(tuple)


@settings(max_examples=20)
@given(shapes, st.sampled_from(KINDS), st.sampled_from(["C", "F", "sliced"]))
def test_every_element_is_read(shape: tuple[int, ...], kind: np.dtype[Any], order: str) -> None:
    table = laid_out(filled(shape, kind), order)
    out = np.zeros(shape, kind)
    copying(table)[1, LANES](out)
    assert out.tobytes() == table.tobytes()


def doubled(table, i):
    return table[i] * 2


@functools.lru_cache
def in_many_ways() -> amdjit.Kernel:
    @amdjit.kernel
    def kernel(out, n):
        i = amdjit.grid(1)
        total = f32(0)
        for value in TABLE:
            total += value
        weights = amdjit.const.array_like(module.weights)
        out[i, 0] = total + TABLE[n] + TABLE[-1] + weights[i % 7]
        out[i, 1] = doubled(PAIR[0], i % 4) + doubled(NAMED.low[::2], i % 2)
        out[i, 2] = PAIR[1][i % 10, 5] + NAMED.high[i % 5][1] + GRID[2:4, i % 6][1]
        out[i, 3] = len(EMPTY) + EMPTY.shape[1] + GRID.size + (TABLE if i < 4 else SECOND)[i % 4]
        out[i, 4] = TABLE.load(i % 3, 2)[1] + GRID.load((i % 10, 2), 4)[3]

    return kernel


def test_tables_are_indexed_sliced_iterated_and_passed_on() -> None:
    out = np.zeros((LANES, 5), np.float64)
    in_many_ways()[1, LANES](out, 2)
    i = np.arange(LANES)
    expected = [
        TABLE.sum() + TABLE[2] + TABLE[-1] + module.weights[i % 7],
        TABLE[i % 4] * 2 + TABLE[::2][i % 2] * 2,
        GRID[i % 10, 5] + NAMED.high[i % 5, 1] + GRID[3, i % 6],
        0 + 3 + 60 + np.where(i < 4, TABLE[i % 4], SECOND[i % 4]),
        TABLE[i % 3 + 1] + GRID[i % 10, 5],
    ]
    np.testing.assert_allclose(out.T, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [POINT, PACKED], ids=["aligned", "packed"])
def test_tables_of_records(kind: np.dtype[Any]) -> None:
    table = np.zeros(5, kind)
    for name in kind.names or ():
        field = table[name]
        field[...] = RANDOM.integers(0, 100, field.shape)

    @amdjit.kernel
    def read(out):
        i = amdjit.grid(1)
        r = table[i % 5]
        out[i, 0] = r.a + table[i % 5]["b"]
        out[i, 1] = r.v[1, i % 2] + r.z.real if kind is POINT else r.c + table["b"][i % 5]

    out = np.zeros((8, 2))
    read[1, 8](out)
    i = np.arange(8)
    rows = table[i % 5]
    second = rows["v"][i, 1, i % 2] + rows["z"].real if kind is POINT else rows["c"] + rows["b"]
    np.testing.assert_array_equal(out.T, [rows["a"] + rows["b"], second])


def test_an_element_that_all_lanes_share_is_read_by_scalar_loads() -> None:
    def shared_element(out, n):
        out[amdjit.grid(1)] = TABLE[n]

    compiled = amdjit.kernel(shared_element).compile(f32[:], i32, target="gfx1201")
    # The arguments, and the element.
    assert compiled.asm.count("s_load") >= 2
    assert "global_load" not in compiled.asm

    def constant_index(out):
        out[amdjit.grid(1)] = TABLE[3]

    compiled = amdjit.kernel(constant_index).compile(f32[:], target="gfx1201")
    assert "@TABLE" not in compiled.optimized_llvm


def table_kernel(table: NDArray[Any]) -> amdjit.Kernel:
    @amdjit.kernel
    def read(out):
        out[amdjit.grid(1)] = table[amdjit.grid(1)]

    return read


@pytest.mark.parametrize("on_device", [False, True], ids=["copied", "quick"])
def test_a_changed_element_is_seen_by_the_next_launch(on_device: bool) -> None:
    table = np.arange(4, dtype=np.float32)
    read = table_kernel(table)
    out = np.zeros(4, np.float32)
    given = amdjit.to_device(out) if on_device else out
    for _ in range(3):
        read[1, 4](given)
    assert list(np.asarray(given)) == [0, 1, 2, 3]
    assert len(read.inspect_llvm()) == 1
    table[2] = 7
    read[1, 4](given)
    assert list(np.asarray(given)) == [0, 1, 7, 3]
    assert [str(change) for change in read.why_recompiled()] == [
        "the content of the array `table`: [0.0, 1.0, 2.0, 3.0] -> [0.0, 1.0, 7.0, 3.0]"
    ]
    table[2] = -0.0
    read[1, 4](given)
    table[2] = 0.0
    read[1, 4](given)
    assert not np.signbit(np.asarray(given)[2])


def test_a_bound_launch_sees_a_changed_element() -> None:
    table = np.arange(4, dtype=np.float32)
    out = amdjit.zeros(4)
    launch = table_kernel(table)[1, 4].bind(out)
    launch()
    table *= 2
    launch()
    assert list(np.asarray(out)) == [0, 2, 4, 6]


def test_an_array_in_a_const_parameter_is_compiled_in_by_its_content() -> None:
    @amdjit.kernel
    def read(out, table: amdjit.Const):
        out[amdjit.grid(1)] = table[amdjit.grid(1)]

    out = amdjit.zeros(2)
    first, second = np.array([1, 2], np.float32), np.array([1, 2], np.float32)
    for table in (first, second, first):
        read[1, 2](out, table)
    assert list(np.asarray(out)) == [1, 2]
    first[0] = 5
    read[1, 2](out, first)
    assert list(np.asarray(out)) == [5, 2]
    read[1, 2](out, second)
    assert list(np.asarray(out)) == [1, 2]


def test_an_index_outside_of_a_table_is_a_fault_with_its_name() -> None:
    @amdjit.kernel(bounds_check=True)
    def read(out, n):
        out[0] = GRID[n, 2]

    with pytest.raises(KernelFault, match=r"index \(10, 2\) is outside of `GRID`") as caught:
        read[1, 1](np.zeros(1, np.int32), 10)
    assert (caught.value.array, caught.value.shape) == ("GRID", (10, 6))


def test_constant_indices_are_checked_when_compiling() -> None:
    @amdjit.kernel
    def read(out):
        out[0] = GRID[0, -7]

    with pytest.raises(CompileError, match="index -7 is out of range"):
        read.compile(i32[:])


def test_read_only_memory_cannot_be_the_target_of_an_atomic() -> None:
    @amdjit.kernel
    def add(out):
        amdjit.atomic.add(TABLE, 0, f32(1))

    with pytest.raises(CompileError, match="CONSTANT"):
        add.compile(f64[:])
