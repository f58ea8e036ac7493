"""The records that the host code of the cycle model shares with Python."""

from __future__ import annotations

from enum import IntEnum

from amdjit.emulator.layout import Field

# Times of the memory system are in ticks, so that bandwidths need not be whole cycles a line.
TICKS = 256


# Wave slots of a workgroup processor: 16 of each of 4 SIMDs (RDNA 4 ISA, 2.1).
SIMDS = 4
SLOTS_A_SIMD = 16
SLOTS = SIMDS * SLOTS_A_SIMD
# In the table of what comes next: the cycle times `SLOTS`, plus the slot.
NEVER = 1 << 62
# Ends of operations that count on a wait counter are kept for the last so many of them.
RING = 64


class Simulation(Field):
    """One simulation. STEPS, REGISTERS, WAITS: of the `ProgramTable`. PARAMETERS: by number.
    MEMORY: the memory system, null if latencies are given. REQUESTS, KEYS: rows of the recording,
    and the keys of its lines. WAVES: rows of `Wave`, WAVE_COUNT of them. GROUPS: rows of `Group`,
    in the order in which they start, of which NEXT_GROUP is the next. UNITS: what the SIMDs' units
    are busy with. NEXT: for each slot, when its wave does something. SLOTS: the wave of each slot.
    """

    STEPS = 0, "ptr"
    REGISTERS = 1, "ptr"
    WAITS = 2, "ptr"
    PARAMETERS = 3, "ptr"
    MEMORY = 4, "ptr"
    REQUESTS = 5, "ptr"
    KEYS = 6, "ptr"
    WAVES = 7, "ptr"
    WAVE_COUNT = 8
    GROUPS = 9, "ptr"
    GROUP_COUNT = 10
    NEXT_GROUP = 11
    UNITS = 12, "ptr"
    NEXT = 13, "ptr"
    SLOTS = 14, "ptr"
    FIELDS = 15


class Cache(Field):
    """A cache: its tags are rows of WAYS keys, the most recent one first; -1 is none."""

    SETS = 0
    WAYS = 1
    TAGS = 2, "ptr"
    FIELDS = 3


class Access(IntEnum):
    """What a request asks of the memory system. ATOMIC: one that returns the old value."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    SCALAR = 3


class Memory(Field):
    """The memory system of a workgroup processor.

    *_CACHE: of the two compute units' vector memory, of scalar loads, and its share of L2.
    *_LATENCY, *_COST: ticks until a line is there, ticks that one takes of the bandwidth; FAR is
    what is behind L2. *_BUSY: the tick until which earlier lines take the bandwidth.
    """

    VECTOR_CACHE = 0
    OTHER_VECTOR_CACHE = 3
    SCALAR_CACHE = 6
    L2_CACHE = 9
    VECTOR_LATENCY = 12, "i64", "ticks"
    SCALAR_LATENCY = 13, "i64", "ticks"
    L2_LATENCY = 14, "i64", "ticks"
    FAR_LATENCY = 15, "i64", "ticks"
    VECTOR_COST = 16, "i64", "ticks"
    SCALAR_COST = 17, "i64", "ticks"
    L2_COST = 18, "i64", "ticks"
    FAR_COST = 19, "i64", "ticks"
    VECTOR_BUSY = 20, "i64", "ticks"
    OTHER_VECTOR_BUSY = 21, "i64", "ticks"
    SCALAR_BUSY = 22, "i64", "ticks"
    L2_BUSY = 23, "i64", "ticks"
    FAR_BUSY = 24, "i64", "ticks"
    L2_LINES = 25, "i64", "lines"
    FAR_LINES = 26, "i64", "lines"
    FIELDS = 27
