"""Stores of the value that is there already are no race, whatever their width and wherever the
lanes store."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import f16, f32, f64, shared, u8
from tests.emulator.checks.seeded_kernels.seeded import reports_of, text_of

Array = NDArray[Any]
KINDS = {"u8": u8, "f16": f16, "f32": f32, "f64": f64}
DTYPES = {"u8": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64}
# Places of the lanes: in a row, two halves apart, every second element, backwards.
PLACES = {
    "row": np.arange(32),
    "halves": np.r_[0:16, 32:48],
    "strided": 2 * np.arange(32),
    "backwards": 31 - np.arange(32),
}


@amdjit.kernel
def to_global(values, places, out):
    i = amdjit.threadIdx.x
    out[places[i % 32]] = values[i]


def to_lds(kind: Any) -> Any:
    """Return a kernel whose waves store to the same elements of a shared array."""

    @amdjit.kernel
    def stored(values, places, out):
        box = shared.array(64, kind)
        i = amdjit.threadIdx.x
        box[places[i % 32]] = values[i]
        amdjit.syncthreads()
        out[places[i % 32]] = box[places[i % 32]]

    return stored


def races(kernel: Any, values: Array, places: Array) -> list[str]:
    arguments = [values, places.astype(np.int32), np.zeros(64, values.dtype)]
    reports = reports_of(lambda: kernel[1, len(values)](*arguments), "race")
    assert all(report.check == "race" for report in reports), text_of(reports)
    return [report.kind for report in reports]


@pytest.mark.sample(10)
@pytest.mark.covering(2)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["global", "lds"])
def test_a_store_of_what_is_there_is_no_race_and_any_other_is_one(
    space: str, kind: str, places: str
) -> None:
    kernel = to_global if space == "global" else to_lds(KINDS[kind])
    values = np.tile(np.arange(1, 33), 2).astype(DTYPES[kind])
    assert races(kernel, values, PLACES[places]) == []
    for lane in (0, 15, 17, 31):
        other = values.copy()
        other[32 + lane] += 1
        # What LDS holds in the end is stored to global memory by both waves, and is the same.
        assert races(kernel, other, PLACES[places]) == [space], f"lane {lane}"


@amdjit.kernel
def bytes_from_another_wave(values, places, out):
    box = shared.array(64, u8)
    i = amdjit.threadIdx.x
    if i < 32:
        out[i] = box[places[i]]
    else:
        box[values[i]] = values[i]


@pytest.mark.parametrize("place", [0, 1, 14, 31])
def test_every_lane_that_reads_a_byte_of_a_dword_is_known(place: int) -> None:
    """One wave reads all bytes backwards, the other stores one of them."""
    assert races(bytes_from_another_wave, np.full(64, place, np.uint8), PLACES["backwards"]) == [
        "lds"
    ]
    assert (
        races(bytes_from_another_wave, np.full(64, 32 + place, np.uint8), PLACES["backwards"]) == []
    )
