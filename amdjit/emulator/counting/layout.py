"""The memory of a counted launch: what Python and native code share.

Each host thread has an area of 64-bit fields: a header, the cursor of the waves that are not
recorded, a table for the cycles of LDS, and the counters as `plan.CountingPlan` numbers them.

What recorded waves do goes into streams: the numbers of blocks, requests, and cache lines. A stream
is a pool of chunks that all waves take from, so that a wave needs as many as it fills.
"""

from __future__ import annotations

from amdjit.emulator.layout import Field

__all__ = [
    "ACCESS_ROW",
    "ADDRESSES",
    "ADDRESSES_AT",
    "BLOCKS",
    "CHUNK_BYTES",
    "CURSOR_ROW",
    "DIRECTORY",
    "FIRST_COUNTER",
    "IN_LDS",
    "IN_UPPER_HALF",
    "IS_ATOMIC",
    "LDS_UNITS",
    "LINES",
    "LINE_BITS",
    "LINE_BYTES",
    "ORDER_SHIFT",
    "PLACE_ROW",
    "POOL_ROW",
    "REGION_BITS",
    "REGION_LINES",
    "REQUESTS",
    "REQUEST_FIELDS",
    "SEEN_AT",
    "STREAMS",
    "STREAM_ROW",
    "UNRECORDED_AT",
    "AccessField",
    "Cursor",
    "Header",
    "Place",
    "Pool",
    "Stream",
]

# Cache lines have 128 bytes (LLVM, AMDGPUTargetTransformInfo.h, `getCacheLineSize`).
LINE_BITS = 7
LINE_BYTES = 1 << LINE_BITS


# Of `TouchedLines`: a region's addresses and lines, and how many regions there are below 2**47.
REGION_BITS = 32
REGION_LINES = 1 << REGION_BITS - LINE_BITS
DIRECTORY = 1 << 47 - REGION_BITS


class AccessField(Field):
    """The counters of a memory instruction; `profiling.counts.Counts` says what they mean."""

    REQUESTS = 0
    BYTES = 1, "i64", "bytes"
    CACHE_LINES = 2, "i64", "lines"
    LDS_CYCLES = 3, "i64", "cycles"
    LDS_CONFLICT_CYCLES = 4, "i64", "cycles"
    CONTENTION = 5, "i64", "lanes"
    FIELDS = 8


ACCESS_ROW = int(AccessField.FIELDS)


class Header(Field):
    """The start of a thread's area. Workgroups whose number is a multiple of STRIDE are recorded,
    the first SAMPLED of them."""

    STRIDE = 0, "i64", "workgroups"
    SAMPLED = 1, "i64", "workgroups"
    CURSORS = 2, "ptr"  # of their waves
    STAMP = 3  # the last one given to a table
    TOUCHED = 4, "ptr"  # the directory of `TouchedLines`
    FIELDS = 8


class Stream(Field):
    """Where a wave writes next, where its chunk ends, and the chunk's number, -1 for none."""

    NEXT = 0, "ptr"
    END = 1, "ptr"
    CHUNK = 2
    FIELDS = 3


STREAM_ROW = int(Stream.FIELDS)
# The numbers of the streams: blocks (i32), requests (4 of i32: active lanes, bytes, cycles of LDS,
# lines), numbers of cache lines (i64).
BLOCKS, REQUESTS, LINES = STREAMS = range(3)
REQUEST_FIELDS = 4


class Cursor(Field):
    """Where a wave is recorded."""

    # Bytes from the number of a block to the next one, 0 for a wave that is not recorded.
    STEP = 0, "i64", "bytes"
    POOLS = 1, "ptr"
    OWNER = 2  # the number of the wave in the sample
    NOTHING = 3  # takes what is not recorded
    STREAMS = 4  # three rows of `Stream`
    FIELDS = 16


CURSOR_ROW = int(Cursor.FIELDS)


class Pool(Field):
    """The chunks of a stream."""

    TAKEN = 0, "i64", "chunks"  # how many have owners
    CHUNKS = 1, "i64", "chunks"
    START = 2, "ptr"
    SIZE = 3, "i64", "bytes"  # of each
    SLACK = 4, "i64", "bytes"  # bytes at a chunk's end that are used without a question for room
    # OWNERS, FILLED: for each chunk the wave that has taken it, and its bytes.
    OWNERS = 5, "ptr"
    FILLED = 6, "ptr"
    FIELDS = 8


POOL_ROW = int(Pool.FIELDS)
# One access touches at most 64 places of 32 lanes, and two lines for each.
CHUNK_BYTES = 1 << 16


class Place(Field):
    """One access of a half wave: 32 addresses, then these."""

    ADDRESSES = 0
    LANES = 32, "i32"
    SIZE = 33, "i64", "bytes"  # bytes of a lane
    FLAGS = 34  # below
    # 2 for two places in LDS that are the same number of dwords apart for all lanes, else 1: then
    # both have the same conflicts.
    TIMES = 35
    FIELDS = 40


PLACE_ROW = int(Place.FIELDS)
IN_LDS, IS_ATOMIC, IN_UPPER_HALF = 1, 2, 4
# From here on, the `LdsOrder` of an access of LDS.
ORDER_SHIFT = 3

# A power of two above the dwords of the largest LDS, gfx950's 160 KiB; each has a stamp that says
# which group of lanes needs it.
LDS_UNITS = 1 << 16
# The addresses of an atomic, each with a stamp that says which access it is of: a hash table with
# more places than any access has lanes.
ADDRESSES = 1 << 10
UNRECORDED_AT = int(Header.FIELDS)
SEEN_AT = UNRECORDED_AT + CURSOR_ROW
ADDRESSES_AT = SEEN_AT + LDS_UNITS
FIRST_COUNTER = ADDRESSES_AT + 2 * ADDRESSES
