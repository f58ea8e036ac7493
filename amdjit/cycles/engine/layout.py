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
    """What the simulation asks of an instruction."""

    KIND = 0  # a `program.Kind`: of each kind a SIMD issues one instruction a cycle
    IS_ORDINARY = 1  # 1 for instructions of `Timing.VALU`
    IS_MATRIX = 2  # 1 for matrix products
    IS_TRANSCENDENTAL = 3  # 1 for instructions of the transcendental unit
    LATENCY = 4, "i64", "cycles"  # from issue to the first pass
    PASSES = 5, "i64", "cycles"  # cycles for which its unit is busy
    LAST_PASS = 6, "i64", "cycles"  # from the first pass to the last
    PACE = 7, "i64", "cycles"  # cycles that it takes to enter the queue
    FREE_AFTER = 8, "i64", "cycles"  # from its last pass to the first pass of the next instruction
    # From its last pass to the first pass of the next matrix product.
    MATRIX_AFTER = 9, "i64", "cycles"
    LEAD = 10, "i64", "cycles"  # cycles before its last pass at which it leaves the queue
    READS = 11  # the first of its sources in `Simulation.REGISTERS`
    READS_END = 12  # after the last of them
    WRITES = 13  # the first of its results in `Simulation.REGISTERS`
    WRITES_END = 14  # after the last of them
    READS_SGPR = 15  # 1 if it reads a scalar register other than EXEC and SCC
    USES_SGPR = 16  # 1 for a VALU instruction with SGPRs other than VCC
    WRITES_SGPR = 17  # 1 if it writes a scalar register other than EXEC and SCC
    WRITES_VCC = 18  # 1 if it writes VCC
    WRITES_SCC = 19  # 1 if it writes SCC
    TRANSFER = 20, "i64", "dwords"  # address and data on their way to the LDS or memory unit
    RESULT = 21, "i64", "dwords"  # what a memory instruction returns to each lane
    COUNTED = 22  # bits of the wait counters that it increments
    IDLE = 23, "i64", "ready"  # cycles of s_nop and s_sleep beyond the first
    DELAY = 24  # the first condition of s_delay_alu, by number
    # How many instructions the second condition comes after the first.
    SKIP = 25, "i64", "instructions"
    NEXT_DELAY = 26  # the second condition of s_delay_alu, 0 if there is none
    DEPENDENCIES = 27  # bits of `program.Dependency` that s_wait_alu waits for
    CONDITION = 28  # the register that a branch tests, -1 if it tests none
    IS_FRONT = 29  # 1 for instructions without a unit: immediate ones and waits
    NEEDS_SOURCES = 30  # 1 if memory instructions must have read their sources before
    ACCESS = 31  # an `Access`
    WAITS = 32  # for each of COUNTERS, how many operations may be in flight, or `NO_WAIT`
    PAYS_HIDDEN = 37  # 1 if a hidden instruction after it costs a cycle
    LDS_CYCLES = 38, "i64", "cycles"  # for which LDS is busy without bank conflicts
    LDS_LATENCY = 39, "i64", "cycles"  # from the end of the transfer to the result
    SALU_CYCLES = 40, "i64", "cycles"  # for which the scalar unit is busy
    IS_SCALAR_RESULT = 41  # 1 for a VALU instruction that writes an SGPR
    # 1 for a VALU instruction that waits for its unit and its sources before it is issued, and that
    # does not hold up other instructions of its wave.
    AT_ISSUE = 42
    # Passes of a product, of which other units' instructions of the wave wait for none.
    BESIDE = 43, "i64", "cycles"
    READS_SCALARS = 44  # 1 for a VALU instruction that waits for the scalar registers that it reads
    WRITES_CARRY = 45  # 1 for a VALU instruction that writes a scalar register other than VCC
    FIELDS = 46


class Unit(Field):
    """The units of a SIMD. Rings have PLACES entries."""

    COUNT = 0  # instructions that have entered the vector ALU's queue
    PACE = 1  # `Row.PACE` of the last of them
    FREE = 2, "i64", "cycles"  # the first cycle at which a pass of any instruction may begin
    MATRIX_FREE = 3, "i64", "cycles"  # the same for a matrix product
    TRANSCENDENTAL_FREE = 4, "i64", "cycles"  # the same for the transcendental unit
    LAST_TRANSCENDENTAL = 5  # the number of the last transcendental instruction in the queue
    LAST = 6, "i64", "cycles"  # the cycle of the last pass of the last vector instruction
    LDS_COUNT = 7  # instructions whose operands went to LDS
    MEMORY_COUNT = 8  # instructions whose operands went to memory
    SALU_COUNT = 9  # scalar instructions that have started
    # The first cycle at which the scalar unit can start another one.
    SALU_FREE = 10, "i64", "cycles"
    LAST_WAVE = 11  # the number of the wave that issued the last vector instruction
    PORTS = 16  # the cycle of the last issue, for each `program.Kind`
    ISSUED = 32  # ring: when the instructions of the queue were issued
    LEAVES = ISSUED + PLACES  # ring: when they leave the queue
    LDS_ENDS = LEAVES + PLACES  # ring: when the places of transfers to LDS are free again
    MEMORY_ENDS = LDS_ENDS + PLACES  # ring: when the places of transfers to memory are free again
    SALU = MEMORY_ENDS + PLACES  # ring: when scalar instructions started
    FIELDS = SALU + PLACES


