"""The memory that host code and Python share while a launch is checked for undefined values."""

from __future__ import annotations

from amdjit.emulator.layout import Field
from amdjit.isa.register_numbers import FIRST_AGPR, HALF_VGPRS

# A wave's shadow registers: two lane masks for each vector register (low half, high half), 32 bits
# for each scalar one; then the vector registers of a wave64's upper 32 lanes.
VECTOR_BYTES = 8
VECTORS = FIRST_AGPR + HALF_VGPRS
SCALARS_AT = VECTORS * VECTOR_BYTES
UPPER_AT = SCALARS_AT + 128 * 4
WAVE_BYTES = UPPER_AT + VECTORS * VECTOR_BYTES
# A byte of shadow for each dword of memory; bit n is set where byte n has not been written.
UNDEFINED = 0x0F
# How many bytes host code may access after the last byte of shadow that it needs.
PADDING = 64


class Shadows(Field):
    """What one host thread works with: addresses of its shadows, and of the allocations and theirs.

    LDS_STRIDE, LDS_BYTES: the distance between the LDS shadows of two resident workgroups, and the
    part of it in use. ANY: not 0 if some device memory is undefined. CLEAN: for each resident
    workgroup, not 0 when all its LDS is written. LOOKS: counts loads from LDS, because all of it is
    not searched each time. SEEN: not 0 if a load may have returned something undefined in this
    launch. SERIALS: for each resident workgroup, a number that no other has had; it changes when
    something undefined is stored to LDS. KNOWN: accesses of LDS that were found to be defined.
    """

    RANGES = 0, "ptr"
    TABLE = 1, "ptr"
    TABLE_COUNT = 2, "i64", "rows"
    LDS = 3, "ptr"
    LDS_BYTES = 4, "i64", "bytes"
    SCRATCH = 5, "ptr"
    SCRATCH_BYTES = 6, "i64", "bytes"
    REGISTERS = 7, "ptr"
    WAVES = 8, "i64", "waves of a workgroup"
    LDS_STRIDE = 9, "i64", "bytes"
    ANY = 10
    CLEAN = 11, "ptr"
    LOOKS = 12, "i64", "loads"
    SEEN = 13
    SERIALS = 14, "ptr"
    NEXT_SERIAL = 15
    KNOWN = 16, "ptr"
    FIELDS = 17


class ShadowRange(Field):
    """A row of the ranges: the allocation that a site met last, and its shadow."""

    FIRST = 0, "i64", "address"
    SIZE = 1, "i64", "bytes"
    SHADOW = 2, "i64", "address"
    FIELDS = 4


class ShadowedAllocation(Field):
    """A row of the table of allocations. END is one past the last address; SHADOW is 0 where all of
    the allocation is defined."""

    START = 0, "i64", "address"
    END = 1, "i64", "address"
    SHADOW = 2, "i64", "address"
    FIELDS = 3


class KnownAccess(Field):
    """A row of what is known of LDS: a hash of an access, and the workgroup's serial."""

    ACCESS = 0
    SERIAL = 1
    FIELDS = 2


RANGE_ROW = int(ShadowRange.FIELDS)
TABLE_ROW = int(ShadowedAllocation.FIELDS)
# Rows of what is known of LDS: a power of two.
KNOWN_ROWS = 1024
