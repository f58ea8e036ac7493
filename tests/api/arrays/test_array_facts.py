"""The code relies on facts about arrays; a launch that breaks one gets other code and right
results."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import TypeCheckError, f32, i32, i64
from amdjit.testing import isa

GIB = 2**30
DISTINCT = f32[:].with_facts(distinct=True)


pytestmark = pytest.mark.usefixtures("emulator")


def shift_kernel() -> Any:
    @amdjit.kernel(block=(1, 1, 1))
    def shift(x, out):
        """Where x and out overlap, the second load sees the first store."""
        out[0] = x[0] + 1
        out[1] = x[1] + 1

    return shift


def test_distinct_arrays_and_overlapping_ones_have_different_code() -> None:
    shift = shift_kernel()
    memory = amdjit.to_device(np.zeros(8, np.float32))
    shift[1, 1](memory[:2], memory[4:6])
    assert list(memory.copy_to_host()) == [0, 0, 0, 0, 1, 1, 0, 0]
    memory.copy_from_host(np.zeros(8, np.float32))
    shift[1, 1](memory[:2], memory[1:3])
    assert list(memory.copy_to_host()) == [0, 1, 2, 0, 0, 0, 0, 0]
    apart, overlapping = shift.specialisations
    assert [kind.distinct for kind in apart.arguments] == [True, True]
    assert [kind.distinct for kind in overlapping.arguments] == [False, False]
    assert apart.optimized_llvm.count("noalias") == 2
    assert "noalias" not in overlapping.optimized_llvm
    isa(apart).order("s_load_b64", "global_store_b64")  # both elements at once
    isa(overlapping).count("global_store_b32", 2)
    assert apart.resources.instructions < overlapping.resources.instructions
    assert apart.signature == "shift(f32[::1], f32[::1])"
    assert overlapping.signature == "shift(f32[::1] overlapping, f32[::1] overlapping)"


def test_numpy_arrays_that_share_memory_are_known_to() -> None:
    shift = shift_kernel()
    memory = np.zeros(8, np.float32)
    shift[1, 1](memory[:2], memory[1:3])
    assert list(memory[:3]) == [0, 1, 2]
    shift[1, 1](memory, memory)
    assert list(memory[:3]) == [1, 2, 2]


def facts(*arrays: Any) -> list[bool | None]:
    """Tell for each array whether a launch finds it distinct."""

    @amdjit.kernel
    def take(a, b, c):
        pass

    take[1, 1](*arrays)
    return [kind.distinct for kind in take.specialisations[0].arguments]  # type: ignore[union-attr]


def test_any_shared_byte_makes_arrays_overlapping() -> None:
    memory = amdjit.to_device(np.zeros((8, 8), np.float32))
    other = amdjit.to_device(np.zeros(8, np.float32))
    assert facts(memory[:2], memory[2:4], memory[4:]) == [True, True, True]
    assert facts(memory, other, memory[7]) == [False, True, False]
    assert facts(memory[:, 0], memory[:, 1], other) == [False, False, True]
    assert facts(memory[::-1], other, memory[:1]) == [False, True, False]
    assert facts(memory[:4], memory[2:3], memory[3:5]) == [False, False, False]
    assert facts(memory[:0], memory, other) == [True, True, True]
    assert facts(other, other, memory) == [False, False, True]


def test_beyond_a_barrier_only_arrays_that_atomics_alone_change_have_one_name() -> None:
    @amdjit.kernel
    def counts(x, only, set_first, read_too, moved):
        i = amdjit.grid(1)
        set_first[i] = 0
        amdjit.syncthreads()
        amdjit.atomic.add(only, x[i], 1)
        amdjit.atomic.add(set_first, x[i], 1)
        amdjit.atomic.add(read_too, x[i], 1)
        amdjit.syncthreads()
        amdjit.atomic.max(moved, i, read_too[i])

    head = counts.compile(*[i32[:]] * 5).llvm.split("define protected")[1].partition("{")[0]
    alone = re.findall(r"noalias (?:readonly )?%\"(\w+)\"", head)
    assert alone == ["x", "only", "moved"]


def test_ahead_of_time_compilation_assumes_the_common_facts_and_takes_others() -> None:
    shift = shift_kernel()
    assumed = shift.compile(f32[:], f32[:], target="gfx1201")
    assert assumed.optimized_llvm.count("noalias") == 2
    kind = f32[:].with_facts(contiguous=False, over_2gib=True, distinct=False)
    asked = shift.compile(kind, f32[:], target="gfx1201")
    assert asked.signature == "shift(f32[:] over 2 GiB overlapping, f32[::1])"
    assert asked.optimized_llvm.count("noalias") == 1
    memory = amdjit.to_device(np.zeros(8, np.float32))
    shift[1, 1](memory[:2], memory[4:6])
    assert shift.compile(f32[:], f32[:]) in shift.specialisations
    assert len(shift.specialisations) == 2


def test_an_annotation_that_demands_distinct_arrays_refuses_others() -> None:
    @amdjit.kernel
    def demanding(x: DISTINCT, out: f32[:]):  # type: ignore[valid-type]
        out[0] = x[0]

    memory = amdjit.to_device(np.ones(4, np.float32))
    demanding[1, 1](memory[:2], memory[2:])
    with pytest.raises(TypeCheckError, match="overlapping"):
        demanding[1, 1](memory, memory)


def test_strided_arrays_get_other_code_than_contiguous_ones() -> None:
    @amdjit.kernel
    def double(x, out):
        i = amdjit.grid(1)
        out[i] = 2 * x[i]

    x = amdjit.to_device(np.arange(64, dtype=np.float32))
    for view in (x[:32], x[::2], x[::-2]):
        out = np.zeros(32, np.float32)
        double[1, 32](view, out)
        assert (out == 2 * view.copy_to_host()).all()
    assert len(double.specialisations) == 2


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_code_relies_on_no_more_than_the_elements_alignment(first: int) -> None:
    """Four neighbours are one 128-bit load wherever the array begins: gfx12 needs the elements'
    alignment only."""

    @amdjit.kernel
    def four(x, out):
        i = 4 * amdjit.grid(1)
        out[i // 4] = (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3])

    x = amdjit.to_device(np.arange(128 + 4, dtype=np.float32))[first : first + 128]
    out = np.zeros(32, np.float32)
    four[1, 32](x, out)
    assert (out == x.copy_to_host().reshape(32, 4).sum(axis=1)).all()
    isa(four).count("global_load_b128", at_least=1)


@pytest.mark.covering(1)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
def test_nothing_is_read_behind_a_short_array(count: int, dtype: Any) -> None:
    @amdjit.kernel
    def total(x, out, count: amdjit.Const):
        result = x[0]
        for i in amdjit.static_range(1, count):
            result += x[i]
        out[0] = result

    out = np.zeros(1, dtype)
    total[1, 1](np.arange(count).astype(dtype), out, count)
    assert out[0] == sum(range(count))


@amdjit.kernel
def mark(a, places):
    i = amdjit.grid(1)
    if i < places.shape[0]:
        a[places[i]] += 1


@amdjit.kernel
def mark_2d(a, rows, columns):
    i = amdjit.grid(1)
    if i < rows.shape[0]:
        a[rows[i], columns[i]] = i + 1


# Untouched memory costs nothing: the host commits a page at its first use.
@pytest.mark.parametrize(
    ("dtype", "gib"), [(np.uint8, 1.9), (np.uint8, 2.5), (np.uint8, 4.5), (np.float64, 4.5)]
)
def test_arrays_over_2_and_4_gib_are_indexed_right(dtype: Any, gib: float) -> None:
    count = int(gib * GIB) // np.dtype(dtype).itemsize
    a = amdjit.empty(count, dtype)
    near = [0, 1, count // 2, count - 2, count - 1]
    powers = [2**k // a.itemsize + d for k in (31, 32) for d in (-1, 0, 1)]
    places = np.array(sorted({p for p in near + powers if p < count}), np.int64)
    for place in places:
        a[place : place + 1].copy_from_host(np.full(1, place % 100, dtype))
    mark[1, 32](a, places)
    for place in places:
        assert a[place : place + 1].copy_to_host()[0] == place % 100 + 1
    assert mark.specialisations[-1].arguments[0].offset_bits == (64 if gib >= 2 else 32)


@pytest.mark.parametrize("turned", [False, True])
def test_matrices_over_4_gib_are_indexed_right(turned: bool) -> None:
    rows, columns = 70000, 70000
    a = amdjit.empty((rows, columns), np.uint8)
    if turned:
        a = a.T
    r = np.array([0, 0, 30678, 30679, 61356, 69999, 69999], np.int32)
    c = np.array([0, 69999, 23647, 23648, 47296, 0, 69999], np.int32)
    mark_2d[1, 32](a, r, c)
    found = [
        int(a[int(y), int(x) : int(x) + 1].copy_to_host()[0]) for y, x in zip(r, c, strict=True)
    ]
    assert found == [1, 2, 3, 4, 5, 6, 7]


def test_an_extent_over_2_gib_is_an_i64() -> None:
    @amdjit.kernel
    def last(a, out):
        out[0] = a.shape[0]
        a[a.shape[0] - 1] = 7
        a[-2] = 6

    a = amdjit.empty(5 * GIB, np.uint8)
    out = np.zeros(1, np.int64)
    last[1, 1](a, out)
    assert out[0] == 5 * GIB
    assert list(a[5 * GIB - 2 :].copy_to_host()) == [6, 7]


@pytest.mark.parametrize("index", ["u8", "i16", "u32", "i64", "u64"])
def test_indices_of_any_integer_type(index: str) -> None:
    kind = getattr(amdjit, index)

    @amdjit.kernel
    def reverse(x, out, kind: amdjit.Const):
        i = kind(amdjit.grid(1))
        out[i] = x[kind(31) - i]

    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    reverse[1, 32](x, out, kind)
    assert (out == x[::-1]).all()


def test_large_u32_and_i64_indices_do_not_lose_bits() -> None:
    a = amdjit.empty(int(4.5 * GIB), np.uint8)

    @amdjit.kernel
    def put(a, unsigned, signed):
        a[unsigned] = 1
        a[signed] = 2

    put[1, 1](a, np.uint32(2**32 - 3), np.int64(2**32 + 5))
    assert a[2**32 - 3 : 2**32 - 2].copy_to_host()[0] == 1
    assert a[2**32 + 5 : 2**32 + 6].copy_to_host()[0] == 2


def test_a_constant_in_a_subscript_may_outweigh_a_negative_rest() -> None:
    """The rest of the subscript without its constant is negative; the constant stands in a product,
    too."""

    @amdjit.kernel
    def offset(x, m, out):
        i = amdjit.grid(1)
        out[i, 0] = x[(i - 4) + 4]
        out[i, 1] = x[3 * ((i - 4) + 4)]
        out[i, 2] = m[i % 4, (i // 4 - 4) + 4]

    x = np.arange(128, dtype=np.float32)
    m = x.reshape(4, 32)
    out = np.zeros((32, 3), np.float32)
    offset[1, 32](x, m, out)
    i = np.arange(32)
    assert (out == np.stack([x[i], x[3 * i], m[i % 4, i // 4]], axis=1)).all()


def test_i32_and_i64_are_the_types_of_extents() -> None:
    @amdjit.kernel
    def extent(a, out):
        out[0] = a.shape[0]

    small = extent.compile(f32[:], i32[:], target="gfx1201")
    large = extent.compile(f32[:].with_facts(over_2gib=True), i64[:], target="gfx1201")
    assert "i64 noundef %a.extent0" in large.optimized_llvm
    assert "i32 noundef %a.extent0" in small.optimized_llvm
