"""The cycles of accesses to LDS: closed forms, and a machine with a queue before each bank."""

from __future__ import annotations

from collections import deque
from math import gcd

import numpy as np
import pytest

import amdjit
from amdjit.emulator.counting.lds_banks import LdsCycles, LdsOrder, bank_cycles, order_of
from tests.emulator.building import assemble, emulate, using
from tests.emulator.required_tools import needs_tools

random = np.random.default_rng(0)
LANES = {1: 32, 2: 32, 4: 32, 8: 16, 12: 8, 16: 8}


def cycles_of_a_machine(addresses: list[int | None], width: int, atomic: bool) -> LdsCycles:
    """Feed 32 queues, one a bank, and take one entry of each queue in each cycle."""
    cycles = groups = 0
    for first in range(0, len(addresses), LANES[width]):
        queues = [deque[int]() for _ in range(32)]
        for address in addresses[first : first + LANES[width]]:
            if address is None:
                continue
            for dword in sorted({byte // 4 for byte in range(address, address + width)}):
                queue = queues[dword & 31]
                if atomic or dword not in queue:
                    queue.append(dword)
        groups += any(queues)
        while any(queues):
            cycles += 1
            for queue in queues:
                if queue:
                    queue.popleft()
    return LdsCycles(cycles, cycles - groups)


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 64])
def test_b32_takes_the_divisor_that_the_stride_shares_with_the_number_of_banks(stride: int) -> None:
    addresses = [4 * stride * lane for lane in range(32)]
    assert bank_cycles(addresses, 4) == LdsCycles(gcd(stride, 32), gcd(stride, 32) - 1)
    wave64 = [4 * stride * lane for lane in range(64)]
    assert bank_cycles(wave64, 4).cycles == 2 * gcd(stride, 32)


@pytest.mark.parametrize(("width", "cycles"), [(1, 1), (2, 1), (4, 1), (8, 2), (12, 4), (16, 4)])
def test_adjacent_lanes_take_a_cycle_for_each_128_bytes_that_hold_whole_lanes(
    width: int, cycles: int
) -> None:
    assert bank_cycles([width * lane for lane in range(32)], width) == LdsCycles(cycles, 0)


def test_lanes_that_load_one_dword_share_it_and_atomics_on_it_do_not() -> None:
    assert bank_cycles([64] * 32, 4) == LdsCycles(1, 0)
    assert bank_cycles([64] * 32, 4, atomic=True) == LdsCycles(32, 31)


def test_inactive_lanes_take_no_cycle() -> None:
    assert bank_cycles([None] * 32, 4) == LdsCycles(0, 0)
    assert bank_cycles([0, 128, *[None] * 30], 4) == LdsCycles(2, 1)
    assert bank_cycles([None] * 24 + [16 * lane for lane in range(8)], 16) == LdsCycles(1, 0)


@pytest.mark.parametrize("width", LANES)
@pytest.mark.parametrize("atomic", [False, True])
def test_random_accesses_take_as_long_as_a_machine_with_queues(width: int, atomic: bool) -> None:
    for _ in range(40):
        lanes = int(random.choice([32, 64]))
        span = int(random.choice([8, 64, 1024, 65536]))
        step = int(random.choice([1, 2, 4, 16]))
        numbers = random.integers(0, span, lanes) * step
        active = random.random(lanes) < random.choice([0.1, 0.9, 1.0])
        addresses = [int(n) if a else None for n, a in zip(numbers, active, strict=True)]
        expected = cycles_of_a_machine(addresses, width, atomic)
        assert bank_cycles(addresses, width, atomic=atomic) == expected


@pytest.mark.parametrize("width", [0, 17, -4])
def test_widths_that_no_access_has_are_refused(width: int) -> None:
    with pytest.raises(ValueError, match="bytes a lane"):
        bank_cycles([0], width)


# What is published of loads of gfx942 and gfx950: lanes that go together, of the lower half of a
# wave, and how many banks there are.
PUBLISHED = {
    ("gfx942", 8): (["0-15", "16-31"], 32),
    ("gfx942", 16): (["0-3 20-23", "4-7 16-19", "8-11 28-31", "12-15 24-27"], 32),
    ("gfx950", 8): (["0-31"], 64),
    ("gfx950", 12): (["0-3 20-23", "4-7 16-19", "8-11 28-31", "12-15 24-27"], 32),
    ("gfx950", 16): (["0-3 12-15 20-27", "4-11 16-19 28-31"], 64),
}


