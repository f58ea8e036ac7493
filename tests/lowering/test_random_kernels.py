"""Random kernels with short circuits, halves and signed zeros agree bit for bit with Python at
every level."""

from __future__ import annotations

import random

import pytest

from tests.lowering.random_kernels import wrong


def settings(seed: int) -> dict[str, int]:
    source = random.Random(seed)
    level, wave_size = source.choice([0, 1, 2, 3, 3]), source.choice([32, 32, 64])
    return {"level": level, "wave_size": wave_size, "bounds_check": source.random() < 0.7}


@pytest.mark.sample(1)
@pytest.mark.parametrize("group", range(4))
def test_random_kernels_give_what_python_gives(group: int) -> None:
    for seed in range(group * 12, group * 12 + 6):
        assert not (found := wrong(seed, **settings(seed))), f"seed {seed}:\n{found}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(50))
def test_many_random_kernels_give_what_python_gives(group: int) -> None:
    for seed in range(10_000 + group * 100, 10_100 + group * 100):
        assert not (found := wrong(seed, **settings(seed))), f"seed {seed}:\n{found}"
