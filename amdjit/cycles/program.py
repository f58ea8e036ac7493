"""A kernel's machine code as a table: what the cycle model needs to know of each instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.counting.lds_banks import groups_of, order_of
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.traits import (
    Barrier,
    Flag,
    Flow,
    Idle,
    Immediate,
    MemoryKind,
    Timing,
    Unit,
)
from amdjit.isa.wait_counters import WaitCounter, WaitEvent

__all__ = [
    "CDNA",
    "COUNTERS",
    "FIRST_SGPR",
    "NO_WAIT",
    "QUANTUM",
    "REGISTERS",
    "SCC",
    "TIMINGS",
    "VCC",
    "Dependency",
    "Kind",
    "ProgramTable",
    "Step",
    "passes_of",
    "program_table",
    "transfer_dwords",
]

Int32s = NDArray[np.int32]

# The family of processors that issue in quanta of four cycles, and these.
CDNA, QUANTUM = "gfx9", 4

# Registers by number: 256 VGPRs, then 106 SGPRs, then the others of `_FIRST`.
FIRST_SGPR = 256
VCC = 362
SCC = 383
REGISTERS = 384
_FIRST = {
    RegisterFile.VGPR: 0,
    RegisterFile.SGPR: FIRST_SGPR,
    RegisterFile.VCC: VCC,
    RegisterFile.TTMP: 364,
    RegisterFile.M0: 380,
    RegisterFile.EXEC: 381,
    RegisterFile.SCC: SCC,
}

COUNTERS = ("loadcnt", "storecnt", "dscnt", "kmcnt", "expcnt")
# Other families' counters count what these do: RDNA 3's and CDNA's VMcnt, VScnt and LGKMcnt; of the
# last, LDS instructions end in order, unlike scalar loads. CDNA's VMcnt counts stores, too.
_COUNTER = {
    **{(name, name != "kmcnt"): number for number, name in enumerate(COUNTERS)},
    ("vmcnt", True): COUNTERS.index("loadcnt"),
    ("vscnt", True): COUNTERS.index("storecnt"),
    ("lgkmcnt", True): COUNTERS.index("dscnt"),
    ("lgkmcnt", False): COUNTERS.index("kmcnt"),
}


def _number(counter: WaitCounter) -> int:
    return _COUNTER[counter.name, counter.in_order]


NO_WAIT = -1

TIMINGS = tuple(Timing)
_TIMING = {timing: number for number, timing in enumerate(TIMINGS)}


class Kind(IntEnum):
    """How an instruction leaves its wave: the port that it goes through, or what it does itself."""

    VALU = 0  # through the vector ALU
    SALU = 1  # through the scalar ALU
    SCALAR_MEMORY = 2  # to the scalar cache
    VECTOR_MEMORY = 3  # to memory, through the path that two SIMDs share
    LDS = 4  # to LDS, through the path that two SIMDs share
    BRANCH = 5  # by the wave itself; the next instruction is fetched from elsewhere
    IMMEDIATE = 6  # takes a cycle of the wave, or `Step.idle` of them
    WAIT = 7  # waits for counters
    DELAY = 8  # s_delay_alu: takes no cycle, delays instructions that follow
    WAIT_ALU = 9  # s_wait_alu
    BARRIER_SIGNAL = 10  # arrives at the barrier and goes on
    BARRIER_WAIT = 11  # takes no cycle if the barrier is complete
    MESSAGE = 12  # s_sendmsg
    END = 13  # s_endpgm
    BARRIER = 14  # arrives at the barrier and waits there


class Dependency(IntFlag):
    """What s_wait_alu waits for (fields of its immediate; LLVM, AMDGPUBaseInfo, DepCtr)."""

    VALU_VECTOR = 1  # va_vdst: VGPRs that VALU instructions write
    VALU_SCALAR = 2  # va_sdst: SGPRs that they write
    VALU_SOURCES = 4  # va_ssrc: SGPRs that they read
    MEMORY_SOURCES = 8  # vm_vsrc: VGPRs that memory instructions read
    VALU_VCC = 16  # va_vcc
    SALU_SCALAR = 32  # sa_sdst: SGPRs that SALU instructions write


# Shift and mask of each field; all ones: no wait.
_FIELDS = (
    (Dependency.VALU_VECTOR, 12, 15),
    (Dependency.VALU_SCALAR, 9, 7),
    (Dependency.VALU_SOURCES, 8, 1),
    (Dependency.MEMORY_SOURCES, 2, 7),
    (Dependency.VALU_VCC, 1, 1),
    (Dependency.SALU_SCALAR, 0, 1),
)


class Step(IntEnum):
    """Columns of `ProgramTable.steps`."""

    KIND = 0  # a `Kind`
    TIMING = 1  # an index of `TIMINGS`
    READS = 2  # the first of its sources in `ProgramTable.registers`
    READS_END = 3  # after the last of them
    WRITES = 4  # the first of its results there
    WRITES_END = 5  # after the last of them
    TRANSFER = 6  # dwords of address and data that go to the LDS or memory unit
    RESULT = 7  # dwords that a memory instruction returns to each lane
    COUNTED = 8  # bits of the wait counters that it increments
    IDLE = 9  # cycles of s_nop and s_sleep
    DELAY = 10  # the first condition of s_delay_alu, by number
    SKIP = 11  # how many instructions the second one comes after the first
    NEXT_DELAY = 12  # the second condition, 0 if there is none
    DEPENDENCIES = 13  # bits of `Dependency` that s_wait_alu waits for
    IS_LOAD = 14  # 1 if it loads from memory
    IS_STORE = 15  # 1 if it stores to memory
    CONDITION = 16  # the register that a branch tests, -1 without one
    SIZE = 17  # of the instruction, in bytes
    USES_SGPR = 18  # 1 for a VALU instruction with SGPRs other than VCC
    READS_SGPR = 19  # 1 if it reads a scalar register other than EXEC and SCC
    WRITES_SGPR = 20  # 1 if it writes a scalar register other than EXEC and SCC
    # 1 for a message that gives registers back, or the instruction before it: memory instructions
    # must have read their sources.
    NEEDS_SOURCES = 21
    PASSES = 22  # of an MFMA: quanta of four cycles for which the matrix unit is busy
    # Of an MFMA: passes before the vector ALU may execute beside it; 0 if it may not.
    ALONE = 23
    LDS_CYCLES = 24  # of an access of LDS by 64 lanes without bank conflicts
    SHARES_BANK = 25  # 1 for a WMMA of which two different sources begin in one bank of VGPRs
    # 1 for a VALU instruction that writes a scalar register other than VCC, or would but for null.
    WRITES_CARRY = 26
    COLUMNS = 27


@dataclass(frozen=True, slots=True, eq=False)
class ProgramTable:
    """A program. steps: a row for each instruction, columns as `Step` names them. registers: of all
    reads and writes. waits: for each instruction and counter of `COUNTERS`, how many may be in
    flight when it has passed, or `NO_WAIT`. addresses: of the instructions. family: of the
    instruction set, as `InstructionSet.family` names it."""

    steps: Int32s
    registers: Int32s
    waits: Int32s
    addresses: NDArray[np.int64]
    family: str = "gfx12"

    def __len__(self) -> int:
        return len(self.steps)

    def reads(self, index: int) -> Int32s:
        """Return the registers that an instruction reads, but VCC of VALU instructions: its value
        never makes one wait."""
        row = self.steps[index]
        return self.registers[row[Step.READS] : row[Step.READS_END]]

    def writes(self, index: int) -> Int32s:
        """Return the registers that an instruction writes."""
        row = self.steps[index]
        return self.registers[row[Step.WRITES] : row[Step.WRITES_END]]


def program_table(instructions: Sequence[Instruction]) -> ProgramTable:
    """Return the table of a program, in the order of its instructions."""
    table = _Table()
    for instruction in instructions:
        table.add(instruction)
    _mark_messages(table.steps)
    return ProgramTable(
        np.array(table.steps, np.int32).reshape(-1, Step.COLUMNS),
        np.array(table.registers, np.int32),
        np.array(table.waits, np.int32).reshape(-1, len(COUNTERS)),
        np.array([instruction.pc for instruction in instructions], np.int64),
        instructions[0].opcode.instruction_set.family if instructions else "gfx12",
    )


def _mark_messages(steps: list[list[int]]) -> None:
    following = [row[Step.KIND] for row in steps[1:]]
    for step, kind in zip(steps, [*following, Kind.END], strict=False):
        before = step[Step.KIND] == Kind.IMMEDIATE and kind == Kind.MESSAGE
        step[Step.NEEDS_SOURCES] = before or step[Step.KIND] == Kind.MESSAGE


@dataclass
class _Table:
    steps: list[list[int]] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)
    waits: list[list[int]] = field(default_factory=list)

    def add(self, instruction: Instruction) -> None:
        """Append an instruction."""
        row = [0] * Step.COLUMNS
        traits = instruction.traits
        row[Step.KIND] = kind_of(instruction)
        row[Step.TIMING] = _TIMING[traits.timing]
        reads, writes = _registers(instruction)
        # The vector ALU hands VCC on without a wait (traces: v_add_co to v_add_co_ci, 27).
        awaited = reads - {VCC, VCC + 1} if row[Step.KIND] == Kind.VALU else reads
        row[Step.READS], row[Step.READS_END] = self._keep(awaited)
        row[Step.WRITES], row[Step.WRITES_END] = self._keep(writes)
        row[Step.USES_SGPR] = _uses_sgpr(instruction, reads | writes)
        row[Step.READS_SGPR] = any(FIRST_SGPR <= register < 381 for register in reads)
        row[Step.WRITES_SGPR] = any(FIRST_SGPR <= register < 381 for register in writes)
        row[Step.WRITES_CARRY] = row[Step.KIND] == Kind.VALU and (
            any(FIRST_SGPR <= register < VCC for register in writes) or _writes_null(instruction)
        )
        row[Step.SIZE] = instruction.size
        row[Step.CONDITION] = _condition(instruction)
        _describe_memory(row, instruction)
        _describe_idle(row, instruction)
        _describe_product(row, instruction)
        row[Step.SHARES_BANK] = _shares_bank(instruction)
        self.steps.append(row)
        self.waits.append(_waits(instruction))

    def _keep(self, registers: frozenset[int]) -> tuple[int, int]:
        first = len(self.registers)
        self.registers.extend(sorted(registers))
        return first, len(self.registers)


_KINDS = {
    Timing.SALU: Kind.SALU,
    Timing.SALU_MULTIPLY: Kind.SALU,
    Timing.SALU_MULTIPLY_64: Kind.SALU,
    Timing.SALU_FLOAT: Kind.SALU,
    Timing.BRANCH: Kind.BRANCH,
    Timing.MESSAGE: Kind.MESSAGE,
    Timing.BARRIER_SIGNAL: Kind.BARRIER_SIGNAL,
    Timing.END: Kind.END,
    Timing.SCALAR_MEMORY: Kind.SCALAR_MEMORY,
    Timing.VECTOR_MEMORY: Kind.VECTOR_MEMORY,
    Timing.LDS: Kind.LDS,
    Timing.IMMEDIATE: Kind.IMMEDIATE,
}


def kind_of(instruction: Instruction) -> Kind:
    """Return how an instruction leaves its wave."""
    traits = instruction.traits
    if traits.barrier is Barrier.SYNC:
        return Kind.BARRIER
    if traits.waits_at_barrier:
        # Barrier 0 is none (RDNA 4 ISA, 5.5).
        return Kind.BARRIER_WAIT if instruction.immediates["simm16"] else Kind.IMMEDIATE
    if traits.immediate is Immediate.DELAYS:
        return Kind.DELAY
    if traits.immediate is Immediate.DEPENDENCIES:
        return Kind.WAIT_ALU
    if traits.idle is Idle.WAIT:
        return Kind.WAIT
    return _KINDS.get(traits.timing, Kind.VALU)


def _registers(instruction: Instruction) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the registers that an instruction reads and writes."""
    reads: set[int] = set()
    writes: set[int] = set()
    for part in (instruction, instruction.pair):
        if part is None:
            continue
        for spec, value in zip(part.opcode.operands, part.operands, strict=True):
            if isinstance(value, Register):
                numbers = list(_numbers(value))
                reads.update(numbers if spec.read else ())
                writes.update(numbers if spec.written else ())
        traits = part.traits
        reads.update((SCC,) if traits.reads_scc else ())
        writes.update((SCC,) if traits.writes_scc else ())
        writes.update((_FIRST[RegisterFile.EXEC],) if traits.writes_exec else ())
        if traits.unit is not Unit.SALU and not traits.once_per_wave:
            reads.add(_FIRST[RegisterFile.EXEC])
    condition = _condition(instruction)
    reads.update((condition,) if condition >= 0 else ())
    return frozenset(reads), frozenset(writes)


