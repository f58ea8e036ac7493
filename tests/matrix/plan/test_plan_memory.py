"""rocWMMA's tests of fragments and memory: fill, load and store, shared loads and stores,
contamination by padding.

Matrices are of any bits, so that NaN must arrive as they are; what is written was full of
signalling NaN. The slices that always run have every use, size, type and layout; the whole grid is
exhaustive.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from amdjit.types import f16, f32, fp8, i8
from tests.matrix.plan.plan_checks import check_copy, check_fill, shared_by
from tests.matrix.plan.plan_data import COL, ROW
from tests.matrix.plan.plan_grids import (
    FRAGMENTS,
    MEMORY_TYPES,
    PADS,
    USES,
    covering,
    memory_grid,
    named,
)
from tests.matrix.plan.plan_kernels import BLOCKS, A, B

pytestmark = pytest.mark.usefixtures("device")

GRID = list(memory_grid())
SLICE = covering(case for case in GRID if case[1] * case[2] <= 4096)


def shape_of(fragment: tuple[Any, ...], waves: tuple[int, int], more: int = 1) -> tuple[int, int]:
    """Return the shape of a matrix with `more` workgroups in each direction."""
    return fragment[1] * waves[0] * more, fragment[2] * waves[1] * more


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("fragment", "waves"), list(zip(SLICE, itertools.cycle(BLOCKS))), ids=named
)
def test_fragments_are_filled_and_copied(fragment: tuple[Any, ...], waves: tuple[int, int]) -> None:
    check_fill(fragment, shape_of(fragment, waves), waves)
    check_copy(fragment, shape_of(fragment, waves), waves, (0, 0, 0, 0))


@pytest.mark.parametrize("pads", PADS[1:], ids=named)
def test_padding_contaminates_no_load_and_survives_each_store(
    pads: tuple[int, int, int, int],
) -> None:
    for fragment in ((A, 32, 16, f16, ROW), (B, 16, 32, i8, ROW)):
        check_copy(fragment, shape_of(fragment, (2, 1), 2), (2, 1), pads)


SHARED = [
    ((A, 64, 32, f16, ROW), (2, 2), "row"),
    ((A, 64, 32, f16, COL), (2, 2), "all"),
    ((B, 16, 64, i8, ROW), (1, 4), "row"),
    ((USES[2], 32, 64, f32, COL), (4, 1), "column"),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("fragment", "waves", "sharing"), SHARED, ids=named)
def test_waves_that_share_fragments_copy_them_whole(
    fragment: Any, waves: tuple[int, int], sharing: str
) -> None:
    check_copy(
        fragment, (2 * fragment[1] * waves[0], 2 * fragment[2]), waves, (3, 8, 4, 1), 0, sharing
    )


@pytest.mark.parametrize(
    "fragment", [(A, 32, 16, fp8, COL), (USES[2], 16, 32, f32, ROW)], ids=named
)
def test_waves_of_64_lanes_fill_and_copy(fragment: tuple[Any, ...]) -> None:
    check_fill(fragment, shape_of(fragment, (1, 2)), (1, 2), 64)
    check_copy(fragment, shape_of(fragment, (1, 2)), (1, 2), (4, 1, 3, 8), 64)


def test_the_slice_has_every_value_of_every_axis() -> None:
    for axis in range(5):
        assert {case[axis] for case in SLICE} == {case[axis] for case in GRID}
    # More than 256 elements a lane are skipped, as in rocWMMA.
    assert {case[1:3] for case in GRID} == set(FRAGMENTS) - {(256, 64)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", MEMORY_TYPES, ids=named)
@pytest.mark.parametrize("use", USES, ids=named)
def test_every_fragment_is_filled_and_copied_in_every_thread_block(use: Any, dtype: Any) -> None:
    """All sizes and layouts; the paddings and matrices of one and of two workgroups in turn."""
    pads = itertools.cycle(PADS)
    for fragment in GRID:
        if fragment[0] is use and fragment[3] is dtype:
            for number, waves in enumerate(BLOCKS):
                shape = shape_of(fragment, waves, 1 + number % 2)
                check_fill(fragment, shape, waves)
                check_copy(fragment, shape, waves, next(pads))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", MEMORY_TYPES, ids=named)
@pytest.mark.parametrize("use", USES, ids=named)
def test_every_fragment_is_shared(use: Any, dtype: Any) -> None:
    """In every thread block by its rows, columns and all waves, some of which may have no block.

    One that a wave has to itself is loaded as in the test above, and only of less than 16 blocks
    here.
    """
    for fragment in GRID:
        if fragment[0] is use and fragment[3] is dtype:
            blocks = -(-fragment[1] // 16) * -(-fragment[2] // 16)
            for sharing, waves in itertools.product(("row", "column", "all"), BLOCKS[1:]):
                count, groups, _ = shared_by(waves, sharing)
                if count > 1 or blocks < 16:
                    check_copy(
                        fragment,
                        (2 * fragment[1] * groups, fragment[2]),
                        waves,
                        (3, 8, 4, 1),
                        0,
                        sharing,
                    )