def lanes_of(text: str) -> list[int]:
    ranges = [part.split("-") for part in text.split()]
    return [lane for first, last in ranges for lane in range(int(first), int(last) + 1)]


def published_cycles(addresses: list[int], processor: str, width: int) -> LdsCycles:
    groups, banks = PUBLISHED[processor, width]
    cycles = conflicts = 0
    for half in (addresses[:32], addresses[32:]):
        for group in groups:
            dwords = {
                half[lane] // 4 + part for lane in lanes_of(group) for part in range(width // 4)
            }
            most = max(sum(dword % banks == bank for dword in dwords) for bank in range(banks))
            cycles, conflicts = cycles + most, conflicts + most - 1
    return LdsCycles(cycles, conflicts)


# Factor and mask of lanes' addresses, in elements: (lane * factor) ^ (lane & mask).
PATTERNS = [(1, 0), (2, 0), (3, 0), (4, 0), (8, 0), (16, 0), (17, 0), (1, 5), (4, 3), (0, 8)]


@pytest.mark.parametrize(("processor", "width"), PUBLISHED)
def test_loads_of_cdna_are_served_in_the_published_groups(processor: str, width: int) -> None:
    order = order_of(processor, is_load=True)
    for factor, mask in PATTERNS:
        addresses = [width * ((lane * factor) ^ (lane & mask)) for lane in range(64)]
        expected = published_cycles(addresses, processor, width)
        assert bank_cycles(addresses, width, order=order) == expected


def test_only_loads_of_cdna_3_and_4_have_an_order_of_their_own() -> None:
    assert order_of("gfx942", is_load=False) is LdsOrder.CONSECUTIVE
    assert order_of("gfx90a", is_load=True) is LdsOrder.CONSECUTIVE
    assert order_of("gfx12", is_load=True) is LdsOrder.CONSECUTIVE


@pytest.mark.sample(3)
@needs_tools
@pytest.mark.parametrize(("processor", "width"), PUBLISHED)
def test_profiles_count_conflicts_of_the_processor(processor: str, width: int) -> None:
    for factor, mask in PATTERNS:
        body = f"""
  v_and_b32 v1, 63, v0
  v_mul_u32_u24 v2, {factor}, v1
  v_and_b32 v3, {mask}, v1
  v_xor_b32 v2, v2, v3
  v_mul_u32_u24 v1, {width}, v2
  ds_read_b{8 * width} v[4:{3 + width // 4}], v1
  ds_write_b{8 * width} v1, v[4:{3 + width // 4}]
  s_waitcnt lgkmcnt(0)
"""
        code = assemble(body, lds=32768, cpu=processor)
        arrays = [np.zeros(4, np.int32), np.zeros(4, np.int32)]
        with using(cpu=processor), amdjit.profile(workgroups=0) as found:
            emulate(code, "kernel", 1, 64, arrays)
        by_name = {i.text.split("_b")[0]: i for i in found.launches[0].instructions}
        addresses = [width * ((lane * factor) ^ (lane & mask)) for lane in range(64)]
        expected = published_cycles(addresses, processor, width)
        load, store = by_name["ds_read"], by_name["ds_write"]
        assert load.lds_cycles == expected.cycles, (factor, mask)
        assert load.lds_conflict_cycles == expected.conflicts, (factor, mask)
        assert store.lds_cycles == bank_cycles(addresses, width).cycles, (factor, mask)


@needs_tools
def test_places_64_kib_apart_are_not_the_same_on_gfx950() -> None:
    body = """
  v_and_b32 v1, 1, v0
  v_lshlrev_b32 v1, 16, v1
  ds_read_b32 v4, v1
  s_waitcnt lgkmcnt(0)
"""
    code = assemble(body, lds=1 << 17, cpu="gfx950")
    arrays = [np.zeros(4, np.int32), np.zeros(4, np.int32)]
    with using(cpu="gfx950"), amdjit.profile(workgroups=0) as found:
        emulate(code, "kernel", 1, 64, arrays)
    (load,) = (each for each in found.launches[0].instructions if "ds_read" in each.text)
    assert (load.lds_cycles, load.lds_conflict_cycles) == (4, 2)
