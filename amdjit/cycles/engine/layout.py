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
# A cycle before all others, and one after them.
NEVER, LATER = -(10**9), 1 << 50
# Of the instructions that went through a queue, the last so many are kept; queues are shorter.
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
    READS_SALU = 16
    WRITES_SGPR = 17
    WRITES_VCC = 18
    WRITES_SCC = 19
    TRANSFER = 20, "i64", "dwords"
    RESULT = 21, "i64", "dwords"
    COUNTED = 22
    IDLE = 23, "i64", "cycles"
    DELAY = 24
    SKIP = 25, "i64", "instructions"
    NEXT_DELAY = 26
    DEPENDENCIES = 27
    CONDITION = 28
    IS_FRONT = 29
    IS_SLOW_SALU = 30
    ACCESS = 31
    WAITS = 32
    FIELDS = 40


class Unit(Field):
    """The units of a SIMD. *_FREE: the first cycle at which a pass of an instruction of any kind, of
    a WMMA, of a slow one may begin. ISSUED, LEAVES: rings of the instructions in the queue of the
    vector ALU, of which COUNT were issued. LDS_ENDS, MEMORY_ENDS: rings of the operations that took
    operands to LDS or to memory: when their places are free. SALU: a ring of the starts of scalar
    instructions. PORTS: the cycle of the last issue, by kind."""

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
    """A wave in its slot. The first fields stay: its path and where its results go. The others begin
    as those of `Simulation.TEMPLATE`; their names are those of the reference's wave. PREVIOUS: the
    row of its last instruction but hidden ones. *_VALU: when its last VALU instructions were issued,
    the last one first. RESULTS: of each register that a VALU instruction has written, the cycle of
    its execution, doubled, and 1 more if that was a slow one. SCALARS: of each register, when the
    scalar unit wrote it. FLYING: rings of the ends of operations, by counter.
    """

    NUMBER = 0
    SIMD = 1
    GROUP = 2
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
    KEPT = 16
    STEP = 16
    NEXT = 17, "i64", "ready"
    PREVIOUS = 18, "ptr"
    ISSUED = 19, "i64", "cycles"
    PAYS_HIDDEN = 20
    FIRST_VALU = 21, "i64", "cycles"
    SECOND_VALU = 22, "i64", "cycles"
    THIRD_VALU = 23, "i64", "cycles"
    FOURTH_VALU = 24, "i64", "cycles"
    FIRST_SLOW = 25, "i64", "cycles"
    SECOND_SLOW = 26, "i64", "cycles"
    THIRD_SLOW = 27, "i64", "cycles"
    EXECUTED = 28, "i64", "cycles"
    READ_SGPR = 29, "i64", "cycles"
    WROTE_VCC = 30, "i64", "cycles"
    WROTE_SGPR = 31, "i64", "cycles"
    SALU_WROTE = 32, "i64", "cycles"
    SALU_WAITED = 33
    SCC = 34, "i64", "cycles"
    SOURCES_READ = 35, "i64", "cycles"
    PLACE = 36, "i64", "instructions"
    DELAY = 37
    NEXT_PLACE = 38, "i64", "instructions"
    NEXT_DELAY = 39
    HIDDEN_UNTIL = 40, "i64", "ready"
    AT_BARRIER = 41
    BARRIERS = 42
    COUNTS = 43
    RESULTS = 48
    SCALARS = RESULTS + REGISTERS
    FLYING = SCALARS + REGISTERS
    FIELDS = FLYING + COUNTERS * PLACES


class Group(Field):
    """A workgroup. WAVES of it are rows from FIRST on of `Simulation.WAVES`; LEFT have not ended.
    RELEASE: when its last barrier, of which COMPLETED have, lets waves go on. START: not before."""

    FIRST = 0
    WAVES = 1
    LEFT = 2
    SIGNALS = 3
    LAST = 4, "i64", "cycles"
    COMPLETED = 5
    RELEASE = 6, "i64", "cycles"
    START = 7, "i64", "cycles"
    PLACE = 8
    RELEASES = 9, "ptr"
    FIELDS = 10


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
    LDS_LOAD = 17
    LDS_STORE = 18
    BARRIER = 19
    BARRIER_SIGNAL = 20
    WAVE_START = 21
    FIELDS = 22


class Simulation(Field):
    """One simulation. ROWS: of the program. REGISTERS: numbers, of all instructions. PARAMETERS: a
    `Parameter` record. MEMORY: the memory system; waves may have the ends of their requests given
    instead. REQUESTS, KEYS: rows of the recording, and the keys of its lines. WAVES: rows of `Wave`.
    GROUPS: rows of `Group` in the order in which they start, of which NEXT_GROUP is the next.
    UNITS, SHARED: of the SIMDs and of the compute units. NEXT: for each slot, the earliest cycle at
    which its wave issues, as `waves.key` packs it. SLOTS: the wave in each slot. TEMPLATE: a wave at
    its start.
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
    UNITS = 10, "ptr"
    SHARED = 11, "ptr"
    NEXT = 12, "ptr"
    SLOTS = 13, "ptr"
    TEMPLATE = 14, "ptr"
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
