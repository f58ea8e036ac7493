"""The memory that Python and the generated host code share: arrays of 64-bit fields, addressed by
these indices."""

from __future__ import annotations

from enum import IntEnum

FIELD_BYTES = 8

# The dwords of a wave's scalar state are numbered as the ISA encodes scalar operands (RDNA 4 ISA,
# section 3.3, "SGPR operand encodings"), so that an operand's code is its index. SCC has no code of
# its own: 124 is `null`.
SCALAR_SLOTS = 144
VCC_LO, VCC_HI, TTMP_FIRST, SCC_SLOT, M0, EXEC_LO, EXEC_HI = 106, 107, 108, 124, 125, 126, 127
TTMP7, TTMP8, TTMP9 = 115, 116, 117
# MODE has no such code; it is kept behind them where a kernel does not always know it.
MODE_SLOT = 128
# What barriers keep of a wave (`native/barriers.py`): how often the workgroup's barrier had
# completed when it waited last, and that number + 1 when it signalled last; whether the named
# barrier that it has joined has completed, which one that is (its number + 1), and the ones that it
# has signalled since they last completed; the site where it ended.
WAITED_SLOT, SIGNALLED_SLOT = 129, 130
NAMED_COMPLETE_SLOT, JOINED_SLOT, NAMED_SIGNALLED_SLOT, END_SITE_SLOT = 131, 132, 133, 134
SCALAR_BYTES = SCALAR_SLOTS * 4
# A wave64 is two halves of 32 lanes, the lower and the upper one, as the hardware works on them
# (RDNA 4 ISA, 2.1). Each has a vector of 32 dwords for every VGPR; those of the upper half stand
# behind all of the lower one's.
HALF_LANES = 32
VGPR_BYTES = HALF_LANES * 4
HALF_VGPRS = 256

# The high dwords of the flat apertures. They are no canonical x86-64 or AArch64 user addresses, so
# host memory is never mistaken for them (LLVM AMDGPU guide, "Address Spaces": apertures are 4 GiB,
# 4 GiB aligned).
SHARED_APERTURE_HIGH = 0x01000000
PRIVATE_APERTURE_HIGH = 0x02000000


class Context(IntEnum):
    """What one host thread knows while it runs a launch."""

    LAUNCH = 0
    TABLE = 1
    TABLE_COUNT = 2
    SITES = 3
    LDS = 4
    LDS_SIZE = 5
    SCRATCH = 6
    SCRATCH_LANE_BYTES = 7
    STATES = 8
    RESUMES = 9
    GROUP_X = 10
    GROUP_Y = 11
    GROUP_Z = 12
    WAVE = 13
    LOAD_BIAS = 14
    SCRATCH_ALL = 15
    LANE_BASE = 16
    # Another one for each workgroup and each part of it between two barriers; EPOCHS is how many
    # there were.
    EPOCH = 17
    # What the access in hand adds unsigned 32-bit offsets to, 0 if it does not.
    OFFSET_BASE = 18
    # The slots of the workgroups that are resident on this host thread, and the one of the
    # workgroup that runs.
    SLOTS = 19
    SLOT = 20
    RESIDENTS = 21
    LDS_ALL = 22
    LDS_STRIDE = 23
    EPOCHS = 24
    # Which of the launch's host threads it is, from 0 on.
    THREAD = 25
    # How many instructions, about, its waves may still execute until it looks at the stop flag; how
    # often it does that until it calls ATTEND, which returns that number anew. 0 where nobody wants
    # to be called.
    BUDGET = 26
    TICKS = 27
    ATTEND = 28
    FIELDS = 29


# The barriers of a workgroup: its own (number -1, at index 0) and the named ones from 1 on (LLVM's
# document "AMDGPU Execution Synchronization", "s_barrier IDs GFX12").
NAMED_BARRIERS = 16
# Of each: how many signals it has, how many it waits for, whether it was initialised; how often it
# has completed.
BARRIER_ROW = 4


class SlotField(IntEnum):
    """The workgroup that is resident in a slot of a host thread; GROUP_X is negative for none."""

    GROUP_X = 0
    GROUP_Y = 1
    GROUP_Z = 2
    EPOCH = 3
    BARRIERS = 4


SLOT_ROW = SlotField.BARRIERS + (1 + NAMED_BARRIERS) * BARRIER_ROW


class Launch(IntEnum):
    """What all threads of one launch share."""

    STOP = 0
    NEXT_GROUP = 1
    GROUPS = 2
    CHUNK = 3
    GRID_X = 4
    GRID_Y = 5
    WAVES = 6
    WAVE_FUNCTION = 7
    STATE_BYTES = 8
    SCALARS = 9
    EXECS = 10
    ITEM_IDS = 11
    FAULT = 12
    # The address of what the checks of this launch work with (`Sanitizer`), 0 if there are none.
    SANITIZER = 13
    # The program of `aj_threaded32` or `aj_threaded64`; not 0 when WAVE_FUNCTION is no longer what
    # it was.
    PROGRAM = 14
    CHANGED = 15
    FIELDS = 16


