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

    NEXT = auto()  # with the following instruction
    JUMP = auto()  # at the target of a branch
    CONDITIONAL = auto()  # at the target, or with the following instruction
    CALL = auto()  # at the target, with the address of the following instruction in a register
    INDIRECT = auto()  # where a register says
    # Where a register says, with the address of the following instruction in another one.
    INDIRECT_CALL = auto()
    END = auto()  # not at all
    TRAP = auto()  # in the trap handler
    BARRIER = auto()  # with the following instruction, once others have arrived
    SLEEP = auto()  # with the following instruction, after a while

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
    PROBE = "probe"  # S_ATC_PROBE, which loads nothing


class Exchange(Enum):
    """An atomic that stores its data: always, or if memory holds the expected value."""

    SWAP = auto()
    COMPARE = auto()


LOW_HALF, HIGH_HALF = 0, 1


@dataclass(frozen=True, slots=True)
class Access:
    """What an instruction does to memory."""

    space: Space
    """Where the address points; FLAT if the address itself decides."""
    kind: MemoryKind
    """What it does there."""
    size: int
    """Bytes that a lane moves for each address, in wave32; 0 if a format, a prefetch or M0 says
    it."""
    half: int | None = None
    """LOW_HALF or HIGH_HALF, the half of a register that is loaded or stored (RDNA 4 ISA, 10.4)."""
    exchange: Exchange | None = None
    """For atomics that store their data."""
    has_descriptor: bool = False
    """Whether a buffer resource holds the base address."""
    names_format: bool = False
    """Whether the instruction names the buffer's format (`tbuffer_*`)."""
    converts: bool = False
    """Whether values are converted from or to the buffer's format."""
    is_transposed: bool = False
    """Whether lanes exchange what they load."""
    has_two_addresses: bool = False
    """Whether it has two addresses, each with data of its own (DS_*2ADDR_*)."""
    expects_first: bool = False
    """Whether a compare-and-swap has the expected value as its first data operand, not its
    second."""


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
    MATRIX_NARROW = "matrix product of 8-bit elements"
    MATRIX_FOUR_BITS = "matrix product of 4-bit elements"
    MATRIX_BLOCKS = "MFMA"  # as many passes as its product says (`BlockProduct.passes`)
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

    NONE = auto()  # it has none
    NUMBER = auto()  # an unsigned number
    SIGNED = auto()  # a signed number
    BITS = auto()  # bits, written in hexadecimal
    BRANCH = auto()  # the distance of a branch, in dwords
    MESSAGE = auto()  # the message of S_SENDMSG
    HARDWARE_REGISTER = auto()  # a hardware register with offset and size
    VERSION = auto()  # the microcode version of S_VERSION
    END = auto()  # the number of S_ENDPGM, usually 0
    DELAYS = auto()  # the conditions of S_DELAY_ALU
    DEPENDENCIES = auto()  # the counters of S_WAIT_ALU
    OLD_COUNTERS = auto()  # the three counters of S_WAITCNT
    SWIZZLE = auto()  # the pattern of DS_SWIZZLE
    ATTRIBUTE = auto()  # the attribute of an interpolation
    INDEX_MODE = auto()  # the operands that S_SET_GPR_IDX_* index
    CLAUSE = auto()  # the length and breaks of S_CLAUSE


