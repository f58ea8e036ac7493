"""The cycles of accesses to LDS: closed forms, and a machine with a queue before each bank."""

from __future__ import annotations

from collections import deque
from math import gcd

import numpy as np
import pytest

from amdjit.emulator.counting.lds_banks import LdsCycles, bank_cycles

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
