"""The memory of a counted launch: what Python and native code share.

Each host thread has an area of 64-bit fields: a header, a cursor for the waves that are not
recorded, and the counters as `plan.CountingPlan` numbers them.
"""

from __future__ import annotations

from amdjit.emulator.layout import Field

__all__ = ["ACCESS_ROW", "FIRST_COUNTER", "LINE_BITS", "LINE_BYTES", "AccessField"]

# Cache lines have 128 bytes (LLVM, AMDGPUTargetTransformInfo.h, `getCacheLineSize`).
LINE_BITS = 7
LINE_BYTES = 1 << LINE_BITS


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
FIRST_COUNTER = 0
