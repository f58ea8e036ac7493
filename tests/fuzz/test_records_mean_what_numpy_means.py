"""Random structured types and functions of them, run by Python on NumPy's records and compiled for
the emulator: the same values in every field."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from tests.fuzz.fuzzed_device import OLDER, SOME_OLDER, emulator, processor
from tests.fuzz.program_records import ELEMENTS, RecordWriter, filled, record_type
from tests.fuzz.running import define


def check(seed: int) -> None:
    random = Random(seed)
    kind = record_type(random)
    source = RecordWriter(random, kind).write(random.randint(3, 8))
    arrays = [filled(kind, shape, random) for shape in ((ELEMENTS,), (ELEMENTS,), (1,))]
    if random.random() < 0.3:
        arrays = [array.view(np.recarray) for array in arrays]
    expected = [array.copy() for array in arrays]
    program = define(source, {})["program"]
    program(*_arguments(expected), 1)
    options = {"bounds_check": random.random() < 0.2, "opt_level": random.choice((1, 3))}
    with emulator():
        amdjit.kernel(program, warnings=False, **options)[1, 1](*_arguments(arrays), np.int32(1))
    for mine, theirs in zip(arrays, expected, strict=True):
        assert fields_of(mine) == fields_of(theirs), f"{kind}\n{source}"


def fields_of(array: Any) -> Any:
    """Return the values of all fields, without the bytes between them."""
    if array.dtype.names is None:
        return array.tolist()
    return {name: fields_of(np.asarray(array[name])) for name in array.dtype.names}


def _arguments(arrays: list[Any]) -> tuple[Any, ...]:
    x, y, r = arrays
    return x, y, r[0]


@pytest.mark.sample(1)
@pytest.mark.parametrize("group", range(2))
def test_random_functions_of_records(group: int) -> None:
    for seed in range(10):
        check(100 * group + seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(40))
def test_a_thousand_random_functions_of_records(group: int) -> None:
    for seed in range(25):
        check(10_000 + 100 * group + seed)


@SOME_OLDER
def test_random_functions_of_records_on_older_families(cpu: str) -> None:
    with processor(cpu):
        for seed in range(4):
            check(1000 + seed)


@OLDER
@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(10))
def test_hundreds_of_random_functions_of_records_on_older_families(cpu: str, group: int) -> None:
    with processor(cpu):
        for seed in range(25):
            check(20_000 + 100 * group + seed)
