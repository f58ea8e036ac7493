"""Differences of results, put into words."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit.probe.differences import differences_of, kinds_of
from amdjit.probe.outcome import CaseOutcome, CaseStatus
from amdjit.probe.report import subjects_of

FLOATS = (np.float16, np.float32, np.float64, ml_dtypes.bfloat16)
TINY = np.float32(1e-40)
ONES = np.ones(8, np.float32)


def moved(x: NDArray[Any], ulps: int) -> NDArray[Any]:
    bits: NDArray[Any] = x.view(np.int32) + np.int32(ulps)
    return bits.view(np.float32)


@pytest.mark.parametrize("dtype", FLOATS)
def test_steps_are_counted_in_ulp_and_by_direction(dtype: type) -> None:
    emulator: NDArray[Any] = np.array([1, -1, 3, -3, 0.5], dtype)
    bits = emulator.view(f"u{emulator.itemsize}")
    chip = (bits + np.array([1, 1, -1, 3, 0]).astype(bits.dtype)).view(dtype)
    kinds = kinds_of((chip,), (emulator,))
    ways = {kind: count for kind, count in kinds.items() if "ulp" in kind}
    assert ways == {
        "1 ulp away from zero": 2,
        "1 ulp toward zero": 1,
        "3 or 4 ulp away from zero": 1,
    }


@pytest.mark.parametrize(
    ("chip", "emulator", "words"),
    [
        (0.0, -0.0, "the other sign of zero"),
        (0.0, TINY, "a denormal in the emulator, zero on the chip"),
        (TINY, 0.0, "a denormal on the chip, zero in the emulator"),
        (np.nan, 1.0, "NaN on the chip only"),
        (1.0, np.nan, "NaN in the emulator only"),
        (np.inf, 3e38, "infinity on the chip only"),
        (3e38, np.inf, "infinity in the emulator only"),
        (2.0, -2.0, "the other sign"),
        (2.0, 3.0, "more than 256 ulp"),
    ],
)
def test_each_way_has_its_words(chip: float, emulator: float, words: str) -> None:
    there, here = np.array([chip, 7], np.float32), np.array([emulator, 7], np.float32)
    assert kinds_of((there,), (here,))[words] == 1


def test_payloads_of_nans_are_told_apart() -> None:
    there, here = (
        np.array([bits], np.uint32).view(np.float32) for bits in (0x7FC00001, 0x7FC00000)
    )
    assert kinds_of((there,), (here,)) == {"another NaN": 1}


def test_the_first_64_differences_have_their_inputs() -> None:
    emulator = np.zeros(100, np.uint8), np.zeros((10, 10), np.int64)
    chip = emulator[0].copy(), emulator[1] - np.eye(10, dtype=np.int64)
    chip[0][5:95] = 7
    count, found = differences_of(chip, emulator, lambda result, element: f"{result}:{element}")
    assert count == 100
    assert len(found) == 64
    assert (found[0].inputs, found[0].chip, found[0].emulator) == ("0:5", 7, 0)
    count, found = differences_of(chip[1:], emulator[1:], lambda result, element: f"{element}")
    assert (count, found[-1].element, found[-1].chip) == (10, 99, 2**64 - 1)


def summary(chip: NDArray[np.generic], emulator: NDArray[np.generic]) -> str:
    count, found = differences_of((chip,), (emulator,), lambda result, element: "")
    kinds = kinds_of((chip,), (emulator,))
    case = CaseOutcome(
        "x", "v_x", "rule", CaseStatus.DIFFERS, chip.size, count, kinds=kinds, differences=found
    )
    return subjects_of([case])[0].summary()


def test_a_summary_names_what_all_differences_share() -> None:
    x = np.arange(1, 513, dtype=np.float32)
    even = x.view(np.int32) % 2 == 0
    chip = x.copy()
    chip[even] = moved(x, 1)[even]
    count = int(even.sum())
    assert summary(chip, x) == (
        f"1 ulp away from zero in {count} of 512: rounds so instead of to even"
    )
    lanes = x.copy()
    lanes[[3, 5]] = lanes[[5, 3]]
    assert summary(lanes, x) == "the emulator's values in other places, in 2 of 512"
    numbers = np.arange(64, dtype=np.uint32)
    assert summary(numbers ^ 0x80, numbers) == "other bits in 64 of 64: always at the same bits"
    assert summary(numbers + 1, numbers) == "1 more in 64 of 64"
