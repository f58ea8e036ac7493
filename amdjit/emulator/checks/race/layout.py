"""The memory of the race check: fields, planes, bits."""

from __future__ import annotations

from enum import IntEnum

RING_ENTRIES = 1 << 20


class Race(IntEnum):
    """What the race check of one launch works with.

    SHADOWS: rows of an allocation's start, end, shadow. SITES: the row last met at each site.
    FIRST: the launch's first interval. FENCES, ATOMICS: when each wave last waited for its stores,
    last did an atomic; HORIZONS: each group's last barrier before such. GROUPS: the workgroups that
    are resident, by slot. INTERLEAVED: whether several are.
    """

    TIME = 0
    FIRST = 1
    GROUPS = 2
    INTERLEAVED = 3
    RING = 4
    WAVE_COUNT = 5
    FENCES = 6
    ATOMICS = 7
    HORIZONS = 8
    TABLE_MASK = 9
    SHADOWS = 10
    SHADOW_COUNT = 11
    SITES = 12
    LDS_PLANE = 13
    WGP = 14
    GRID_X = 15
    GRID_Y = 16
    FIELDS = 24


class Group(IntEnum):
    """A resident workgroup. START: its first interval, and OWN_START the first from which all are
    its own, as they are where workgroups run one after the other. BARRIER: the last interval before
    its last barrier; CLEAN: the same of the last barrier at which no wave had stores in flight.
    SEEN: what all its waves have seen of other groups. CLOCKS: what named barriers have ordered
    (`race_barriers.py`)."""

    NUMBER = 0
    EPOCH = 1
    START = 2
    OWN_START = 3
    BARRIER = 4
    CLEAN = 5
    SEEN = 6
    WAVES = 7
    LDS_SHADOW = 8
    CLOCKS = 9
    FIELDS = 16


class Wave(IntEnum):
    """One wave of a resident workgroup, whose `Group` is at GROUP.

    SEEN: the last atomic of others that it saw, SEEN_AGENT: and acquired. WAITED: the named barrier
    that it has waited for, until what that orders is noted. SPLIT: its last interval before it
    signalled the workgroup's barrier, where it has accesses between that and the wait; else 0.
    """

    EPOCH = 0
    INTERVAL = 1
    SEEN = 2
    SEEN_AGENT = 3
    RELEASED = 4
    DIRTY = 5
    NUMBER = 6
    GROUP = 7
    WAITED = 8
    SPLIT = 9
    FIELDS = 16


class Summary(IntEnum):
    """The head of a shadow, in front of its planes: when any of its dwords was last stored to,
    read, used atomically.

    Most accesses come behind the last barrier, or meet an array that is only read or only written:
    then the tags need not be looked at.
    """

    STORED = 0
    READ = 1
    ATOMIC = 2
    FIELDS = 8


class Plane(IntEnum):
    """The planes of a shadow, in order."""

    WRITER = 0
    READER = 1
    EARLIER_READER = 2
    ATOMIC = 3
    CLOCK = 4
    COUNT = 5


SHADOW_ROW = 4
# Bits of `flags`: the scope of the instruction (RDNA 4 ISA, 4.1.1: CU, SE, device, system), and
# what an atomic does.
SCOPE_BITS, READS_ONLY = 3, 4
DEVICE_SCOPE = 2
