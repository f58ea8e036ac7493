"""rocWMMA's tests of transforms: every fragment as every other one, of all sizes of its grid; and
that errors show.

The matrix is of numbers in random order.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix.transfers import exchanges
from amdjit.types import bf16, f16, f32, f64, fp8, i8, i16, i32, u8, u32
from tests.matrix.fragment_kernels import check_conversion
from tests.matrix.plan.mutants import own_word
from tests.matrix.plan.plan_data import COL, ROW
from tests.matrix.plan.plan_grids import named
from tests.matrix.plan.plan_kernels import A, B, C

pytestmark = pytest.mark.usefixtures("device")

PAIRS = tuple(itertools.product((A, B, C), repeat=2))
TYPES = (f16, bf16, f32, f64, fp8, i8, u8, i16, i32, u32)
SIZES = ((16, 16), (16, 64), (32, 32), (64, 16), (64, 64), (128, 16), (256, 16))
_SWAP_WITHIN = exchanges._swap_within_words


@device_function
def with_neighbours(words, lane, width):
    """Swap elements of another width."""
    _SWAP_WITHIN(words, lane, width // 2)


@device_function
def nothing(words, first, second):
    """Leave all where it is."""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "wrong"),
    [("_of_other_lane", own_word), ("_swap_within_words", with_neighbours),
        ("_swap_words", nothing),
     ("_swap_lanes", nothing)],
)  # fmt: skip
def test_conversions_kill_a_wrong_exchange(
    name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, name, wrong)
    with pytest.raises(AssertionError):
        check_conversion((A, C), f16, 32, 16, (ROW, ROW), 32)


@pytest.mark.exhaustive
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("uses", PAIRS, ids=named)
def test_every_fragment_becomes_every_other(uses: Any, wave_size: int) -> None:
    """The layouts in turn."""
    layouts = itertools.cycle(itertools.product((ROW, COL), repeat=2))
    for dtype, (rows, columns) in itertools.product(TYPES, SIZES):
        if rows * columns // wave_size * max(1, dtype.nbytes // 4) <= 128:
            check_conversion(uses, dtype, rows, columns, next(layouts), wave_size)