def _uses_sgpr(instruction: Instruction, registers: frozenset[int]) -> bool:
    """A carry that goes nowhere is an SGPR, too."""
    return any(FIRST_SGPR <= register < VCC for register in registers) or _writes_null(instruction)


def _writes_null(instruction: Instruction) -> bool:
    return any(
        spec.role == "sdst" and isinstance(value, Register) and value.file is RegisterFile.NULL
        for spec, value in zip(instruction.opcode.operands, instruction.operands, strict=True)
    )


def _numbers(register: Register) -> Iterator[int]:
    first = _FIRST.get(register.file)
    if first is not None:
        yield from range(first + register.index, first + register.index + register.dwords)


_FLAGS = {Flag.SCC: SCC, Flag.VCC: VCC, Flag.EXEC: _FIRST[RegisterFile.EXEC]}


def _condition(instruction: Instruction) -> int:
    condition = instruction.traits.condition
    return -1 if condition is None else _FLAGS[condition.flag]


def _describe_memory(row: list[int], instruction: Instruction) -> None:
    traits = instruction.traits
    if traits.event is not None:
        counted = instruction.opcode.instruction_set.wait_counters.counted[event_of(instruction)]
        row[Step.COUNTED] = sum(1 << _number(counter) for counter in counted)
    if traits.unit in (Unit.VECTOR_MEMORY, Unit.LDS, Unit.LDS_DIRECT):
        row[Step.TRANSFER] = transfer_dwords(instruction)
        row[Step.RESULT] = _vector_dwords(instruction, "written")
    access = traits.memory
    if access is not None:
        is_load = access.kind is MemoryKind.LOAD or row[Step.RESULT] > 0
        row[Step.IS_LOAD], row[Step.IS_STORE] = is_load, not is_load
        if traits.unit is Unit.LDS and access.size:
            order = order_of(instruction.opcode.instruction_set.name, is_load)
            parts = 2 if access.has_two_addresses else 1
            row[Step.LDS_CYCLES] = 2 * parts * len(groups_of(access.size, order))


