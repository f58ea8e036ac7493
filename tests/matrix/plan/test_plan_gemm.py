"""rocWMMA's GEMM suites: wave tiles of all types and layouts, in all thread blocks, and through
LDS.

Every product is computed of data without any pattern, in which no operand passes for a transposed
one or one with another order of k (test_plan_mutants shows that), and of rocWMMA's own. Results
must be exact wherever their sums are; else by rocWMMA's rule. The slice that always runs has every
type, depth, layout and thread block; the whole grid is exhaustive.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from amdjit.types import f16, f32, fp8, i8, i32
from tests.matrix.plan.plan_checks import check_product, lds_product_error
from tests.matrix.plan.plan_data import COL, ROW, random_data, rocwmma_data
from tests.matrix.plan.plan_grids import (
    CDNA_TYPES,
    LAYOUTS,
    ROCWMMA_TYPES,
    SHARED_TYPES,
    SIZES,
    TYPES,
    WAVE_TILES,
    covering,
    dealt_product_grid,
    named,
    product_grid,
    tiles_of,
)
from tests.matrix.plan.plan_kernels import BLOCKS

pytestmark = pytest.mark.usefixtures("device")

GRID = list(product_grid())
DEALT = list(dealt_product_grid())
SLICE = covering(case for case in DEALT if case[1][0] * case[1][1] * case[2] <= 128)
LDS_LAYOUTS = tuple(itertools.product((ROW, COL), repeat=2))
# What CDNA has of it, and what only CDNA has.
SLICE_OF_CDNA = covering(
    case
    for case in dealt_product_grid((*CDNA_TYPES, *SHARED_TYPES))
    if case[1][0] * case[1][1] * case[2] <= 128
)
MAIN_TYPES = ((f16, f16, f32, f32), (i8, i8, i32, i32), (fp8, fp8, f32, f32))


def smallest(case: tuple[Any, ...]) -> tuple[int, int, int]:
    """Return a matrix of one workgroup, and of three steps."""
    _, blocks, depth, _, waves = case
    return 16 * blocks[0] * waves[0], 16 * blocks[1] * waves[1], 3 * depth


@pytest.mark.sample(5)
@pytest.mark.parametrize("case", SLICE, ids=named)
def test_products_of_wave_tiles_are_right(case: tuple[Any, ...]) -> None:
    for data in (random_data, rocwmma_data):
        check_product(*case, smallest(case), data)


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", SLICE_OF_CDNA, ids=named)
def test_products_of_cdna_are_right(case: tuple[Any, ...]) -> None:
    test_products_of_wave_tiles_are_right(case)


def test_the_slice_has_every_type_layout_depth_and_thread_block() -> None:
    for axis in (0, 2, 3, 4):
        assert {case[axis] for case in SLICE} == {case[axis] for case in GRID}
    assert {case[0] for case in GRID} == set(TYPES)
    assert {(case[0], case[3]) for case in DEALT} >= set(itertools.product(TYPES, LAYOUTS))
    assert {case[:3] for case in DEALT} == {case[:3] for case in GRID}
    assert len(set(GRID)) == sum(len(LAYOUTS) * len(tiles_of(types)) for types in TYPES)
    assert {case[1] for case in GRID} == set(WAVE_TILES)


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", SLICE[:2], ids=named)
def test_wave_tiles_in_waves_of_64_lanes(case: tuple[Any, ...]) -> None:
    check_product(*case, smallest(case), random_data, 64)


LDS_SLICE = [
    ((f16, f16, f32, f32), LAYOUTS[0], LDS_LAYOUTS[1], (2, 2)),
    ((i8, i8, i32, i32), LAYOUTS[3], LDS_LAYOUTS[2], (4, 1)),
    ((fp8, fp8, f32, f32), LAYOUTS[5], LDS_LAYOUTS[3], (1, 2)),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", LDS_SLICE, ids=named)
def test_products_through_lds_are_right(case: tuple[Any, ...]) -> None:
    check_lds(case, random_data)


def check_lds(case: tuple[Any, ...], data: Any) -> None:
    types, layouts, lds_layouts, waves = case
    shape = 32 * waves[0], 16 * waves[1], 192
    assert lds_product_error(types, 64, layouts, lds_layouts, waves, shape, data) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("blocks", WAVE_TILES, ids=named)
@pytest.mark.parametrize("types", [*TYPES, *CDNA_TYPES], ids=named)
def test_products_of_every_wave_tile_are_right(types: Any, blocks: tuple[int, int]) -> None:
    """In every layout, depth and thread block, which the launch chooses: one kernel computes all of
    them."""
    for case in GRID if types in TYPES else product_grid((types,)):
        if case[:2] == (types, blocks):
            check_product(*case, smallest(case), rocwmma_data, fixed=False)
            for waves in BLOCKS:
                each = (*case[:4], waves)
                check_product(*each, smallest(each), random_data, fixed=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("layouts", LAYOUTS, ids=named)
@pytest.mark.parametrize("types", TYPES, ids=named)
def test_wave_tiles_compiled_for_their_depth_and_layouts(types: Any, layouts: Any) -> None:
    for case in DEALT:
        if case[0] == types and case[3] == layouts:
            for data in (random_data, rocwmma_data):
                check_product(*case, smallest(case), data)


@pytest.mark.exhaustive
@pytest.mark.parametrize("waves", BLOCKS, ids=named)
@pytest.mark.parametrize("types", MAIN_TYPES, ids=named)
def test_every_size_in_every_thread_block(types: Any, waves: tuple[int, int]) -> None:
    """The layouts in turn."""
    layouts = itertools.cycle(LAYOUTS)
    for shape in SIZES:
        if shape[0] % (16 * waves[0]) == 0 and shape[1] % (16 * waves[1]) == 0:
            check_product(types, (1, 1), 16, next(layouts), waves, shape, rocwmma_data)


@pytest.mark.exhaustive
@pytest.mark.parametrize("layouts", LAYOUTS, ids=named)
@pytest.mark.parametrize(
    "types", [types for types in (*ROCWMMA_TYPES, *CDNA_TYPES) if types[2] == types[3]], ids=named
)
def test_every_product_through_lds(types: Any, layouts: Any) -> None:
    """Both layouts of each tile in LDS; the thread blocks in turn."""
    waves = itertools.cycle(BLOCKS)
    for lds_layouts in LDS_LAYOUTS:
        for _ in range(2):
            check_lds((types, layouts, lds_layouts, next(waves)), random_data)


@pytest.mark.exhaustive
@pytest.mark.parametrize("types", TYPES, ids=named)
def test_every_type_in_waves_of_64_lanes(types: Any) -> None:
    for case in GRID:
        if case[0] == types and case[1] in ((1, 1), (2, 2), (1, 4)):
            check_product(*case, smallest(case), random_data, 64, fixed=False)
