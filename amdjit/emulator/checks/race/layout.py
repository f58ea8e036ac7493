"""The memory of the race check: fields, planes, bits."""

from __future__ import annotations

from enum import IntEnum

# Intervals whose wave is remembered. An access that is older counts as ordered before everything.
RING_ENTRIES = 1 << 20


class Race(IntEnum):
    """What the race check of one launch works with."""

    TIME = 0  # the last interval that was given
    FIRST = 1  # the launch's first interval
    GROUPS = 2  # the resident workgroups, by slot
    INTERLEAVED = 3  # whether there are several
    RING = 4  # which wave had each of the last RING_ENTRIES intervals
    WAVE_COUNT = 5  # waves of the launch
    FENCES = 6  # when each wave last waited for its stores
    ATOMICS = 7  # when each wave last did an atomic
    HORIZONS = 8  # each group's last barrier before its last atomic
    TABLE_MASK = 9
    SHADOWS = 10  # rows of each allocation's start, end and shadow
    SHADOW_COUNT = 11
    SITES = 12  # the row last used at each site
    LDS_PLANE = 13
    WGP = 14
    GRID_X = 15
    GRID_Y = 16
    # When each wave last released to the device before an atomic of its own or, with a barrier in
    # between, of another wave.
    RELEASES = 17
    RELEASED_HORIZONS = 18  # each group's last barrier before a release and an atomic after it
    PASSED = 19  # when each wave last released to the device before a barrier
    FIELDS = 24


class Group(IntEnum):
    """A resident workgroup."""

    NUMBER = 0
    EPOCH = 1
    START = 2  # its first interval
    # The interval from which on all are its own, as they are if workgroups run one after the other.
    OWN_START = 3
    BARRIER = 4  # the last interval before its last barrier
    CLEAN = 5  # the same for the last barrier at which no wave had stores in flight
    SEEN = 6  # what all its waves have seen of other groups
    WAVES = 7
    LDS_SHADOW = 8
    CLOCKS = 9  # what named barriers have ordered (`barriers.py`)
    SEEN_AGENT = 10  # what they have also acquired
    IN_FLIGHT = 11  # accesses that may be in flight at a barrier (`in_flight_accesses.py`)
    HORIZON = 12  # the last barrier before a release that came before BARRIER
    FIELDS = 16


class Wave(IntEnum):
    """One wave of a resident workgroup, whose `Group` is at GROUP."""

    EPOCH = 0
    INTERVAL = 1
    SEEN = 2  # the last atomic of others that it has seen
    SEEN_AGENT = 3  # the last one that it has also acquired
    RELEASED = 4
    DIRTY = 5
    NUMBER = 6
    GROUP = 7
    WAITED = 8  # the named barrier for which it has waited, until what that orders is noted
    # Its last interval before it signalled the workgroup's barrier, if it has accesses between the
    # signal and the wait; else 0.
    SPLIT = 9
    ISSUED = 10  # instructions that it has issued on each of two wait counters
    LANDED = 12  # how many of these are complete
    KEPT = 14  # its accesses in the ring at the group's IN_FLIGHT
    SIGNALS = 15  # barriers that it has signalled (`in_flight_accesses.py`)
    ORDERED = 16  # the interval that began when something last ordered the wave's lanes
    RELEASE = 17  # when it last released to the device
    HORIZON = 18  # the group's last barrier before that
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
