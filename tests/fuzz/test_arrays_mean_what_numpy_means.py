"""Random functions of arrays, run by Python on NumPy's arrays and compiled for the emulator: the
same integers in every array."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from tests.fuzz.fuzzed_device import OLDER, SOME_OLDER, emulator, processor
from tests.fuzz.program_arrays import RESULTS, ArrayWriter
from tests.fuzz.running import define

FACTORS, STEPS = (1, 2, 3), (-4, -3, -2, -1, 1, 2, 3, 4)


def check(seed: int) -> None:
    random = Random(seed)
    wraps, rounds = random.random() < 0.6, 3
    source = ArrayWriter(random, wraps).write(random.randint(4, 14))
    program = define(source, {"np": np})["program"]
    options = {
        "wraparound": wraps,
        "bounds_check": random.random() < 0.3,
        "opt_level": random.choice((0, 1, 3)),
    }
    kernel = amdjit.kernel(program, warnings=False, **options)
    order: Any = random.choice("CCF")
    for _ in range(rounds):
        arrays = [random_array(random, shape) for shape in ((4, 6), (8,), (3, 2))]
        arrays[2] = np.asarray(arrays[2], order=order)
        arrays.append(np.zeros(RESULTS, np.int64))
        numbers = [np.int64(random.randint(-9, 9)) for _ in range(4)] + [
            np.int64(random.choice((1, 2, 3)))
        ]
        numbers += [np.int64(random.choice((-4, -3, -2, -1, 1, 2, 3, 4))) for _ in range(2)]
        expected = [array.copy(order="K") for array in arrays]
        problem = None
        try:
            with np.errstate(all="ignore"):
                program(*expected, *numbers)
        except ValueError as refused:
            problem = refused
        with emulator():
            if problem is not None:
                with pytest.raises(ValueError, match="broadcast"):
                    kernel[1, 1](*arrays, *numbers)
                continue
            kernel[1, 1](*arrays, *numbers)
        for mine, theirs in zip(arrays, expected, strict=True):
            assert (mine == theirs).all(), f"{options} {numbers}\n{source}\n{mine}\n{theirs}"


def random_array(random: Random, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    values = [random.randint(-20, 20) for _ in range(int(np.prod(shape)))]
    return np.array(values, np.int64).reshape(shape)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(5))
def test_random_functions_of_arrays(seed: int) -> None:
    check(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(40))
def test_a_thousand_random_functions_of_arrays(group: int) -> None:
    for seed in range(25):
        check(10_000 + 100 * group + seed)


@SOME_OLDER
def test_a_random_function_of_arrays_on_older_families(cpu: str) -> None:
    with processor(cpu):
        check(8)


@OLDER
@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(10))
def test_random_functions_of_arrays_on_older_families(cpu: str, group: int) -> None:
    with processor(cpu):
        for seed in range(25):
            check(20_000 + 100 * group + seed)
