"""Facts about opcodes: what they do to memory, lanes, registers, counters and control flow.

They are data: `mnemonics` derives them from the opcode tables, once for each row, and nothing else
looks at a mnemonic's text.
"""

from __future__ import annotations

from enum import Enum, auto

from amdjit.isa.matrix_products import BlockProduct, MatrixProduct
from amdjit.isa.wait_counters import WaitEvent, WaitField
from amdjit.late_methods import dataclass, field


class Unit(Enum):
    """The part of the processor that executes an instruction."""

    SALU = "scalar ALU"
    VALU = "vector ALU"
    TRANSCENDENTAL = "transcendental"
    SCALAR_MEMORY = "scalar memory"
    VECTOR_MEMORY = "vector memory"
    LDS = "LDS"
    LDS_DIRECT = "LDS direct"

    @property
    def is_memory(self) -> bool:
        """Whether instructions have addresses, of memory or of lanes."""
        return self in (Unit.SCALAR_MEMORY, Unit.VECTOR_MEMORY, Unit.LDS)


class Result(Enum):
    """What an instruction writes to: the first operand that it writes decides."""

    NONE = ""
    VECTOR = "vector"
    LANE_MASK = "lane mask"
    SCALAR = "scalar"


class Flow(Enum):
    """How a wave goes on after an instruction."""

    NEXT = auto()
    JUMP = auto()
    CONDITIONAL = auto()
    CALL = auto()
    INDIRECT = auto()
    INDIRECT_CALL = auto()
    END = auto()
    TRAP = auto()
    BARRIER = auto()
    SLEEP = auto()

    @property
    def is_indirect(self) -> bool:
        """Whether a register says where the wave goes on."""
        return self in (Flow.INDIRECT, Flow.INDIRECT_CALL)

    @property
    def is_call(self) -> bool:
        """Whether the address of the following instruction is kept for a return."""
        return self in (Flow.CALL, Flow.INDIRECT_CALL)

    @property
    def is_pause(self) -> bool:
        """Whether other waves run before this one goes on with the following instruction."""
        return self in (Flow.BARRIER, Flow.SLEEP)


class Flag(Enum):
    """A register that conditional branches test."""

    SCC = auto()
    VCC = auto()
    EXEC = auto()


@dataclass(frozen=True, slots=True)
class Condition:
    """What a conditional branch tests, and whether it is taken if that is not zero."""

    flag: Flag
    nonzero: bool


class Space(Enum):
    """Where a memory instruction goes; the address decides for FLAT."""

    GLOBAL = "global"
    LDS = "LDS"
    PRIVATE = "private"
    FLAT = "flat"


