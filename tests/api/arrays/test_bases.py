"""`array.load(index, width, base=...)` keeps what is the same in all lanes in scalar registers, for
every kind of array."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import KernelFault, blockIdx, f32, f32x4, i32, shared, static_range, threadIdx

MATRIX = np.arange(48 * 80, dtype=np.float32).reshape(48, 80)


pytestmark = pytest.mark.usefixtures("emulator")


def copy_kernel(**options: Any) -> Any:
    @amdjit.kernel(block=(32, 1, 1), **options)
    def copy(x, y, columns):
        place = threadIdx.x // 4, 4 * (threadIdx.x % 4)
        for column in amdjit.unroll(range(0, columns, 16), 1):
            base = 8 * blockIdx.x, column
            y.store(place, x.load(place, 4, base=base), base=base)

    return copy


PARTS = {
    "whole": lambda m: m.copy(),
    "rows of a part": lambda m: np.tile(m, 2)[:, 3:83],
    "columns backwards": lambda m: m[:, ::-1],
    "turned": lambda m: m.reshape(80, 48).T,
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("bounds_check", [False, True])
def test_a_base_is_added_to_the_index_of_any_array(name: str, bounds_check: bool) -> None:
    x, y = PARTS[name](MATRIX), PARTS[name](np.zeros_like(MATRIX))
    copy_kernel(bounds_check=bounds_check)[6, 32](x, y, 80)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("opt_level", [0, 1, 2])
def test_bases_are_right_at_every_level(opt_level: int) -> None:
    y = np.zeros_like(MATRIX)
    copy_kernel(opt_level=opt_level)[6, 32](MATRIX, y, 80)
    np.testing.assert_array_equal(y, MATRIX)


@pytest.mark.parametrize("facts", [{}, {"rows": True}])
def test_a_loop_over_bases_has_scalar_addresses_and_no_vector_arithmetic(
    facts: dict[str, Any],
) -> None:
    kind = f32[:, :].with_facts(**facts)
    asm = copy_kernel().compile(kind, kind, i32, target="gfx1201").asm_full
    loop = asm[asm.index("Loop Header") : asm.index("s_endpgm")]
    assert re.findall(r"\tv_\w+", loop) == []
    assert re.search(r"global_load_b128 v\[\d+:\d+\], v\d+, s\[", loop)
    assert re.search(r"global_store_b128 v\d+, v\[\d+:\d+\], s\[", loop)


def test_arrays_over_2_gib_and_lds_take_bases_too() -> None:
    large = f32[:, :].with_facts(over_2gib=True)
    text = copy_kernel().compile(large, large, i32, target="gfx1201").optimized_llvm
    assert "annotation" not in text

    @amdjit.kernel(block=(32, 1, 1))
    def turn(x, y):
        tile = shared.array((2, 32, 4), f32)
        for half in static_range(2):
            tile.store(
                (0, threadIdx.x, 0),
                x.load((threadIdx.x, 0), 4, base=(32 * half, 0)),
                base=(half, 0, 0),
            )
        amdjit.syncthreads()
        for half in static_range(2):
            y.store(
                (31 - threadIdx.x, 0),
                tile.load((0, threadIdx.x, 0), 4, base=(1 - half, 0, 0)),
                base=(32 * half, 0),
            )

    x, y = (
        np.random.default_rng(1).standard_normal((64, 4)).astype(np.float32),
        np.zeros((64, 4), np.float32),
    )
    turn[1, 32](x, y)
    np.testing.assert_array_equal(y, x[::-1])


def test_a_base_that_differs_between_lanes_is_only_slower() -> None:
    @amdjit.kernel(block=(32, 1, 1))
    def gather(x, places, y):
        y.store(4 * threadIdx.x, x.load(0, 4, base=places[threadIdx.x]))

    places = np.random.default_rng(2).integers(0, MATRIX.size - 4, 32).astype(np.int32)
    y = np.zeros(128, np.float32)
    gather[1, 32](MATRIX.reshape(-1), places, y)
    np.testing.assert_array_equal(
        y.reshape(32, 4), MATRIX.reshape(-1)[places[:, None] + np.arange(4)]
    )


def test_a_check_sees_the_whole_index() -> None:
    @amdjit.kernel(bounds_check=True)
    def one(x, y, index, base):
        y.store(0, x.load(index, 4, base=base))

    x, y = np.arange(16, dtype=np.float32), np.zeros(4, np.float32)
    one[1, 1](x, y, 8, 4)
    assert y.tolist() == [12, 13, 14, 15]
    for index, base in ((8, 5), (2**31 - 1, 2**31 - 1), (-8, 4)):
        with pytest.raises(
            KernelFault, match=f"index {index + base} of 4 elements is outside of `x`"
        ):
            one[1, 1](x, y, index, base)


def test_the_index_is_computed_before_the_base() -> None:
    @amdjit.device_function
    def shift(log):
        log[0] += 4
        return log[0]

    @amdjit.kernel
    def ordered(x, log, y):
        y.store(0, x.load(shift(log), 4, base=log[0]))

    x, log, y = np.arange(16, dtype=np.int32), np.zeros(1, np.int32), np.zeros(4, np.int32)
    ordered[1, 1](x, log, y)
    assert y.tolist() == [8, 9, 10, 11]


def test_a_base_has_as_many_indices_as_the_array_has_axes() -> None:
    @amdjit.kernel(block=(32, 1, 1))
    def short(x, y):
        y.store(0, f32x4(x.load((0, 0), 4, base=3)))

    with pytest.raises(amdjit.CompileError, match="1 index"):
        short.compile(f32[:, :], f32[:], target="gfx1201")


def single_kernel(**options: Any) -> Any:
    @amdjit.kernel(block=(32, 1, 1), **options)
    def copy(x, y):
        for row in static_range(4):
            base = 8 * blockIdx.x + 2 * row, 40
            place = threadIdx.x // 16, threadIdx.x % 16
            y.store(place, x.load(place, 1, base=base), base=base)

    return copy


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("bounds_check", [False, True])
def test_one_element_has_a_base_too(name: str, bounds_check: bool) -> None:
    x, y = PARTS[name](MATRIX), PARTS[name](np.zeros_like(MATRIX))
    single_kernel(bounds_check=bounds_check)[6, 32](x, y)
    expected = np.zeros_like(MATRIX)
    expected[:, 40:56] = x[:, 40:56]
    np.testing.assert_array_equal(y, expected)


def test_a_number_is_stored_as_assignments_convert_it() -> None:
    @amdjit.kernel(block=(32, 1, 1))
    def fill(flags, y):
        flags.store(threadIdx.x, threadIdx.x > 3)
        y.store(threadIdx.x, 7, base=32)
        y.store(threadIdx.x, y.load(threadIdx.x, 1, base=32) + y.load(threadIdx.x, 1))

    flags, y = np.zeros(32, np.bool_), np.arange(64, dtype=np.float32)
    fill[1, 32](flags, y)
    np.testing.assert_array_equal(flags, np.arange(32) > 3)
    np.testing.assert_array_equal(y, [*np.arange(7, 39), *[7] * 32])
