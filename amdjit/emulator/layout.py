"""The memory that Python and the generated host code share: records of 64-bit fields.

Python sees a record as an array, and a field is an index; host code reads and writes a field with
the type that its declaration has (`host/record.py`).
"""

from __future__ import annotations

from enum import IntEnum

from amdjit.isa.register_numbers import FIRST_AGPR, HALF_LANES, HALF_VGPRS

FIELD_BYTES = 8
DWORD_BYTES = 4


class Field(IntEnum):
    """A field of a record: its index, its LLVM type and its unit, if it has one."""

    type: str
    unit: str

    def __new__(cls, index: int, type_name: str = "i64", unit: str = "") -> Field:
        """Make a member of its declaration."""
        field = int.__new__(cls, index)
        field._value_ = index
        field.type = type_name
        field.unit = unit
        return field


# The dwords of a wave's scalar state have the numbers of scalar registers
# (`isa/register_numbers.py`), so that an operand's code is its index.
SCALAR_SLOTS = 144
# MODE has no such code. Its slot comes after them, for kernels that do not always know its value.
MODE_SLOT = 128
# What barriers keep of a wave (`scheduling/barriers.py`): how often the workgroup's barrier had
# completed when the wave last waited, and that number + 1 when it last signalled; whether the named
# barrier that it has joined has completed, which one that is (its number + 1), and the ones that it
# has signalled since they last completed; the site where it ended.
WAITED_SLOT, SIGNALLED_SLOT = 129, 130
NAMED_COMPLETE_SLOT, JOINED_SLOT, NAMED_SIGNALLED_SLOT, END_SITE_SLOT = 131, 132, 133, 134
# Where the wave's last shared jump goes, two dwords, and its site (`tiers/terminators.py`).
JUMP_TARGET_SLOT, JUMP_SITE_SLOT = 136, 138
# In stepped launches (`tiers/steps.py`): the rounds that were left before the wave gives way when
# it was stopped at an instruction, 0 if it was not; the number of the line that it executes.
STEP_PATIENCE_SLOT, STEP_LINE_SLOT = 135, 140
# Receives what a kernel does not ask for.
UNUSED_SLOT = 139
SCALAR_BYTES = SCALAR_SLOTS * 4
# Each half of a wave has a vector of 32 dwords for every VGPR; those of the upper half come after
# all of the lower half's.
VGPR_BYTES = HALF_LANES * 4

# The high dwords of the flat apertures. They are not canonical x86-64 or AArch64 user addresses, so
# host memory is never mistaken for them (LLVM AMDGPU guide, "Address Spaces": apertures are 4 GiB,
# 4 GiB aligned).
SHARED_APERTURE_HIGH = 0x01000000
PRIVATE_APERTURE_HIGH = 0x02000000
# What gfx9's private segment buffer, FLAT_SCRATCH and flat_scratch_init hold in place of the
# address of scratch memory: 48 bits, as buffers can hold, and no user address of a host. A wave's
# own memory begins at that address plus its wave offset (LLVM AMDGPU guide, "Flat Scratch").
SCRATCH_BASE = 0xF000 << 32