class Shared(Field):
    """What the two SIMDs of a compute unit share: when the path to LDS and to memory is free, and
    when LDS is."""

    PATH = 0, "i64", "cycles"
    LDS_FREE = 1, "i64", "cycles"
    FIELDS = 4


REGISTERS = 384
COUNTERS = 5


class Wave(Field):
    """A wave in its slot. The fields before `KEPT` are its row in `Simulation.WAVES`: its path, its
    requests, cycles that are given, and where its results go. The other fields begin as those of
    `Simulation.TEMPLATE`."""

    NUMBER = 0  # its age: of two waves that can issue, the one with the lower number does
    GROUP = 2, "ptr"  # its `Group`
    PATH = 3, "ptr"  # numbers of the program's instructions that it executes, i32
    REQUEST = 4, "ptr"  # for each of them its row in `Simulation.REQUESTS`, or -1, i32
    STEPS = 5  # the length of the path
    SALT = 6  # changes the cache lines of a repeated workgroup (`memory`)
    ISSUED_AT = 7, "ptr"  # result: the cycle of each issue
    CAUSES = 8, "ptr"  # result: what came last before it, a byte each
    FETCHED = 9, "ptr"  # null, or the cycles before which instructions are not fetched
    ACCEPTED = 10, "ptr"  # null, or the cycles before which vector memory does not take operands
    DONE = 11, "ptr"  # null, or how long memory takes for each instruction
    ENDS = 12, "ptr"  # null, or result: when units execute the instructions
    # The first cycle at which it may issue, from the start of its workgroup.
    START = 13, "i64", "cycles"
    SLOT = 14  # its index in `Simulation.RESIDENT`
    SIMD = 15  # the SIMD that it runs on
    KEPT = 16  # the first field of `Simulation.TEMPLATE`
    STEP = 17  # the index of its next instruction in the path
    NEXT = 18, "i64", "ready"  # when its last instruction lets it issue the next one
    PREVIOUS = 19, "ptr"  # the `Row` of the last instruction that was issued
    ISSUED = 20, "i64", "cycles"  # when that was
    PAYS_HIDDEN = 21  # `Row.PAYS_HIDDEN` before a hidden instruction
    FIRST_VALU = 22, "i64", "cycles"  # when its last vector instruction was issued
    SECOND_VALU = 23, "i64", "cycles"  # the one before
    THIRD_VALU = 24, "i64", "cycles"  # and so on
    FOURTH_VALU = 25, "i64", "cycles"  # s_delay_alu can name the last four
    FIRST_SLOW = 26, "i64", "cycles"  # when its last transcendental instruction was issued
    SECOND_SLOW = 27, "i64", "cycles"  # the one before
    THIRD_SLOW = 28, "i64", "cycles"  # s_delay_alu can name the last three
    EXECUTED = 29, "i64", "cycles"  # when the last of its vector instructions is executed
    READ_SGPR = 30, "i64", "cycles"  # when one that reads an SGPR is executed
    WROTE_VCC = 31, "i64", "cycles"  # when one that writes VCC is executed
    WROTE_SGPR = 32, "i64", "cycles"  # when one that writes an SGPR is executed
    SALU_WROTE = 33, "i64", "cycles"  # when the scalar unit last wrote an SGPR
    SALU_WAITED = 34  # 1 after an s_wait_alu for that
    SCC = 35, "i64", "cycles"  # when the scalar unit last wrote SCC
    SOURCES_READ = 36, "i64", "cycles"  # when memory instructions have read all their sources
    # Instructions until the condition DELAY of s_delay_alu holds, negative if none.
    PLACE = 37, "i64", "instructions"
    DELAY = 38  # that condition, by number
    NEXT_PLACE = 39, "i64", "instructions"  # the same for its second condition
    NEXT_DELAY = 40  # the second condition
    HIDDEN_UNTIL = 41, "i64", "ready"  # until when hidden instructions stop it
    AT_BARRIER = 42  # 1 while it waits at the barrier
    BARRIERS = 43  # completions of the barrier that it has passed
    OWN = 44, "i64", "ready"  # when the wave itself may issue its next instruction
    IDLE = 45, "i64", "ready"  # what s_nop or s_sleep adds to that
    SCALAR_COUNT = 46  # entries of SCALAR_RESULTS so far
    WROTE_CARRY = 47, "i64", "cycles"  # when one with `Row.WRITES_CARRY` is executed
    COUNTS = 48  # for each wait counter, the operations that were counted so far
    # For each register, when a VALU instruction that wrote it is executed, times 2, and 1 more if
    # that instruction is transcendental.
    RESULTS = 56
    SCALARS = RESULTS + REGISTERS  # for each register, when the scalar unit wrote it
    FLYING = SCALARS + REGISTERS  # a ring for each wait counter: when operations end
    # ring: when vector instructions that write SGPRs are executed.
    SCALAR_RESULTS = FLYING + COUNTERS * PLACES
    FIELDS = SCALAR_RESULTS + PLACES


