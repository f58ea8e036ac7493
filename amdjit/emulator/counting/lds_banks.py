"""How many cycles an access to LDS takes, by the banks that its lanes touch.

The rule, for 32 banks of 4 bytes (rocprofiler-compute: 32 banks a compute unit of gfx1201), each of
which delivers one dword a cycle:

- A cycle serves a group of consecutive lanes, as many as take 128 bytes: 32 lanes of up to 4 bytes,
  16 of 8, 8 of 12 or 16 (AMD, rocm-libraries, rocRoller LDSBankModel: threads per clock). gfx942
  and gfx950 group the lanes of ds_read_b128 otherwise (AMD, "Avoiding LDS bank conflicts"); for
  RDNA nothing is published: an assumption.
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
from dataclasses import dataclass

__all__ = ["BANKS", "BANK_BYTES", "LdsCycles", "bank_cycles", "lanes_per_cycle"]

BANKS = 32
BANK_BYTES = 4

# (bytes of a lane at most, lanes that are served together): wider accesses are served in parts of
# the wave, so that a part asks each bank for one dword if there are no conflicts.
_LANES_PER_CYCLE = ((4, 32), (8, 16), (16, 8))


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


def bank_cycles(addresses: Sequence[int | None], width: int, *, atomic: bool = False) -> LdsCycles:
    """Return the cycles of one access of a wave.

    addresses: of each lane, in bytes, None where a lane is inactive. width: bytes a lane, 1 to 16.
    """
    lanes = lanes_per_cycle(width)
    groups = (addresses[first : first + lanes] for first in range(0, len(addresses), lanes))
    taken = [_group_cycles(_dwords(group, width), atomic) for group in groups]
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


def _group_cycles(dwords: list[int], atomic: bool) -> int:
    served = dwords if atomic else set(dwords)
    return max(Counter(dword % BANKS for dword in served).values(), default=0)
