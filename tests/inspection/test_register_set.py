"""Sets of registers behave as sets of numbers do."""

from __future__ import annotations

import random

from amdjit.inspection.liveness import RegisterSet, register_set


def test_it_is_the_set_of_its_numbers() -> None:
    choose = random.Random(1)
    for _ in range(200):
        first, second = ({choose.randrange(256) for _ in range(choose.randrange(9))} for _ in "ab")
        mine, other = register_set(first), register_set(second)
        assert mine == first == frozenset(mine)
        assert hash(mine) == hash(frozenset(first))
        assert list(mine) == sorted(first)
        assert len(mine) == len(first)
        assert (mine | other, mine & other, mine - other) == (
            first | second,
            first & second,
            first - second,
        )
        assert (mine <= other) == (first <= second)
        assert all((number in mine) == (number in first) for number in range(-1, 257))
        assert "v3" not in mine


def test_it_prints_its_numbers() -> None:
    assert repr(RegisterSet(0b1101)) == "{0, 2, 3}"
    assert repr(RegisterSet(0)) == "{}"
