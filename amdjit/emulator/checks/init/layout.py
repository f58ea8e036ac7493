"""The memory that host code and Python share while a launch is checked for undefined values."""

from __future__ import annotations

from enum import IntEnum

# A wave's shadow registers: two lane masks for each vector register (low half, high half), 32 bits
# for each scalar one; then the vector registers of a wave64's upper 32 lanes.
VECTOR_BYTES = 8
SCALARS_AT = 256 * VECTOR_BYTES
UPPER_AT = SCALARS_AT + 128 * 4
WAVE_BYTES = UPPER_AT + 256 * VECTOR_BYTES
# A byte of shadow for each dword of memory; bit n is set where byte n has not been written.
UNDEFINED = 0x0F
# How many bytes host code may access after the last byte of shadow that it needs.
PADDING = 64


class Shadows(IntEnum):
    """What one host thread works with: addresses of its shadows, and of the allocations and theirs.

    LDS_STRIDE, LDS_BYTES: the distance between the LDS shadows of two resident workgroups, and the
    part of it in use. ANY: not 0 if some device memory is undefined. CLEAN: for each resident
    workgroup, not 0 when all its LDS is written. LOOKS: counts loads from LDS, because all of it is
    not searched each time. SEEN: not 0 if a load may have returned something undefined in this
    launch. SERIALS: for each resident workgroup, a number that no other has had; it changes when
    something undefined is stored to LDS. KNOWN: accesses of LDS that were found to be defined.
    """

    RANGES = 0
    TABLE = 1
    TABLE_COUNT = 2
    LDS = 3
    LDS_BYTES = 4
    SCRATCH = 5
    SCRATCH_BYTES = 6
    REGISTERS = 7
    WAVES = 8
    LDS_STRIDE = 9
    ANY = 10
    CLEAN = 11
    LOOKS = 12
    SEEN = 13
    SERIALS = 14
    NEXT_SERIAL = 15
    KNOWN = 16
    FIELDS = 17


# A row of the ranges: first address, size and shadow of the allocation last accessed at a site; and
# one unused field.
RANGE_ROW = 4
# Rows of what is known about LDS: a power of two. Each has a hash of an access and the workgroup's
# serial, 64 bits each.
KNOWN_ROWS = 1024
# A row of the table of allocations: start, end, shadow or 0 if all of it is defined.
TABLE_ROW = 3
