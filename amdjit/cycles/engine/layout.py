"""The records that the host code of the cycle model shares with Python."""

from __future__ import annotations

from enum import IntEnum

from amdjit.emulator.layout import Field

# Times of the memory system are in ticks, so that bandwidths need not be whole cycles a line.
TICKS = 256


# Slots searched at a time for the wave that issues next.
SLOTS_AT_ONCE = 16
# What `Simulation.NEXT` has of a slot: a cycle, the number of its wave, the slot.
SLOT_BITS, NUMBER_BITS = 10, 24
# A cycle and the cause for which nothing happens earlier, in one number.
CAUSE_BITS = 5
# A cycle before all others, and what is in `Simulation.NEXT` where no wave waits to issue.
NEVER, LATER = -(10**9), (1 << 63) - 1
# Instructions kept of those that went through a queue; queues are shorter.
PLACES = 64
PLACE_MASK = PLACES - 1


class Row(Field):
    """What the simulation asks of an instruction.

    KIND: as `program.Kind`; PORT: the class of instructions of which a SIMD issues one a cycle.
    READS, WRITES: places in `Simulation.REGISTERS`. LATENCY: issue to execution. PASSES: cycles for
    which its unit is busy; LAST_PASS: from the first to the last one; PACE: cycles in which it
    enters the queue. FREE_AFTER, MATRIX_AFTER: from the last pass to the next instruction's, to the
    next WMMA's first. LEAD: cycles before its last pass at which it leaves the queue.
    """

    KIND = 0
    IS_ORDINARY = 1
    IS_MATRIX = 2
    IS_TRANSCENDENTAL = 3
    LATENCY = 4, "i64", "cycles"
    PASSES = 5, "i64", "cycles"
    LAST_PASS = 6, "i64", "cycles"
    PACE = 7, "i64", "cycles"
    FREE_AFTER = 8, "i64", "cycles"
    MATRIX_AFTER = 9, "i64", "cycles"
    LEAD = 10, "i64", "cycles"
    READS = 11
    READS_END = 12
    WRITES = 13
    WRITES_END = 14
    READS_SGPR = 15
    USES_SGPR = 16
    WRITES_SGPR = 17
    WRITES_VCC = 18
    WRITES_SCC = 19
    TRANSFER = 20, "i64", "dwords"
    RESULT = 21, "i64", "dwords"
    COUNTED = 22
    IDLE = 23, "i64", "ready"
    DELAY = 24
    SKIP = 25, "i64", "instructions"
    NEXT_DELAY = 26
    DEPENDENCIES = 27
    CONDITION = 28
    IS_FRONT = 29
    NEEDS_SOURCES = 30
    ACCESS = 31
    WAITS = 32
    PAYS_HIDDEN = 37
    LDS_CYCLES = 38, "i64", "cycles"
    LDS_LATENCY = 39, "i64", "cycles"
    SALU_CYCLES = 40, "i64", "cycles"
    IS_SCALAR_RESULT = 41
    FIELDS = 42


class Unit(Field):
    """The units of a SIMD. *_FREE: the first cycle at which a pass of an instruction of any kind,
    of a WMMA, of a slow one may begin. ISSUED, LEAVES: rings of the instructions in the vector
    ALU's queue, of which COUNT were issued. LDS_ENDS, MEMORY_ENDS: rings of operations
    whose operands went to LDS or to memory: when their places are free. SALU: a ring of the starts
    of scalar instructions. PORTS: the cycle of the last issue, by kind."""

    COUNT = 0
    PACE = 1
    FREE = 2, "i64", "cycles"
    MATRIX_FREE = 3, "i64", "cycles"
    TRANSCENDENTAL_FREE = 4, "i64", "cycles"
    LAST_TRANSCENDENTAL = 5
    LAST = 6, "i64", "cycles"
    LDS_COUNT = 7
    MEMORY_COUNT = 8
    SALU_COUNT = 9
    SALU_FREE = 10, "i64", "cycles"
    LAST_WAVE = 11
    PORTS = 16
    ISSUED = 32
    LEAVES = ISSUED + PLACES
    LDS_ENDS = LEAVES + PLACES
    MEMORY_ENDS = LDS_ENDS + PLACES
    SALU = MEMORY_ENDS + PLACES
    FIELDS = SALU + PLACES