class Context(Field):
    """What one host thread knows while it runs a launch."""

    LAUNCH = 0, "ptr"  # the `Launch`, which all threads share
    TABLE = 1, "ptr"  # the device's table of allocations
    TABLE_COUNT = 2, "i64", "rows"
    SITES = 3, "ptr"  # the last allocation of each of the kernel's sites (`SiteRange`)
    LDS = 4, "ptr"  # of the workgroup that runs
    LDS_SIZE = 5, "i64", "bytes"  # of a workgroup
    SCRATCH = 6, "i64", "address"  # of the wave that runs
    SCRATCH_LANE_BYTES = 7, "i64", "bytes"  # of one lane
    STATES = 8, "ptr"  # the states of the waves of the workgroup that runs
    RESUMES = 9, "ptr"  # where each of these waves goes on, i32
    GROUP_X = 10  # the position of the workgroup in the grid
    GROUP_Y = 11
    GROUP_Z = 12
    WAVE = 13  # the number of the wave in its workgroup
    LOAD_BIAS = 14, "i64", "bytes"  # what is added to a pc of the code object to make an address
    SCRATCH_ALL = 15, "i64", "address"  # of all waves on this thread
    LANE_BASE = 16, "i64", "lanes"  # 0, or 32 in the upper half of a wave64
    # A number that no other workgroup, and no other part of it between two barriers, has on this
    # thread.
    EPOCH = 17
    # What the current access adds unsigned 32-bit offsets to, 0 if it adds none.
    OFFSET_BASE = 18, "i64", "address"
    SLOTS = 19, "ptr"  # rows of `SlotField`: the workgroups that are resident on this thread
    SLOT = 20  # the slot of the workgroup that runs
    RESIDENTS = 21, "i64", "slots"  # how many slots there are
    LDS_ALL = 22, "ptr"  # of all slots
    LDS_STRIDE = 23, "i64", "bytes"  # from one slot's LDS to the next one's
    EPOCHS = 24  # the last EPOCH that was given
    # The number of this host thread in the launch, from 0 on.
    THREAD = 25
    # About how many its waves may still execute before it looks at the stop flag.
    BUDGET = 26, "i64", "instructions"
    TICKS = 27, "i64", "budgets"  # such looks that remain before it calls CALLBACK
    # Returns the next number of TICKS; null on threads that do not call Python.
    CALLBACK = 28, "ptr"
    # Where a counted launch counts on this thread (`counting/layout.py`).
    COUNTERS = 29, "ptr"
    STEPS = 30, "ptr"  # the `tiers/steps.Steps` of a stepped launch
    FIELDS = 31


# The barriers of a workgroup: its own (number -1, at index 0) and the named ones from 1 on (LLVM's
# document "AMDGPU Execution Synchronization", "s_barrier IDs GFX12").
NAMED_BARRIERS = 16


class Barrier(Field):
    """A barrier of a workgroup: its signals, and the signals that it waits for; whether it was
    initialised, and how often it has completed."""

    SIGNALS = 0, "i64", "waves"
    MEMBERS = 1, "i64", "waves"
    INITIALISED = 2
    COMPLETED = 3, "i64", "times"
    FIELDS = 4


BARRIER_ROW = int(Barrier.FIELDS)


class SlotField(Field):
    """The workgroup that is resident in a slot of a host thread. In a vacant slot GROUP_X is
    inverted, and so negative."""

    GROUP_X = 0
    GROUP_Y = 1
    GROUP_Z = 2
    EPOCH = 3
    BARRIERS = 4


SLOT_ROW = SlotField.BARRIERS + (1 + NAMED_BARRIERS) * BARRIER_ROW


class Launch(Field):
    """What all threads of one launch share."""

    STOP = 0  # not 0 once the launch has to stop (`Stop`)
    NEXT_GROUP = 1  # the next workgroup that a thread takes
    GROUPS = 2, "i64", "workgroups"  # of the grid
    CHUNK = 3, "i64", "workgroups"  # that a thread takes at a time
    GRID_X = 4, "i64", "workgroups"  # the extent of the grid
    GRID_Y = 5, "i64", "workgroups"
    WAVES = 6, "i64", "waves of a workgroup"
    WAVE_FUNCTION = 7, "ptr"  # the host code of the kernel
    STATE_BYTES = 8, "i64", "bytes"  # of a wave's state
    SCALARS = 9, "ptr"  # what the SGPRs of each wave begin with
    EXECS = 10, "ptr"  # what EXEC of each wave of a workgroup begins with
    ITEM_IDS = 11, "ptr"  # the work-item ids that VGPRs begin with
    FAULT = 12, "ptr"  # the `Fault` record
    # What the checks of this launch work with (`Sanitizer`), null if there are none.
    SANITIZER = 13, "ptr"
    PROGRAM = 14, "ptr"  # the program of `aj_threaded32` or `aj_threaded64`
    CHANGED = 15  # not 0 once WAVE_FUNCTION is another one than at the start
    # Not 0 for a cooperative launch; the fields up to LOOKS are of such launches only
    # (`scheduling/standstill`).
    COOPERATIVE = 16
    LIVE_THREADS = 17, "i64", "threads"  # that take workgroups
    CHANGES = 18  # how often some thread has seen a change
    VOTES = 19  # the number of changes, and how many threads have seen none since
    CONFIRMATIONS = 20  # the same for threads that have confirmed it
    SWEEPS = 21, "i64", "sweeps"  # of a thread between two looks at the registers (`Patience`)
    LOOKS = 22  # with the same registers before it votes
    X_SLOT = 23, "i64", "slots"  # the slot of a wave's state that receives its workgroup's x
    Y_SLOT = 24, "i64", "slots"  # the same for y
    Z_SLOT = 25, "i64", "slots"  # the same for z
    # Receives the distance of a wave's scratch memory from that of the workgroup's first wave.
    WAVE_OFFSET_SLOT = 26, "i64", "slots"
    ITEM_BYTES = 27, "i64", "bytes"  # bytes of ITEM_IDS that each half of a wave gets
    # Answers a wave that interrupts the host, null if nobody does (`scheduling/host_calls`).
    HOST = 28, "ptr"
    FIELDS = 29


