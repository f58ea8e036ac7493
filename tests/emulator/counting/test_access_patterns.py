"""Any pattern of addresses: cache lines, cycles of LDS and contention are those that Python
counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit.emulator.counting.lds_banks import bank_cycles
from tests.emulator.building import assemble, compile_source, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

LANES, BYTES = 64, 8192
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "quad"}
SOURCE = """
#include "common.h"
typedef unsigned int quad __attribute__((ext_vector_type(4)));
#define T {type}
KERNEL access(GLOBAL const T *x, GLOBAL const int *places, GLOBAL int *bins, GLOBAL T *out) {{
  static SHARED volatile T tile[{count}];
  int place = places[BLOCK * 64 + LANE];
  if (place >= 0) {{
    tile[place] = x[place];
    __hip_atomic_fetch_add(bins + (place % 8 + place % 64 / 8 * 1024), 1, __ATOMIC_RELAXED, 4);
    out[LANE] = tile[place];
  }}
}}
"""


def _strided(start: int, stride: int, jump: int, off: int) -> list[int]:
    """A row of lanes, of which the second half starts elsewhere; some lanes are inactive."""
    places = [start + lane % 32 % 16 * stride + lane % 32 // 16 * jump for lane in range(LANES)]
    return [-1 if off >> lane % 8 & 1 else abs(place) for lane, place in enumerate(places)]


STRIDES = [0, 1, 2, 3, 4, 5, 8, 16, 17, 20, 32, 33, 64]
JUMPS = [0, 1, 4, 8, 15, 16, 17, 31, 32, 33, 48, 64, 80, 256]
PLACES = st.one_of(
    st.lists(st.integers(-20, 4000), min_size=LANES, max_size=LANES),
    st.lists(st.integers(0, 7), min_size=LANES, max_size=LANES),
    st.builds(
        _strided,
        st.integers(0, 40),
        st.sampled_from(STRIDES),
        st.sampled_from(JUMPS),
        st.sampled_from([0, 0, 0, 1, 0xAA]),
    ),
)


def launched(
    size: int, places: Any, flags: tuple[str, ...], workgroups: int | None
) -> dict[str, Any]:
    """Run workgroups of 64 lanes; return the counts of the instructions by what they do.

    workgroups: to record.
    """
    source = SOURCE.format(type=TYPES[size], count=BYTES // size)
    code = compile_source(source, "-O2", *flags)
    x = np.zeros(BYTES, np.uint8)
    arguments = [x, places, np.zeros(8192, np.int32), np.zeros(LANES * size, np.uint8)]
    with amdjit.profile(workgroups=workgroups) as p:
        emulate(code, "access", len(places) // LANES, LANES, arguments)
    (launch,) = p.launches
    found: dict[str, Any] = {"launch": launch}
    for counts in launch.instructions:
        for name in ("ds_store", "ds_load", "global_atomic", "global_load", "global_store"):
            if counts.text.startswith(name):
                found[name] = counts
    return found


def lines_of(addresses: list[int], size: int) -> int:
    touched = {line for a in addresses for line in range(a // 128, (a + size - 1) // 128 + 1)}
    return len(touched)


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("size", TYPES)
@pytest.mark.parametrize("wave_size", [32, 64])
@settings(max_examples=15, deadline=None)
@given(places=PLACES)
def test_patterns(size: int, wave_size: int, places: list[int]) -> None:
    limit = BYTES // size
    chosen = np.array([p % limit if p >= 0 else -1 for p in places], np.int32)
    flags = () if wave_size == 32 else ("-mwavefrontsize64",)
    recorded = launched(size, chosen, flags, None)
    _check_recording(recorded["launch"])
    # Waves that are not recorded are counted by other functions, where they have a pattern.
    unrecorded = launched(size, chosen, flags, 0)
    for found in (recorded, unrecorded):
        _check_counts(found, chosen, size, wave_size)
    assert unrecorded["launch"].recording is None
    assert unrecorded["launch"].distinct_lines == recorded["launch"].distinct_lines


def regular_rows() -> list[list[int]]:
    """Rows of 16 lanes at any distance, upwards and downwards, each for a workgroup of its own."""
    return [
        _strided(40 * 64 * down, -stride if down else stride, jump, 0)
        for stride in STRIDES
        for jump in JUMPS
        for down in (0, 1)
    ]


@pytest.mark.parametrize("size", TYPES)
def test_all_regular_patterns(size: int) -> None:
    chosen = np.array(regular_rows(), np.int32).ravel() % (BYTES // size)
    _check_counts(launched(size, chosen, (), 0), chosen, size, 32)


def _check_counts(found: dict[str, Any], chosen: Any, size: int, wave_size: int) -> None:
    waves = chosen.reshape(-1, wave_size).tolist()
    active = [[p for p in wave if p >= 0] for wave in waves]
    some = [wave for wave in active if wave]
    load, atomic = found["global_load"], found["global_atomic"]
    assert load.requests == atomic.requests == len(some)
    assert load.bytes == sum(map(len, some)) * size
    assert load.cache_lines == sum(lines_of([p * size for p in wave], size) for wave in some)
    bins = [[p % 8 + p % 64 // 8 * 1024 for p in wave] for wave in some]
    assert atomic.contention == sum(len(wave) - len(set(wave)) for wave in bins)
    assert atomic.cache_lines == sum(lines_of([4 * b for b in wave], 4) for wave in bins)
    halves = [row for row in chosen.reshape(-1, 32).tolist() if any(p >= 0 for p in row)]
    cycles = [bank_cycles([p * size if p >= 0 else None for p in row], size) for row in halves]
    for access in (found["ds_store"], found["ds_load"]):
        assert access.lds_cycles == sum(one.cycles for one in cycles)
        assert access.lds_conflict_cycles == sum(one.conflicts for one in cycles)


UNALIGNED = """
#include "common.h"
typedef unsigned int T __attribute__((ext_vector_type({dwords}), aligned(4)));
typedef unsigned int aligned __attribute__((ext_vector_type({dwords})));
KERNEL access(GLOBAL const u32 *x, GLOBAL const int *places, GLOBAL aligned *out) {{
  int place = places[BLOCK * 64 + LANE];
  if (place >= 0) out[LANE] = *(GLOBAL const T *)(x + place);
}}
"""


@pytest.mark.parametrize("dwords", [2, 4])
@pytest.mark.parametrize("workgroups", [0, 1000])
def test_elements_that_lie_in_two_lines(dwords: int, workgroups: int) -> None:
    code = compile_source(UNALIGNED.format(dwords=dwords), "-O2")
    rows = regular_rows()
    places = np.array(rows, np.int32)
    x, out = np.zeros(int(places.max()) + 4, np.uint32), np.zeros(LANES * dwords, np.uint32)
    with amdjit.profile(workgroups=workgroups) as p:
        emulate(code, "access", len(rows), LANES, [x, places.ravel(), out])
    loads = [i for i in p.launches[0].instructions if i.text.startswith("global_load_b")]
    wide = next(i for i in loads if i.text.startswith(f"global_load_b{32 * dwords} "))
    waves = (4 * places).reshape(-1, 32).tolist()
    assert wide.cache_lines == sum(lines_of(wave, 4 * dwords) for wave in waves)


@pytest.mark.covering(2)
@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("stride", [2, 4, 12, 20, 36])
@pytest.mark.parametrize("start", [0, 4, 2])
def test_elements_of_lds_that_are_not_aligned(size: int, stride: int, start: int) -> None:
    register = {4: "v2", 8: "v[2:3]", 16: "v[2:5]"}[size]
    body = f"""
  v_mad_u32_u24 v1, v0, {stride}, {start}
  ds_load_b{8 * size} {register}, v1
  s_wait_dscnt 0x0
"""
    code = assemble(body, lds=8192)
    with amdjit.profile(workgroups=0) as p:
        emulate(code, "kernel", 1, 32, [np.zeros(4, np.int32), np.zeros(4, np.int32)])
    (load,) = (i for i in p.launches[0].instructions if i.text.startswith("ds_load"))
    expected = bank_cycles([start + stride * lane for lane in range(32)], size)
    found = load.lds_cycles, load.lds_conflict_cycles
    assert found == (expected.cycles, expected.conflicts)


def _check_recording(launch: amdjit.LaunchProfile) -> None:
    recording, totals = launch.recording, launch.totals
    assert recording is not None
    assert recording.complete
    requests = recording.requests
    assert requests[:, 1].sum() == totals.bytes
    assert requests[:, 2].sum() == totals.lds_cycles
    assert (requests[:, 4] - requests[:, 3]).sum() == totals.cache_lines
    assert launch.distinct_lines == len(set(recording.lines.tolist()))