class Fault(IntEnum):
    """The first fault of a launch."""

    CLAIMED = 0
    KIND = 1
    SITE = 2
    LANE = 3
    ADDRESS = 4
    GROUP_X = 5
    GROUP_Y = 6
    GROUP_Z = 7
    WAVE = 8
    SIZE = 9
    BASE = 10
    THREAD = 11
    SLOT = 12
    FIELDS = 13


class FaultKind(IntEnum):
    """What went wrong."""

    GLOBAL_LOAD = 1
    GLOBAL_STORE = 2
    LDS = 3
    SCRATCH = 4
    SCALAR_LOAD = 5
    TRAP = 6
    TIME_LIMIT = 7
    WILD_BRANCH = 9
    MISALIGNED = 10
    BUFFER = 11
    MODE = 12
    # An instruction of a barrier, or a wave's end, whose effect nobody documents: the address is a
    # `BarrierMisuse`.
    BARRIER_MISUSE = 13
    # All waves of a workgroup wait, and none can go on.
    DEADLOCK = 14
    # An instruction that needs all lanes of its wave, while some are inactive.
    PARTIAL_WAVE = 15


class BufferRefusal(IntEnum):
    """What a buffer access asks for that no document settles, or forbids; in the address of a fault
    of kind BUFFER."""

    TYPE = 1
    UNBOUND = 2
    SWIZZLE = 3
    ELEMENT = 4
    STRIDE = 5
    RAW_INDEX = 6
    SWIZZLED_OFFSET = 7
    COMPRESSED = 8
    SELECT = 9
    VALUE = 10
    SCALED = 11


class BarrierMisuse(IntEnum):
    """What is wrong with the use of a barrier, whose number is in place of the access's size."""

    NO_SUCH = 1
    NOT_INITIALISED = 2
    NO_COUNT = 3
    COUNT_REACHED = 4
    NO_MEMBERS = 5
    WAIT_NOT_JOINED = 6
    LEAVE_NOT_JOINED = 7
    LEAVE_SIGNALLED = 8
    WAIT_FOR_NULL = 9
    ENDED_SIGNALLED = 10
    NO_STATE = 11


class Stop(IntEnum):
    """Values of the stop flag."""

    RUN = 0
    FAULT = 1
    INTERRUPT = 2
    TIME_LIMIT = 3


# What BUDGET starts with each time: some 50 us of arithmetic, some milliseconds of slow
# instructions.
TICK_INSTRUCTIONS = 1 << 16
# The driver counts so many for each time that it calls a wave.
CALL_INSTRUCTIONS = 64

# A row of the allocation table: first address, one past the last, writable; three 64-bit fields.
TABLE_ROW = 3
# A row of the site cache: first address of the allocation last met there, its size; two 64-bit
# fields.
SITE_ROW = 2


def state_bytes(wave_size: int) -> int:
    """Return the size of a wave's state: its scalars, then its vector registers."""
    return SCALAR_BYTES + wave_size // HALF_LANES * HALF_VGPRS * VGPR_BYTES


# Results of the wave function. Positive: waits at the barrier of that id.
WAVE_ENDED = 0
WAVE_STOPPED = -1
# A wave that polls gives way: bit 30 is set, the low bits are the resume id. Bit 29 is set as well
# if nothing in its registers has changed since it gave way there before, or if it sleeps: it waits
# for another wave.
WAVE_YIELDED = 1 << 30
WAVE_WAITS = 1 << 29
# It waits at a named barrier. At the workgroup's: it signals that at the same time.
WAVE_NAMED, WAVE_ARRIVES = 1 << 28, 1 << 27


class Sanitizer(IntEnum):
    """What the checks of one launch share. ROWS: the reports, a hash table of a power of two of
    rows."""

    ROWS = 0
    ROW_MASK = 1
    LOST = 2
    SEQUENCE = 3
    RACE = 4
    INIT = 5
    SYNC = 6
    FIELDS = 8


class Report(IntEnum):
    """A row of the reports. KEY: kind, site and other site, 0 if the row is free; the rest is of
    the first find.

    OTHER_*: the second place, where the kind has one; OTHER_SITE is the number of a site, 0 for
    none.
    """

    KEY = 0
    COUNT = 1
    KIND = 2
    SITE = 3
    LANE = 4
    ADDRESS = 5
    GROUP_X = 6
    GROUP_Y = 7
    GROUP_Z = 8
    WAVE = 9
    SIZE = 10
    BASE = 11
    OTHER_SITE = 12
    OTHER_GROUP = 13
    OTHER_WAVE = 14
    OTHER_LANE = 15
    SEQUENCE = 16
    FIELDS = 24


REPORT_ROWS = 256
# The kinds of reports: below 32 those of faults (`FaultKind`), then 32 numbers for each check.
FAULT_KINDS = 0
RACE_KINDS, INIT_KINDS, SYNC_KINDS, MEMORY_KINDS = 32, 64, 96, 128
# What the driver finds of barriers: waves went on without one that has ended; waves wait at
# different ones.
SYNC_UNREACHED, SYNC_DIFFERENT = SYNC_KINDS + 1, SYNC_KINDS + 2
# What native code finds: a wave signals the workgroup's barrier twice; a barrier completes again
# before a wave waits.
SYNC_TWICE, SYNC_OVERRUN = SYNC_KINDS + 6, SYNC_KINDS + 7
