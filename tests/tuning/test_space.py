"""Spaces of configurations: what is in them, in which order, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amdjit.options import OptionError
from amdjit.tuning.configurations import Configuration
from amdjit.tuning.settings import made_settings
from amdjit.tuning.space import read_space

values = st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True)
products = st.dictionaries(st.sampled_from("abcd"), values, min_size=1, max_size=4)


@given(products)
def test_a_product_has_every_combination_once_in_the_order_of_python(
    given_space: dict[str, list[int]],
) -> None:
    space = read_space(given_space)
    expected = [
        dict(zip(given_space, each, strict=True))
        for each in itertools.product(*given_space.values())
    ]
    assert [dict(each) for each in space] == expected
    assert [dict(space[number]) for number in range(space.size)] == expected
    assert space.size == len(expected)


@given(products, st.integers(1, 20), st.integers(0, 5))
def test_a_subset_is_of_what_is_allowed_and_the_same_for_one_seed(
    given_space: dict[str, list[int]], most: int, seed: int
) -> None:
    space = read_space(given_space)

    def where(c: Any) -> bool:
        return bool(sum(c.values()) % 2 == 0)

    allowed = space.allowed(where, {}, set())
    assert allowed == [each for each in space if sum(each.values()) % 2 == 0]
    drawn = space.allowed(where, {}, set(), most, seed)
    assert len(drawn) == min(most, len(allowed))
    assert drawn == [each for each in allowed if each in drawn]
    assert drawn == space.allowed(where, {}, set(), most, seed)


def test_a_large_space_is_drawn_from_without_listing_it() -> None:
    space = read_space({name: range(100) for name in "abcdef"})
    assert space.size == 10**12
    drawn = space.allowed(lambda c: c.a < 50, {}, set(), 20, 1)
    assert len(drawn) == 20
    assert all(each.a < 50 for each in drawn)
    assert drawn == space.allowed(lambda c: c.a < 50, {}, set(), 20, 1)
    assert drawn != space.allowed(lambda c: c.a < 50, {}, set(), 20, 2)


def test_a_list_of_configurations_keeps_its_order() -> None:
    space = read_space([{"BM": 64, "BN": 32}, {"BN": 128, "BM": 16}])
    assert [str(each) for each in space] == ["BM=64, BN=32", "BM=16, BN=128"]


def test_a_configuration_is_read_by_attribute_and_item_and_refuses_other_names() -> None:
    c = Configuration({"BM": 64, "kind": "f16"})
    assert (c.BM, c["kind"]) == (64, "f16")
    with pytest.raises(AttributeError, match="no 'BN'; it has BM, kind"):
        _ = c.BN


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "at least one"),
        ({"BM": []}, "no configuration"),
        ({"BM": 64}, "list of values"),
        ({"BM": "64"}, "list of values"),
        ({"BM": [64, 64]}, "BM=64 is there twice"),
        ({"a b": [1]}, "is not a name"),
        ([{"BM": 1}, {"BN": 1}], "name the same"),
        ([{"BM": 1}, {"BM": 1}], "there twice"),
        ([3], "not a dictionary"),
        (3, "dictionary of lists"),
        ([], "no configuration"),
    ],
)
def test_a_wrong_space_is_refused(space: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_space(space)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keys": ["n"]}, "Did you mean 'key'"),
        ({"ranking": "best"}, 'give "model", "static"'),
        ({"untuned": "maybe"}, "untuned"),
        ({"where": 3}, "give a function"),
        ({"top": 0}, "whole number from 1"),
        ({"budget": -1}, "not negative"),
        ({"sanitize": "races"}, "there is no check 'races'"),
        ({"limits": {"vgprs": 3}}, "limits="),
        ({"key": [3]}, "neither a name nor a function"),
        ({"restore": [3]}, "names of parameters"),
        ({"cache": 3}, "path of a file"),
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        made_settings(settings)