@dataclass(frozen=True, slots=True)
class Traits:
    """The facts about one opcode; those of a dual-issue instruction are about one half."""

    unit: Unit
    """The part of the processor that executes it."""
    result: Result
    """What its first destination is."""
    operation: str
    """The mnemonic without the prefix of dual-issue halves, by which tables of what instructions
    compute have it."""
    is_dual: bool = False
    """Whether it is half of a dual-issue instruction."""
    immediate: Immediate = Immediate.NUMBER
    """What the constant of a scalar or LDS instruction is."""
    timing: Timing = Timing.VALU
    """The class of instructions that keep a unit busy equally long."""

    flow: Flow = Flow.NEXT
    """How the wave goes on after it."""
    condition: Condition | None = None
    """What a conditional branch tests; None for anything else."""
    barrier: Barrier | None = None
    """What it does with a barrier."""
    idle: Idle | None = None
    """Set for instructions that compute nothing."""
    reads_pc: bool = False
    """Whether it reads the program counter (S_GETPC_B64)."""

    memory: Access | None = None
    """Its access to memory; None if it has none."""
    cache: CacheAction | None = None
    """What a cache instruction does."""
    cache_scope: int | None = None
    """The scope that a cache instruction has by its name, as `Instruction.scope`."""
    event: WaitEvent | None = None
    """As what the wait counters count it. Atomics without a result count as stores."""
    waits: tuple[WaitField, ...] = ()
    """The wait counters that its immediate encodes, for a wait instruction."""

    lane_by_lane: bool = True
    """Whether each active lane, and no other, writes all registers of the result, from its own lane
    of the sources."""
    once_per_wave: bool = False
    """Whether a wave64 executes it once, not once for each half."""
    single_lane: SingleLane | None = None
    """Set if it moves one lane of a vector register from or to a scalar register."""
    moved_role: str | None = None
    """The operand whose values go to other lanes."""
    reads_inactive: bool = False
    """Whether it may read inactive lanes, whatever its fields say."""
    is_pseudo_scalar: bool = False
    """Whether it is a vector ALU instruction on scalar registers (V_S_*)."""
    ignores_exec: bool = False
    """Whether all lanes take part, whatever EXEC holds."""
    is_relative: bool = False
    """Whether M0 is added to the numbers of vector registers (V_MOVREL*, S_SET_GPR_IDX_*)."""
    moves_relative_scalars: bool = False
    """Whether M0 is added to the numbers of scalar registers (S_MOVREL*)."""
    leaves_graph: bool = False
    """Whether it may go on where no analysis follows: it returns from the trap handler, splits a
    wave, or asks the debugger."""
    implies_m0: bool = False
    """Whether it reads M0 without naming it, for an address in LDS, a message or a trace."""

    reads_scc: bool = False
    """Whether it reads SCC."""
    writes_scc: bool = False
    """Whether it writes SCC, at once or when a wait counter says so (`scc_is_late`)."""
    scc_is_late: bool = False
    """Whether it writes SCC only after a wait, such as S_BARRIER_SIGNAL_ISFIRST."""
    writes_exec: bool = False
    """Whether it writes EXEC, as an operand or implicitly."""
    writes_mode: ModeWrite | None = None
    """Which part of MODE it writes."""

    matrix: MatrixProduct | None = None
    """The product of a WMMA or SWMMAC instruction."""
    block_product: BlockProduct | None = None
    """The product of an MFMA or SMFMAC instruction."""
    logic: ScalarLogic | None = None
    """Its operator, for bitwise logic of scalar registers."""
    arithmetic: Arithmetic | None = None
    """Set for the operations through which analyses follow values."""
    compares: bool = False
    """Whether it is a vector comparison, whose result is a lane mask."""
    is_dot: bool = False
    """Whether it adds the products of packed elements (V_DOT*)."""
    is_packed: bool = False
    """Whether it computes two results side by side (V_PK_*)."""
    is_mixed: bool = False
    """Whether op_sel_hi chooses the types of the sources (V_FMA_MIX_*)."""
    picks_source: bool = False
    """Whether the result is one of the sources, such as a minimum."""
    part_bits: int | None = None
    """How many bits of its destination op_sel chooses, 8 or 16; the others stay (gfx9)."""
    is_quotient: bool = False
    """Whether it finishes a division, whose infinity is no overflow if the denominator is 0."""
    rounding: FloatMode | None = None
    """Which field of MODE rounds the result."""

    ends_block: bool = field(init=False)
    """Whether a basic block ends with it; stored, because it is asked several times for each
    instruction of a kernel."""

    @property
    def waits_at_barrier(self) -> bool:
        """Whether it waits until other waves have arrived at a barrier."""
        return self.barrier is not None and self.barrier.waits

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends_block", self.flow is not Flow.NEXT)
