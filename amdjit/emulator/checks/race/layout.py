"""The memory of the race check: fields, planes, bits."""

from __future__ import annotations

from enum import IntEnum

RING_ENTRIES = 1 << 20


class Race(IntEnum):
    """What the race check of one launch works with.

    SHADOWS: rows of each allocation's start, end and shadow. SITES: the row last used at each site.
    FIRST: the launch's first interval. FENCES, ATOMICS: when each wave last waited for its stores,
    and last did an atomic; HORIZONS: each group's last barrier before its last atomic, and
    RELEASES: when each wave last released to the device before an atomic of its own, or, with a
    barrier in between, of another wave; PASSED: when it last did before a barrier; and
    RELEASED_HORIZONS: each group's last barrier before a release and an atomic after it. GROUPS:
    the resident workgroups, by slot. INTERLEAVED: whether there are several.
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
    RELEASES = 17
    RELEASED_HORIZONS = 18
    PASSED = 19
    FIELDS = 24


class Group(IntEnum):
    """A resident workgroup.

    START: its first interval. OWN_START: the interval from which on all are its own, as they are if
    workgroups run one after the other. BARRIER: the last interval before its last barrier; CLEAN:
    the same for the last barrier at which no wave had stores in flight. SEEN, SEEN_AGENT: what
    all its waves have seen and acquired of other groups. CLOCKS: what named barriers have ordered
    (`barriers.py`). HORIZON: the last barrier before a release that came before BARRIER. IN_FLIGHT:
    accesses that may be under way at a barrier (`in_flight_accesses.py`).
    """

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
    SEEN_AGENT = 10
    IN_FLIGHT = 11
    HORIZON = 12
    FIELDS = 16


class Wave(IntEnum):
    """One wave of a resident workgroup, whose `Group` is at GROUP.

    SEEN: the last atomic of others that it has seen; SEEN_AGENT: that it has also acquired. WAITED:
    the named barrier for which it has waited, until what that orders is noted. SPLIT: its last
    interval before it signalled the workgroup's barrier, if it has accesses between the signal and
    the wait; else 0. ISSUED, LANDED: how many instructions on each of two wait counters; KEPT: the
    accesses in the ring at the group's IN_FLIGHT; SIGNALS: of barriers (`in_flight_accesses.py`).
    ORDERED: the interval that began when something last ordered the wave's lanes. RELEASE, HORIZON:
    when it last released to the device, and the group's last barrier before that.
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
    ISSUED = 10
    LANDED = 12
    KEPT = 14
    SIGNALS = 15
    ORDERED = 16
    RELEASE = 17
    HORIZON = 18
    FIELDS = 24


class Summary(IntEnum):
    """The head of a shadow, before its planes: when any of its dwords was last stored to, read, or
    used atomically.

    Most accesses are the first since the last barrier, or their array is only read or only written:
    then the tags need not be compared.
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
# MAYBE_ATOMIC: a store that may be a plain one or an atomic one. IN_FLIGHT: an access from before
# a barrier that did not wait for it.
SCOPE_BITS, READS_ONLY, MAYBE_ATOMIC, IN_FLIGHT = 3, 4, 8, 16
DEVICE_SCOPE = 2
# MAYBE_ATOMIC and IN_FLIGHT in a tag.
MAYBE_BIT, IN_FLIGHT_BIT = 6, 7
