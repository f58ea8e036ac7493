"""How code with the option `local_checks` tells the emulator of an index outside of a local array
or of a vector, which may be in registers.

It loads a byte of private memory that no work-item has: at `OUTSIDE`, plus the index.
"""

from __future__ import annotations

OUTSIDE = 0x60000000
# Indices are limited to this many bits, with a sign.
INDEX_BITS = 28


def index_at(address: int) -> int | None:
    """Return the index that an address stands for, None if it is another one."""
    index = address - OUTSIDE
    return index if abs(index) < 1 << INDEX_BITS else None