def transfer_dwords(instruction: Instruction) -> int:
    """Return the dwords of a lane that go to LDS or vector memory: addresses and data."""
    dwords = _vector_dwords(instruction, "read", besides="vdst")
    if instruction.opcode.instruction_set.family == CDNA:
        # Addresses of 64 bits go as fast as those of 32 (traces: stores of 16 bytes to addresses
        # in registers are issued every 20 cycles, loads every 4).
        dwords -= any(
            spec.role == "vaddr" and isinstance(value, Register) and value.dwords == 2
            for spec, value in zip(instruction.opcode.operands, instruction.operands, strict=True)
        )
    return max(1, dwords)


def _vector_dwords(instruction: Instruction, direction: str, besides: str = "") -> int:
    return sum(
        value.dwords
        for spec, value in zip(instruction.opcode.operands, instruction.operands, strict=True)
        if isinstance(value, Register)
        and value.file is RegisterFile.VGPR
        and getattr(spec, direction)
        # A load that leaves half of its result's register alone does not send it.
        and spec.role != besides
    )


# Atomics that return the old value count as loads.
_RETURNING = {
    WaitEvent.VECTOR_STORE: WaitEvent.VECTOR_LOAD,
    WaitEvent.FLAT_STORE: WaitEvent.FLAT_LOAD,
}


