"""Which cases of a test `@pytest.mark.sample(n)` chooses."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.conftest import _sampled


@dataclass(frozen=True)
class Case:
    """What the choice reads of a case of pytest."""

    id: str
    params: dict[str, Any]
    indices: dict[str, int]


def cases(*parameters: list[Any]) -> list[Case]:
    return [
        Case(
            "-".join(str(each) for _, each in values),
            {f"p{place}": each for place, (_, each) in enumerate(values)},
            {f"p{place}": number for place, (number, _) in enumerate(values)},
        )
        for values in product(*map(enumerate, parameters))
    ]


def chosen(of: list[Case], size: int) -> set[str]:
    found = _sampled(dict(enumerate(of)), size)
    assert len(found) == size
    return {of[place].id for place in found}


def test_a_sample_has_all_values_where_it_can() -> None:
    found = chosen(cases(["gfx942", "gfx1100", "gfx1201", "gfx1250"], [0, 1, 2, 3], [32, 64]), 4)
    values = [set(each) for each in zip(*(name.split("-") for name in found), strict=True)]
    assert [len(each) for each in values] == [4, 4, 2]


def test_a_sample_is_the_same_in_every_order() -> None:
    of = cases([*"abcdefgh"], [1, 2, 3])
    expected = chosen(of, 5)
    random.Random(1).shuffle(of)
    assert chosen(of, 5) == expected


def test_values_that_have_no_hash_are_told_by_their_places() -> None:
    found = chosen(cases([[1], [2], [3]], ["a", "b"]), 3)
    assert {name.split("-")[0] for name in found} == {"[1]", "[2]", "[3]"}
