"""The memory that host code and Python share while a launch is checked for undefined values."""

from __future__ import annotations

from enum import IntEnum

# A wave's shadow registers: two lane masks for each vector register (low half, high half), 32 bits for each scalar one.
VECTOR_BYTES = 8
SCALARS_AT = 256 * VECTOR_BYTES
WAVE_BYTES = SCALARS_AT + 128 * 4
# A byte of shadow for each dword of memory; bit n is set where byte n has not been written.
UNDEFINED = 0x0F
# Host code reads and writes so far behind the last byte of shadow that it needs.
PADDING = 64


class Shadows(IntEnum):
    """What one host thread works with: addresses of its shadows, and of the allocations and theirs."""

    RANGES = 0
    TABLE = 1
    TABLE_COUNT = 2
    LDS = 3
    LDS_BYTES = 4
    SCRATCH = 5
    SCRATCH_BYTES = 6
    REGISTERS = 7
    WAVES = 8
    FIELDS = 9


# A row of the ranges: first address of the allocation last met at a site, its size, its shadow; and one unused field.
RANGE_ROW = 4
# A row of the table of allocations: start, end, shadow or 0 where all of it is defined.
TABLE_ROW = 3