def event_of(instruction: Instruction) -> WaitEvent:
    """Return what wait counters count of a memory instruction or message."""
    event, access = instruction.traits.event, instruction.traits.memory
    assert event is not None
    if access is None or access.kind is not MemoryKind.ATOMIC:
        return event
    first = instruction.operands[0] if instruction.operands else None
    returns = instruction.opcode.operands[0].role == "vdst" and first is not None
    return _RETURNING.get(event, event) if returns else event


# Traces: s_sleep 4 takes 245 cycles (22).
_SLEEP_CYCLES, _SLEEP_LESS = 64, 11


def _describe_idle(row: list[int], instruction: Instruction) -> None:
    traits = instruction.traits
    immediate = instruction.immediates.get("simm16", 0)
    kind = row[Step.KIND]
    if kind == Kind.DELAY:
        row[Step.DELAY] = immediate & 15
        row[Step.SKIP] = immediate >> 4 & 7
        row[Step.NEXT_DELAY] = immediate >> 7 & 15
    elif kind == Kind.WAIT_ALU:
        row[Step.DEPENDENCIES] = sum(
            bit for bit, shift, mask in _FIELDS if immediate >> shift & mask != mask
        )
    elif traits.flow is Flow.SLEEP and instruction.opcode.instruction_set.family == CDNA:
        row[Step.IDLE] = max(1, _SLEEP_CYCLES // QUANTUM * (immediate & 127))
    elif traits.flow is Flow.SLEEP:
        row[Step.IDLE] = max(1, _SLEEP_CYCLES * (immediate & 127) - _SLEEP_LESS)
    elif traits.idle is Idle.DELAY and kind == Kind.IMMEDIATE:
        row[Step.IDLE] = (immediate & 15) + 1


def _describe_product(row: list[int], instruction: Instruction) -> None:
    product = instruction.traits.block_product
    if product is None:
        return
    row[Step.PASSES] = passes_of(instruction)
    # AMD's matrix instruction calculator: from the fourth cycle on, of sparse ones the eighth.
    is_xdl = product.is_xdl(instruction.opcode.instruction_set.name)
    row[Step.ALONE] = (1 + product.sparse) * is_xdl


# VGPRs are in as many banks, by number.
_BANKS = 4


def _shares_bank(instruction: Instruction) -> bool:
    if instruction.traits.matrix is None:
        return False
    first = {
        value.index
        for spec, value in zip(instruction.opcode.operands, instruction.operands, strict=True)
        if spec.role != "vdst" and isinstance(value, Register)
    }
    return len({index % _BANKS for index in first}) < len(first)


def passes_of(instruction: Instruction) -> int:
    """Return for how many quanta of four cycles an MFMA keeps the matrix unit busy; 0 for other
    instructions."""
    product = instruction.traits.block_product
    if product is None:
        return 0
    formats = [instruction.immediates.get(field, 0) for field in ("cbsz", "blgp")]
    name, dwords = instruction.opcode.instruction_set.name, instruction.opcode.operands[0].dwords
    return product.passes(dwords, name) * product.f8_factor(formats)


# gfx11's s_waitcnt, which gfx12 still takes: shift and mask of a counter.
_OLD = (("loadcnt", 10, 63), ("dscnt", 4, 63), ("kmcnt", 4, 63), ("expcnt", 0, 7))


def _waits(instruction: Instruction) -> list[int]:
    limits = [NO_WAIT] * len(COUNTERS)
    immediates = instruction.immediates
    for wait in instruction.traits.waits:
        left = wait.left(immediates.get(wait.immediate, 0))
        is_open = wait.mask != 0 and left == wait.left(0xFFFF)
        limits[_number(wait.counter)] = NO_WAIT if is_open else left
    is_old = instruction.traits.immediate is Immediate.OLD_COUNTERS
    if is_old and not instruction.traits.waits:
        for name, shift, mask in _OLD:
            value = immediates["simm16"] >> shift & mask
            limits[COUNTERS.index(name)] = NO_WAIT if value == mask else value
    return limits
