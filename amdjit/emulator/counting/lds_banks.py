"""How many cycles an access to LDS takes, by the banks that its lanes touch.

The rule, for 32 banks of 4 bytes (rocprofiler-compute: 32 banks a compute unit of gfx1201), each of
which delivers one dword a cycle:

- A cycle serves a group of consecutive lanes, as many as take 128 bytes: 32 lanes of up to 4 bytes,
  16 of 8, 8 of 12 or 16 (AMD, rocm-libraries, rocRoller LDSBankModel: threads per clock). For RDNA
  the order of the lanes is not published: an assumption.
- Loads of gfx942 and gfx950 have groups of their own (`LdsOrder`): on gfx942 those of 16 bytes
  (AMD, "Avoiding LDS bank conflicts"), with which loads of 12 go; gfx950 has 64 banks for loads of
  8 and 16 bytes (HipKittens, analysis/paper_experiments/phases, found by counters of conflicts).
  What is published of their stores is as above: 16 lanes of 8 bytes; of other widths it is an
  assumption.
- A group in which lanes need different dwords of one bank takes one cycle for each of them. Lanes
  that need the same dword share it: loads broadcast it, and of stores one remains (AMD,
  rocprofiler-compute, "Local data share": conflicts are of different addresses).
- Atomics on one dword happen one after another, a cycle each: an assumption.
- A group without active lanes takes no cycle: an assumption.
- The two places of ds_load_2addr and the like are two accesses, one after the other: an assumption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum

from amdjit.late_methods import dataclass

__all__ = [
    "BANKS",
    "BANK_BYTES",
    "PAIRED",
    "QUARTERS",
    "LdsCycles",
    "LdsOrder",
    "bank_cycles",
    "banks_of",
    "groups_of",
    "lanes_per_cycle",
    "order_of",
]

BANKS = 32
BANK_BYTES = 4

# (bytes of a lane at most, lanes that are served together): wider accesses are served in parts of
# the wave, so that a part asks each bank for one dword if there are no conflicts.
_LANES_PER_CYCLE = ((4, 32), (8, 16), (16, 8))


# The groups of half a wave, as masks of lanes: those of loads of 12 and 16 bytes on gfx942, and of
# 16 bytes on gfx950.
QUARTERS = (0x00F0000F, 0x000F00F0, 0xF0000F00, 0x0F00F000)
PAIRED = (0x0FF0F00F, 0xF00F0FF0)
_HALF = 32


class LdsOrder(IntEnum):
    """In which order LDS serves the lanes of an access."""

    CONSECUTIVE = 0
    GFX942_LOAD = 1
    GFX950_LOAD = 2


def order_of(instruction_set: str, is_load: bool) -> LdsOrder:
    """Return the order of a load, or of a store or atomic, of processors with an instruction set,
    by its name."""
    orders = {"gfx942": LdsOrder.GFX942_LOAD, "gfx950": LdsOrder.GFX950_LOAD}
    return orders.get(instruction_set, LdsOrder.CONSECUTIVE) if is_load else LdsOrder.CONSECUTIVE


def banks_of(width: int, order: LdsOrder) -> int:
    """Return how many banks serve an access of a width in bytes a lane."""
    return 2 * BANKS if order is LdsOrder.GFX950_LOAD and width in (8, 16) else BANKS


def groups_of(width: int, order: LdsOrder) -> tuple[int, ...]:
    """Return the lanes of half a wave that a cycle serves together, as masks."""
    lanes = lanes_per_cycle(width)
    if order is not LdsOrder.CONSECUTIVE and width > 8:
        return PAIRED if banks_of(width, order) > BANKS else QUARTERS
    lanes = lanes * banks_of(width, order) // BANKS
    return tuple((1 << lanes) - 1 << first for first in range(0, _HALF, lanes))


@dataclass(frozen=True, slots=True)
class LdsCycles:
    """Cycles for which an access keeps LDS busy. conflicts: those of them due to bank conflicts."""

    cycles: int
    conflicts: int


def lanes_per_cycle(width: int) -> int:
    """Return how many lanes one cycle serves without conflicts, for 1 to 16 bytes a lane."""
    for most, lanes in _LANES_PER_CYCLE:
        if 0 < width <= most:
            return lanes
    raise ValueError(f"no access to LDS takes {width} bytes a lane")


def bank_cycles(
    addresses: Sequence[int | None],
    width: int,
    *,
    atomic: bool = False,
    order: LdsOrder = LdsOrder.CONSECUTIVE,
) -> LdsCycles:
    """Return the cycles of one access of a wave.

    addresses: of each lane, in bytes, None where a lane is inactive. width: bytes a lane, 1 to 16.
    """
    banks = banks_of(width, order)
    halves = [addresses[first : first + _HALF] for first in range(0, len(addresses), _HALF)]
    groups = (
        [address for lane, address in enumerate(half) if group >> lane & 1]
        for half in halves
        for group in groups_of(width, order)
    )
    taken = [_group_cycles(_dwords(group, width), atomic, banks) for group in groups]
    cycles = sum(taken)
    return LdsCycles(cycles, cycles - sum(1 for group in taken if group))


def _dwords(addresses: Iterable[int | None], width: int) -> list[int]:
    """Return the dwords that each active lane needs, one lane after the other."""
    return [
        dword
        for address in addresses
        if address is not None
        for dword in range(address // BANK_BYTES, (address + width - 1) // BANK_BYTES + 1)
    ]


def _group_cycles(dwords: list[int], atomic: bool, banks: int) -> int:
    served = dwords if atomic else set(dwords)
    return max(Counter(dword % banks for dword in served).values(), default=0)