# Completions that a wave may be behind at a barrier: one unless it signals twice.
RELEASES = 64


class Group(Field):
    """A workgroup."""

    FIRST = 0  # its first row in `Simulation.WAVES`
    WAVES = 1  # how many rows it has
    PLACE = 2  # its first entry in `Simulation.PLACES`, -1 if it waits for one that is free
    LEFT = 3  # waves that have not ended
    SIGNALS = 4  # waves that have signalled the barrier
    LAST = 5, "i64", "cycles"  # the latest of these signals
    COMPLETED = 6  # how often the barrier has completed
    RELEASED = 8  # ring: the cycles at which the barrier let waves go on
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
    SIMDS_OF_A_VECTOR_CACHE = 29, "i64", "SIMDs"
    FIELDS = 30


class Simulation(Field):
    """One simulation."""

    ROWS = 0, "ptr"  # the `Row`s of the program
    REGISTERS = 1, "ptr"  # numbers of registers, of all instructions
    PARAMETERS = 2, "ptr"  # a `Parameter` record
    MEMORY = 3, "ptr"  # the `Memory` system, null if the ends of requests are given
    REQUESTS = 4, "ptr"  # rows of the recording (`Request`)
    KEYS = 5, "ptr"  # keys of its cache lines
    WAVES = 6, "ptr"  # rows of `Wave`, up to `KEPT`
    GROUPS = 7, "ptr"  # rows of `Group`
    GROUP_COUNT = 8  # how many workgroups there are
    NEXT_GROUP = 9  # the workgroup that takes the next place that is free
    PLACES = 10, "ptr"  # the slots of workgroups that are resident at the same time
    UNITS = 11, "ptr"  # the `Unit` of each SIMD
    SHARED = 12, "ptr"  # the `Shared` of each compute unit
    NEXT = 13, "ptr"  # for each slot, when its wave issues, as `order.key` packs it
    SLOTS = 14  # how many slots there are, a multiple of `SLOTS_AT_ONCE`
    RESIDENT = 15, "ptr"  # the wave in each slot
    TEMPLATE = 16, "ptr"  # a wave at its start, from `KEPT` on
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
    """The memory system of a workgroup processor."""

    VECTOR_CACHE = 0  # a `Cache`: vector memory's of one compute unit
    OTHER_VECTOR_CACHE = 3  # that of the other one
    SCALAR_CACHE = 6  # that of scalar loads
    L2_CACHE = 9  # this workgroup processor's share of L2
    VECTOR_LATENCY = 12, "i64", "ticks"  # until a line of the vector cache is there
    SCALAR_LATENCY = 13, "i64", "ticks"  # the same for scalar loads
    L2_LATENCY = 14, "i64", "ticks"  # the same for L2
    FAR_LATENCY = 15, "i64", "ticks"  # the same behind L2
    VECTOR_COST = 16, "i64", "ticks"  # of the bandwidth that a line takes
    SCALAR_COST = 17, "i64", "ticks"  # the same for scalar loads
    L2_COST = 18, "i64", "ticks"  # the same for L2
    FAR_COST = 19, "i64", "ticks"  # the same behind L2
    # Until earlier lines have passed; 21: of the other compute unit.
    VECTOR_BUSY = 20, "i64", "ticks"
    SCALAR_BUSY = 22, "i64", "ticks"  # the same for scalar loads
    L2_BUSY = 23, "i64", "ticks"  # the same for L2
    FAR_BUSY = 24, "i64", "ticks"  # the same behind L2
    L2_LINES = 25, "i64", "lines"  # lines that came from L2
    FAR_LINES = 26, "i64", "lines"  # lines that came from behind L2
    FIELDS = 27