class MemoryKind(Enum):
    """What a memory instruction does there."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"
    PREFETCH = "prefetch"
    PROBE = "probe"


class Exchange(Enum):
    """An atomic that stores its data: always, or if memory holds the expected value."""

    SWAP = auto()
    COMPARE = auto()


LOW_HALF, HIGH_HALF = 0, 1


@dataclass(frozen=True, slots=True)
class Access:
    """What an instruction does to memory.

    size: bytes that a lane moves for each address, in wave32; 0 if a format, a prefetch or M0 says
    it. half: that of a register that is filled or stored (RDNA 4 ISA, 10.4). has_descriptor: a
    buffer resource has the base address. names_format: the instruction names the buffer's format.
    converts: values are converted from or to it. is_transposed: lanes exchange what they load.
    has_two_addresses: with data of their own. expects_first: memory must hold the first operand.
    """

    space: Space
    kind: MemoryKind
    size: int
    half: int | None = None
    exchange: Exchange | None = None
    has_descriptor: bool = False
    names_format: bool = False
    converts: bool = False
    is_transposed: bool = False
    has_two_addresses: bool = False
    expects_first: bool = False


class CacheAction(Enum):
    """What a cache instruction does (LLVM AMDGPU guide, "Memory Model gfx12")."""

    INVALIDATE = auto()
    WRITE_BACK = auto()
    BOTH = auto()

    @property
    def invalidates(self) -> bool:
        """Whether later loads see what others have written."""
        return self is not CacheAction.WRITE_BACK

    @property
    def writes_back(self) -> bool:
        """Whether earlier stores become visible to others."""
        return self is not CacheAction.INVALIDATE


class Barrier(Enum):
    """What an instruction does with a barrier."""

    SIGNAL = auto()
    SIGNAL_FIRST = auto()
    WAIT = auto()
    INIT = auto()
    JOIN = auto()
    LEAVE = auto()
    STATE = auto()
    SYNC = auto()  # of the workgroup: signal and wait in one

    @property
    def signals(self) -> bool:
        """Whether the wave arrives at the barrier."""
        return self in (Barrier.SIGNAL, Barrier.SIGNAL_FIRST, Barrier.SYNC)

    @property
    def waits(self) -> bool:
        """Whether the wave goes on only when all have arrived."""
        return self in (Barrier.WAIT, Barrier.SYNC)


class SingleLane(Enum):
    """An instruction that reads or writes one lane of a vector register."""

    READ = auto()
    WRITE = auto()


class Idle(Enum):
    """Instructions that compute nothing: they take time, wait, or send a message."""

    DELAY = auto()
    WAIT = auto()
    MESSAGE = auto()


class Operator(Enum):
    """A bitwise operator."""

    AND = auto()
    OR = auto()
    XOR = auto()


class Destination(Enum):
    """Where scalar logic puts its result and the old EXEC (RDNA 4 ISA, S_AND_SAVEEXEC_B32)."""

    REGISTER = auto()
    EXEC = auto()  # the register gets the old EXEC
    BOTH = auto()  # the register gets the result too


@dataclass(frozen=True, slots=True)
class ScalarLogic:
    """Bitwise logic of scalar registers, with EXEC as the second source unless the destination is a
    register.

    complemented: the source that is complemented first, 0 or 1. is_negated: the result is
    complemented.
    """

    operator: Operator
    complemented: int | None
    is_negated: bool
    destination: Destination

    @property
    def is_plain(self) -> bool:
        """Whether nothing is complemented."""
        return self.complemented is None and not self.is_negated


class Arithmetic(Enum):
    """Operations through which analyses follow values."""

    MOVE = auto()
    ADD = auto()  # of integers
    SELECT = auto()  # SCC chooses a source


class ModeWrite(Enum):
    """Which part of MODE an instruction writes."""

    ROUNDING = auto()
    DENORMALS = auto()
    FIELD = auto()  # the part that a hardware register's field covers


class FloatMode(Enum):
    """Which of MODE's fields round an instruction's result."""

    SINGLE = auto()
    HALF_AND_DOUBLE = auto()


class Infinity(Enum):
    """Where an infinite result of finite sources comes from that is no overflow."""

    POLE = auto()  # of the function itself, as a division by zero
    QUOTIENT = auto()  # of the division that the instruction finishes


class Timing(Enum):
    """How long an instruction keeps its unit busy: classes whose cycles are a matter of the
    processor (`amdjit.cycles.parameters` has gfx1201's)."""

    VALU = "vector ALU"
    VALU_HALF = "vector ALU at half rate"
    VALU_QUARTER = "vector ALU at quarter rate"
    TRANSCENDENTAL = "transcendental"
    PSEUDO_SCALAR = "pseudo-scalar transcendental"
    DOUBLE = "64-bit floats"
    MATRIX_WIDE = "matrix product of 16-bit elements"
    MATRIX_NARROW = "matrix product of 8- and 4-bit elements"
    SALU = "scalar ALU"
    SALU_MULTIPLY = "scalar multiplication"
    SALU_MULTIPLY_64 = "scalar multiplication of 64 bits"
    SALU_FLOAT = "scalar float"
    IMMEDIATE = "without a unit"
    BRANCH = "branch"
    MESSAGE = "message"
    BARRIER_SIGNAL = "barrier signal"
    END = "end of the wave"
    SCALAR_MEMORY = "scalar memory"
    VECTOR_MEMORY = "vector memory"
    LDS = "LDS"


class Immediate(Enum):
    """What the immediate of a scalar or LDS instruction is."""

    NONE = auto()
    NUMBER = auto()
    SIGNED = auto()
    BITS = auto()
    BRANCH = auto()
    MESSAGE = auto()
    HARDWARE_REGISTER = auto()
    VERSION = auto()
    END = auto()
    DELAYS = auto()
    DEPENDENCIES = auto()
    OLD_COUNTERS = auto()
    SWIZZLE = auto()
    ATTRIBUTE = auto()
    INDEX_MODE = auto()
    CLAUSE = auto()


@dataclass(frozen=True, slots=True)
class Traits:
    """The facts about one opcode; those of a dual-issue instruction are about one half.

    operation: the mnemonic without the prefix of dual-issue halves, by which tables of what
    instructions compute have it. immediate: what the constant of a scalar or LDS instruction is.

    is_dual: it is half a dual-issue instruction. ends_block: a basic block ends with it.

    cache_scope: which scope a cache instruction has by its name (`Instruction.scope`).

    event: as what wait counters count it; atomics count as stores if they return nothing.
    waits: what it waits for.

    lane_by_lane: each active lane, and no other, writes all registers of the result, from its own
    lane of the sources. once_per_wave: a wave64 executes it once, not once for each half.
    moved_role: the operand whose values go to other lanes. reads_inactive: whatever its fields say,
    it may read lanes that are inactive. is_pseudo_scalar: a vector ALU instruction of one number.
    ignores_exec: all lanes take part. is_relative: M0 is added to the numbers of vector registers;
    moves_relative_scalars: to those of scalar ones.

    timing: how long it keeps its unit busy.
    writes_scc: also if a wait counter says when. writes_exec: also if EXEC is no operand.
    is_packed: two results side by side. is_mixed: op_sel_hi chooses the sources' types.
    picks_source: the result is one of the sources.
    part_bits: how many bits of its destination op_sel chooses, 8 or 16; the others stay (gfx9).
    """

    unit: Unit
    result: Result
    operation: str
    is_dual: bool = False
    immediate: Immediate = Immediate.NUMBER
    timing: Timing = Timing.VALU

    flow: Flow = Flow.NEXT
    condition: Condition | None = None
    barrier: Barrier | None = None
    idle: Idle | None = None
    reads_pc: bool = False

    memory: Access | None = None
    cache: CacheAction | None = None
    cache_scope: int | None = None
    event: WaitEvent | None = None
    waits: tuple[WaitField, ...] = ()

    lane_by_lane: bool = True
    once_per_wave: bool = False
    single_lane: SingleLane | None = None
    moved_role: str | None = None
    reads_inactive: bool = False
    is_pseudo_scalar: bool = False
    ignores_exec: bool = False
    is_relative: bool = False
    moves_relative_scalars: bool = False

    reads_scc: bool = False
    writes_scc: bool = False
    scc_is_late: bool = False
    writes_exec: bool = False
    writes_mode: ModeWrite | None = None

    matrix: MatrixProduct | None = None
    block_product: BlockProduct | None = None
    logic: ScalarLogic | None = None
    arithmetic: Arithmetic | None = None
    compares: bool = False
    is_packed: bool = False
    is_mixed: bool = False
    picks_source: bool = False
    part_bits: int | None = None
    infinity: Infinity | None = None
    rounding: FloatMode | None = None

    # Asked for each instruction of a kernel, several times.
    ends_block: bool = field(init=False)

    @property
    def waits_at_barrier(self) -> bool:
        """Whether it waits until other waves have arrived at a barrier."""
        return self.barrier is not None and self.barrier.waits

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends_block", self.flow is not Flow.NEXT)