class Shared(Field):
    """What the two SIMDs of a compute unit share: when the paths to LDS and to memory are free, and
    when LDS is."""

    LDS_PATH = 0, "i64", "cycles"
    MEMORY_PATH = 1, "i64", "cycles"
    LDS_FREE = 2, "i64", "cycles"
    FIELDS = 4


REGISTERS = 384
COUNTERS = 5


class Wave(Field):
    """A wave in its slot. The fields before `KEPT` are its row in `Simulation.WAVES`: its path, its
    requests, what is given of it, and where its results go. The others begin as those of
    `Simulation.TEMPLATE`.

    START: the first cycle at which it may issue, counted from the start of its workgroup. OWN: when
    the wave itself may issue its next instruction, IDLE: what that takes longer; NEXT: when its
    last one lets it. PREVIOUS: the row of the last one but hidden ones. *_VALU, *_SLOW: when its
    last vector and transcendental instructions were issued, the last one first. RESULTS: of each
    register that a VALU instruction has written, the cycle of its execution, doubled, and 1 more if
    that was a slow one. SCALARS: of each register, when the scalar unit wrote it.
    FLYING: rings of the ends of operations, by counter; COUNTS: how many there were.
    SCALAR_RESULTS: a ring of the cycles of SCALAR_COUNT vector instructions that wrote SGPRs.
    """

    NUMBER = 0
    GROUP = 2, "ptr"
    PATH = 3, "ptr"
    REQUEST = 4, "ptr"
    STEPS = 5
    SALT = 6
    ISSUED_AT = 7, "ptr"
    CAUSES = 8, "ptr"
    FETCHED = 9, "ptr"
    ACCEPTED = 10, "ptr"
    DONE = 11, "ptr"
    ENDS = 12, "ptr"
    START = 13, "i64", "cycles"
    SLOT = 14
    SIMD = 15
    KEPT = 16
    STEP = 17
    NEXT = 18, "i64", "ready"
    PREVIOUS = 19, "ptr"
    ISSUED = 20, "i64", "cycles"
    PAYS_HIDDEN = 21
    FIRST_VALU = 22, "i64", "cycles"
    SECOND_VALU = 23, "i64", "cycles"
    THIRD_VALU = 24, "i64", "cycles"
    FOURTH_VALU = 25, "i64", "cycles"
    FIRST_SLOW = 26, "i64", "cycles"
    SECOND_SLOW = 27, "i64", "cycles"
    THIRD_SLOW = 28, "i64", "cycles"
    EXECUTED = 29, "i64", "cycles"
    READ_SGPR = 30, "i64", "cycles"
    WROTE_VCC = 31, "i64", "cycles"
    WROTE_SGPR = 32, "i64", "cycles"
    SALU_WROTE = 33, "i64", "cycles"
    SALU_WAITED = 34
    SCC = 35, "i64", "cycles"
    SOURCES_READ = 36, "i64", "cycles"
    PLACE = 37, "i64", "instructions"
    DELAY = 38
    NEXT_PLACE = 39, "i64", "instructions"
    NEXT_DELAY = 40
    HIDDEN_UNTIL = 41, "i64", "ready"
    AT_BARRIER = 42
    BARRIERS = 43
    OWN = 44, "i64", "ready"
    IDLE = 45, "i64", "ready"
    SCALAR_COUNT = 46
    COUNTS = 48
    RESULTS = 56
    SCALARS = RESULTS + REGISTERS
    FLYING = SCALARS + REGISTERS
    SCALAR_RESULTS = FLYING + COUNTERS * PLACES
    FIELDS = SCALAR_RESULTS + PLACES


# Completions that a wave may be behind at a barrier: one unless it signals twice.
RELEASES = 64


