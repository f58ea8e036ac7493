"""rocWMMA's tests of transforms: every fragment as every other one, of all sizes of its grid; and that errors show.

The matrix is of numbers in random order.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from plan_data import COL, ROW
from plan_kernels import A, B, C
from test_plan_memory import named
from test_transforms import check_conversion

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix import transforms
from amdjit.types import bf16, f16, f32, f64, fp8, i8, i16, i32, u8, u32

PAIRS = tuple(itertools.product((A, B, C), repeat=2))
TYPES = (f16, bf16, f32, f64, fp8, i8, u8, i16, i32, u32)
SIZES = ((16, 16), (16, 64), (32, 32), (64, 16), (64, 64), (128, 16), (256, 16))
_SOURCE_LANE, _NEIGHBOURS = transforms._source_lane, transforms._transpose_neighbours


@device_function
def neighbour_of_source(source, target, motion):
    """Return the lane beside the one that has what is wanted."""
    return _SOURCE_LANE(source, target, motion) ^ 1


@device_function
def nothing_transposed(words, bits, held):
    """Leave neighbours as they are."""


@pytest.mark.parametrize(
    ("name", "wrong"), [("_source_lane", neighbour_of_source), ("_transpose_neighbours", nothing_transposed)]
)
def test_conversions_kill_a_wrong_exchange(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transforms, name, wrong)
    for dtype in (f16, f32):
        with pytest.raises(AssertionError):
            check_conversion((A, C), dtype, 32, 16, (ROW, ROW), 32)


@pytest.mark.exhaustive
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("uses", PAIRS, ids=named)
def test_every_conversion(uses: Any, wave_size: int) -> None:
    """The layouts in turn."""
    layouts = itertools.cycle(itertools.product((ROW, COL), repeat=2))
    for dtype, (rows, columns) in itertools.product(TYPES, SIZES):
        if rows * columns // wave_size * max(1, dtype.nbytes // 4) <= 128:
            check_conversion(uses, dtype, rows, columns, next(layouts), wave_size)
