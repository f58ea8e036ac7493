"""Random kernels that load, change, move and store a fragment: every bit of the target is what
NumPy says."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from amdjit.intrinsics.matrix.transfers import exchanges
from tests.matrix.plan import random_fragments
from tests.matrix.plan.mutants import CLIP_MUTANTS, PRODUCT_MUTANTS, Mutant, mutated, own_word

pytestmark = pytest.mark.usefixtures("device")

EXCHANGE_MUTANT = Mutant(
    "lanes keep the words that they exchange", exchanges, "_of_other_lane", own_word
)


def run_many(seeds: Iterable[int]) -> None:
    for seed in seeds:
        random_fragments.run(seed)


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, 16, 8))
def test_random_kernels_over_fragments_give_what_numpy_gives(first: int) -> None:
    run_many(range(first, first + 8))


@pytest.mark.sample(1)
@pytest.mark.parametrize("mutant", [EXCHANGE_MUTANT, CLIP_MUTANTS[2], PRODUCT_MUTANTS[7]], ids=str)
def test_random_fragments_kill_the_mutant(mutant: Mutant) -> None:
    with mutated(mutant), pytest.raises(AssertionError):
        run_many(range(24))


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_many_random_kernels_over_fragments_give_what_numpy_gives(first: int) -> None:
    run_many(range(first, first + 100))