class Fault(Field):
    """The first fault of a launch."""

    CLAIMED = 0  # not 0 once a thread has the right to write the rest
    KIND = 1  # a `FaultKind`
    SITE = 2  # the number of the instruction among those that may fault
    LANE = 3  # the first lane that is at fault
    ADDRESS = 4, "i64", "address"  # of the access, or a number that the kind explains
    GROUP_X = 5  # the position of the workgroup in the grid
    GROUP_Y = 6
    GROUP_Z = 7
    WAVE = 8  # its number in the workgroup
    SIZE = 9, "i64", "bytes"  # of the access, for one lane
    BASE = 10, "i64", "address"  # what the access adds its offset to (`Context.OFFSET_BASE`), or 0
    THREAD = 11  # the host thread
    SLOT = 12  # the slot of the workgroup there
    FIELDS = 13


class FaultKind(IntEnum):
    """What went wrong."""

    GLOBAL_LOAD = 1  # outside all allocations
    GLOBAL_STORE = 2  # outside all allocations, or to read-only memory
    LDS = 3  # outside the workgroup's LDS
    SCRATCH = 4  # outside the work-item's private memory
    SCALAR_LOAD = 5  # outside all allocations
    TRAP = 6  # S_TRAP
    TIME_LIMIT = 7  # the launch took too long
    WILD_BRANCH = 9  # to an address that is no instruction of the kernel
    MISALIGNED = 10  # an address that the size of the access does not divide
    BUFFER = 11  # the address is a `BufferRefusal`
    MODE = 12  # a bit of MODE that the emulator does not support
    # An instruction of a barrier, or a wave's end, whose effect is not documented: the address is a
    # `BarrierMisuse`.
    BARRIER_MISUSE = 13
    # All waves of a workgroup wait, and none can go on.
    DEADLOCK = 14
    # An instruction that needs all lanes of its wave, of which some are inactive.
    PARTIAL_WAVE = 15
    # The workgroups of a cooperative launch wait for each other, and none can go on.
    STANDSTILL = 16
    # An instruction that has no translation (`tiers/compilation.py`).
    UNSUPPORTED = 17
    # A wave interrupts the host: nobody answers, or what it asks for is not done.
    NO_HOST = 18
    HOST_REFUSED = 19


class BufferRefusal(IntEnum):
    """What a buffer access asks for that documents forbid or leave open; the address of a fault of
    kind BUFFER. `launch/faults.py` says each in a sentence."""

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
    PRIVATE = 12
    SWIZZLED_RECORDS = 13
    FLAT_SCRATCH = 14


class BarrierMisuse(IntEnum):
    """What is wrong with the use of a barrier, whose number takes the place of the access's
    size. `launch/faults.py` says each in a sentence."""

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


# What BUDGET starts with each time: about 50 us of arithmetic, or some milliseconds of slow
# instructions.
TICK_INSTRUCTIONS = 1 << 16
# What the driver counts each time that it calls a wave.
CALL_INSTRUCTIONS = 64