class Group(Field):
    """A workgroup. FIRST: its first row in `Simulation.WAVES`, of WAVES. PLACE: its first entry in
    `Simulation.PLACES`, -1 if it takes the place of one that ends. LEFT: waves that have not ended.
    RELEASED: a ring of the cycles at which barriers let waves go on, of which COMPLETED have."""

    FIRST = 0
    WAVES = 1
    PLACE = 2
    LEFT = 3
    SIGNALS = 4
    LAST = 5, "i64", "cycles"
    COMPLETED = 6
    RELEASED = 8
    FIELDS = RELEASED + RELEASES


class Parameter(Field):
    """The model's parameters that host code reads; `parameters.PARAMETERS` has them in words."""

    VALU_QUEUE = 0, "i64", "instructions"
    MATRIX_LATENCY = 1
    VALU_DEPENDENCY = 2
    TRANSCENDENTAL_DEPENDENCY = 3
    VALU_DONE = 4
    DELAY_DEPENDENCY = 5
    SALU_AFTER_VALU_READ = 6
    SALU_TO_VALU = 7
    SALU_DONE = 8
    SALU_TO_MEMORY = 9
    SCC_TO_BRANCH = 10
    BRANCH_TAKEN = 11
    BRANCH_NOT_TAKEN = 12
    IMMEDIATE_AFTER_ISSUE = 13
    TRANSFER_START = 14
    TRANSFER_DONE = 15
    TRANSFER_QUEUE = 16
    LDS_BACKLOG = 17
    SALU_LATENCY = 18
    SALU_DEPENDENCY = 19
    BARRIER = 20
    BARRIER_SIGNAL = 21
    WAVE_START = 22
    VALU_SCALAR_RESULTS = 23
    TRANSCENDENTAL_MOVES = 24, "i64", "places"
    WRITE_AFTER_TRANSCENDENTAL = 25
    MATRIX_AFTER_TRANSCENDENTAL_RESULT = 26
    SALU_QUEUE = 27, "i64", "instructions"
    TRANSFER_QUEUE_PLACE = 28
    FIELDS = 29


class Simulation(Field):
    """One simulation. ROWS: of the program. REGISTERS: numbers, of all instructions. PARAMETERS: a
    `Parameter` record. MEMORY: the memory system; waves may have the ends of their requests given
    instead. REQUESTS, KEYS: rows of the recording, and keys of its lines. WAVES: rows of `Wave`.
    GROUPS: rows of `Group`, GROUP_COUNT of them, of which NEXT_GROUP takes the next place that is
    free. PLACES: the slots of workgroups that
    are resident at the same time. UNITS, SHARED: of the SIMDs and of the compute units. NEXT: for
    each slot, when its wave issues, as `order.key` packs it; SLOTS of them, a multiple of
    `SLOTS_AT_ONCE`. RESIDENT: the wave in each slot. TEMPLATE: a wave at its start, from `KEPT` on.
    """

    ROWS = 0, "ptr"
    REGISTERS = 1, "ptr"
    PARAMETERS = 2, "ptr"
    MEMORY = 3, "ptr"
    REQUESTS = 4, "ptr"
    KEYS = 5, "ptr"
    WAVES = 6, "ptr"
    GROUPS = 7, "ptr"
    GROUP_COUNT = 8
    NEXT_GROUP = 9
    PLACES = 10, "ptr"
    UNITS = 11, "ptr"
    SHARED = 12, "ptr"
    NEXT = 13, "ptr"
    SLOTS = 14
    RESIDENT = 15, "ptr"
    TEMPLATE = 16, "ptr"
    FIELDS = 17


class Request(Field):
    """A row of `Recording.requests`."""

    LANES = 0
    BYTES = 1, "i64", "bytes"
    LDS_CYCLES = 2, "i64", "cycles"
    FIRST_LINE = 3
    END_LINE = 4
    FIELDS = 5


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
    VECTOR_BUSY = 20, "i64", "ticks"  # and 21: of the other compute unit
    SCALAR_BUSY = 22, "i64", "ticks"
    L2_BUSY = 23, "i64", "ticks"
    FAR_BUSY = 24, "i64", "ticks"
    L2_LINES = 25, "i64", "lines"
    FAR_LINES = 26, "i64", "lines"
    FIELDS = 27