class Allocation(Field):
    """A row of the allocation table, which is sorted by the first address. END is one past the
    last."""

    FIRST = 0, "i64", "address"
    END = 1, "i64", "address"
    WRITABLE = 2
    FIELDS = 3


class SiteRange(Field):
    """A row of the site cache: the allocation that a site met last."""

    FIRST = 0, "i64", "address"
    SIZE = 1, "i64", "bytes"
    FIELDS = 2


TABLE_ROW = int(Allocation.FIELDS)
SITE_ROW = int(SiteRange.FIELDS)


def state_bytes(wave_size: int, accumulates: bool) -> int:
    """Return the size of a wave's state: its scalars, then its vector registers. accumulates: there
    are accumulation VGPRs, too."""
    halves = wave_size // HALF_LANES
    vectors = FIRST_AGPR + halves * HALF_VGPRS if accumulates else halves * HALF_VGPRS
    return SCALAR_BYTES + vectors * VGPR_BYTES


# Results of the wave function. Positive: waits at the barrier of that id.
WAVE_ENDED = 0
WAVE_STOPPED = -1
# A wave that polls yields: bit 30 is set, the low bits are the resume id. Bit 29 is set as well
# if it waits for another wave: it sleeps, or its registers have not changed since it last gave way
# there.
WAVE_YIELDED = 1 << 30
WAVE_WAITS = 1 << 29
# WAVE_NAMED: it waits at a named barrier. WAVE_ARRIVES: at the workgroup's, which it signals at the
# same time.
WAVE_NAMED, WAVE_ARRIVES = 1 << 28, 1 << 27


class Sanitizer(Field):
    """What the checks of one launch share."""

    ROWS = 0, "ptr"  # rows of `Report`: a hash table
    ROW_MASK = 1  # the number of rows, a power of two, minus 1
    LOST = 2, "i64", "reports"  # that found no row
    SEQUENCE = 3, "i64", "reports"  # that have a row
    RACE = 4, "ptr"  # the race check's memory (`checks/race/layout.py`), or null
    INIT = 5, "ptr"  # the memory of the check for undefined values, or null
    SYNC = 6  # not 0 if barriers are checked
    FIELDS = 8


class Report(Field):
    """A row of the reports.

    OTHER_*: the second place, if the kind has one; OTHER_SITE is the number of a site, 0 for none.
    """

    KEY = 0  # kind, site and other site, 0 if the row is free; the rest is of the first find
    COUNT = 1, "i64", "finds"  # how often it was found
    KIND = 2  # a `FaultKind`, or a number of one of the checks
    SITE = 3  # as in `Fault`, like the fields up to BASE
    LANE = 4  # of the first find; -1 for none
    ADDRESS = 5, "i64", "address"  # of the access
    GROUP_X = 6  # the position of the workgroup in the grid
    GROUP_Y = 7
    GROUP_Z = 8
    WAVE = 9  # its number in the workgroup
    SIZE = 10, "i64", "bytes"  # of the access, for one lane
    BASE = 11, "i64", "address"  # as in `Fault`
    OTHER_SITE = 12  # the number of the second site, 0 if the kind has none
    OTHER_GROUP = 13  # the workgroup at the other site, by number
    OTHER_WAVE = 14  # its wave in the workgroup
    OTHER_LANE = 15  # its lane, -1 for none
    SEQUENCE = 16  # the number of the report, in the order of finding
    FIELDS = 24


# Different reports of a launch; further ones are only counted.
REPORT_ROWS = 256
# The kinds of reports: below 32 those of faults (`FaultKind`), then 32 numbers for each check.
FAULT_KINDS = 0
RACE_KINDS, INIT_KINDS, SYNC_KINDS, MEMORY_KINDS = 32, 64, 96, 128
# What the driver finds about barriers: waves went on without one that has ended; waves wait at
# different ones.
SYNC_UNREACHED, SYNC_DIFFERENT = SYNC_KINDS + 1, SYNC_KINDS + 2
# What native code finds: a wave signals the workgroup's barrier twice; a barrier completes again
# before a wave waits.
SYNC_TWICE, SYNC_OVERRUN = SYNC_KINDS + 6, SYNC_KINDS + 7
