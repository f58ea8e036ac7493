"""What the cycle model knows of the hardware: a table, each row with its source.

`PARAMETERS` has the rows by name; the table in `docs/cycles.md` is made from it. Cycles are the
shader clock's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from amdjit.cycles.program import CDNA, QUANTUM, passes_of, transfer_dwords
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow, Idle, Immediate, Timing, Unit

__all__ = [
    "CDNA_PASSES",
    "PARAMETERS",
    "PASSES",
    "RDNA3_PASSES",
    "Parameter",
    "Source",
    "issue_cycles",
    "passes_name",
]


class Source(Enum):
    """How a value is known."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    ASSUMED = "assumption"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of the model. unit: of the value. source: where it comes from, in words. kind: how
    it is known."""

    name: str
    value: float
    unit: str
    source: str
    kind: Source = Source.MEASURED

    @property
    def cycles(self) -> int:
        """The value as a whole number."""
        return int(self.value)


def _rows(*rows: Parameter) -> Mapping[str, Parameter]:
    return {row.name: row for row in rows}


_TRACES = "traces: "

# How many cycles the unit is busy with an instruction of each class, in wave32.
PASSES: Mapping[Timing, int] = {
    Timing.VALU: 1,
    Timing.VALU_HALF: 2,
    Timing.VALU_QUARTER: 4,
    Timing.TRANSCENDENTAL: 4,
    Timing.PSEUDO_SCALAR: 1,
    Timing.DOUBLE: 32,
    Timing.MATRIX_WIDE: 16,
    Timing.MATRIX_NARROW: 8,
    Timing.MATRIX_FOUR_BITS: 8,
    Timing.SALU: 1,
    Timing.SALU_MULTIPLY: 1,
    Timing.SALU_MULTIPLY_64: 1,
    Timing.SALU_FLOAT: 1,
    Timing.IMMEDIATE: 1,
    Timing.BRANCH: 1,
    Timing.MESSAGE: 1,
    Timing.BARRIER_SIGNAL: 1,
    Timing.END: 1,
    Timing.SCALAR_MEMORY: 1,
}


# The same of RDNA 3. WMMA: traces, and AMD's matrix instruction calculator; where sources share a
# bank, "matrix bank conflict" comes on top.
RDNA3_PASSES: Mapping[Timing, int] = {
    **PASSES,
    Timing.MATRIX_WIDE: 32,
    Timing.MATRIX_NARROW: 32,
    Timing.MATRIX_FOUR_BITS: 16,
}

# The same of CDNA, in wave64. MFMA: as its product says.
CDNA_PASSES: Mapping[Timing, int] = {
    **{timing: QUANTUM for timing in Timing if timing not in (Timing.VECTOR_MEMORY, Timing.LDS)},
    # LLVM's scheduling model of gfx942 and gfx950 (SISchedule.td).
    Timing.TRANSCENDENTAL: 4 * QUANTUM,
}


def passes_name(timing: Timing) -> str:
    """Return the name under which values of parameters have the passes of a class."""
    return f"passes: {timing.value}"


PARAMETERS = _rows(
    Parameter(
        "valu queue",
        8,
        "instructions",
        _TRACES + "a SIMD takes the ninth WMMA when the first one ends (custom_wmma_simple, 194)",
    ),
    Parameter(
        "valu latency",
        8,
        "cycles",
        _TRACES + "issue to execution of an instruction that reads VGPRs, queue empty (1,759)",
    ),
    Parameter(
        "valu latency, scalar sources", 7, "cycles", _TRACES + "the same without VGPRs (189)"
    ),
    Parameter("valu latency, constants", 6, "cycles", _TRACES + "the same of constants only (51)"),
    Parameter(
        "matrix latency",
        12,
        "cycles",
        _TRACES + "issue to the first pass of a WMMA that meets an idle SIMD (5 of 9)",
    ),
    Parameter(
        "valu lead",
        5,
        "cycles",
        _TRACES + "place in the queue free before execution (r_2_8_16_4_4_16_4, 1,700)",
    ),
    Parameter(
        "valu dependency", 5, "cycles", _TRACES + "execution to execution of the reader (28)"
    ),
    Parameter(
        "transcendental dependency", 9, "cycles", _TRACES + "the same after v_rcp (about 30)"
    ),
    Parameter(
        "matrix bank conflict",
        0,
        "cycles",
        _TRACES + "a WMMA takes as long where all sources begin in one bank (discover_ops, 92)",
    ),
    Parameter(
        "matrix after valu",
        2,
        "cycles",
        _TRACES + "execution of a VALU instruction to the first pass of a WMMA (about 30)",
    ),
    Parameter(
        "matrix after transcendental", 6, "cycles", _TRACES + "the same after v_rcp (about 500)"
    ),
    Parameter(
        "transcendental moves",
        3,
        "places",
        _TRACES + "how far v_rcp has moved in the queue when another slow instruction follows "
        "(custom_handwritten, 1,600)",
    ),
    Parameter(
        "write after transcendental",
        6,
        "cycles",
        _TRACES + "execution to execution of an instruction that writes the same VGPR (12)",
    ),
    Parameter(
        "matrix after transcendental result",
        2,
        "cycles",
        _TRACES + "what a WMMA that reads the result waits longer (about 30)",
    ),
    Parameter(
        "matrix after pseudo-scalar",
        3,
        "cycles",
        _TRACES + "execution of v_s_exp to the first pass of a WMMA (about 10)",
    ),
    Parameter(
        "double shown",
        28,
        "cycles",
        _TRACES + "first pass of an f64 instruction to its event (190)",
    ),
    Parameter(
        "valu scalar results",
        7,
        "instructions",
        _TRACES + "VALU instructions of a wave that write SGPRs or VCC and are not done: the "
        "next one waits (discover_ops, comparisons, 96)",
    ),
    Parameter(
        "valu done",
        9,
        "cycles",
        _TRACES + "execution to a memory instruction, branch "
        "or s_wait_alu that waits for the result (1,300)",
    ),
    Parameter(
        "delay dependency",
        5,
        "cycles",
        _TRACES + "issue to the issue that s_delay_alu delays (326)",
    ),
    Parameter(
        "salu after valu read",
        -1,
        "cycles",
        _TRACES + "execution of the last VALU instruction that reads an SGPR to a SALU "
        "instruction that writes one (232)",
    ),
    Parameter("salu latency", 4, "cycles", _TRACES + "issue to execution (40)"),
    Parameter("salu dependency", 2, "cycles", _TRACES + "execution to execution (20)"),
    Parameter(
        "salu to valu",
        3,
        "cycles",
        _TRACES + "execution of SALU to VALU behind s_wait_alu sa_sdst(0) (24)",
    ),
    Parameter(
        "salu done",
        5,
        "cycles",
        _TRACES + "execution of SALU to SALU behind s_wait_alu "
        "sa_sdst(0), to scalar memory, and to VALU that uses SGPRs (270)",
    ),
    Parameter(
        "salu by register",
        0,
        "",
        _TRACES + "VALU that uses SGPRs waits for SALU that writes any (44)",
    ),
    Parameter("salu to memory", 6, "cycles", _TRACES + "execution to vector memory (16)"),
    Parameter("scc to branch", 5, "cycles", _TRACES + "execution to branch (335)"),
    Parameter(
        "salu queue",
        6,
        "instructions",
        _TRACES + "scalar instructions of a SIMD before one waits (discover_ops, 100)",
    ),
    Parameter("branch taken", 9, "cycles", _TRACES + "taken branch to next issue (310 of 557)"),
    Parameter("branch not taken", 3, "cycles", _TRACES + "(27)"),
    Parameter(
        "immediate after issue",
        3,
        "cycles",
        _TRACES + "s_nop, s_wait, s_clause after an instruction of another unit (700)",
    ),
    Parameter(
        "transfer start",
        3,
        "cycles",
        _TRACES + "issue to the transfer of operands to LDS or vector memory (350)",
    ),
    Parameter(
        "transfer done",
        3,
        "cycles",
        _TRACES + "last dword transferred to a VALU instruction of the wave (200)",
    ),
    Parameter(
        "transfer queue place",
        2,
        "cycles",
        _TRACES + "last dword transferred to the issue that takes the place (200)",
    ),
    Parameter(
        "transfer queue",
        9,
        "instructions",
        _TRACES + "LDS or vector memory instructions of a SIMD that wait for their transfer (40)",
    ),
    Parameter(
        "lds load",
        28,
        "cycles",
        _TRACES + "operands transferred to s_wait_dscnt passed, ds_load_b32 (10)",
    ),
    Parameter("lds store", 28, "cycles", _TRACES + "the same of ds_store_b32 (26)"),
    Parameter(
        "lds halves a dword",
        3,
        "half cycles",
        _TRACES + "LDS to the next instruction, for each dword of a lane if there are several: "
        "ds_load_b128 takes 6 cycles (r_32_32_16_2, 32)",
    ),
    Parameter(
        "lds halves a stored dword",
        3,
        "half cycles",
        "the same as of loads: no trace shows wide stores",
        Source.ASSUMED,
    ),
    Parameter(
        "lds backlog",
        117,
        "cycles",
        _TRACES + "an operand transfer waits if LDS would be done later (r_32_32_16_2, 9)",
    ),
    Parameter("barrier", 13, "cycles", _TRACES + "last signal to the next issue (5)"),
    Parameter("barrier signal", 3, "cycles", _TRACES + "s_barrier_signal to next issue (115)"),
    Parameter(
        "wave start",
        26,
        "cycles",
        _TRACES + "start of a wave to its first issue, code in the cache (158)",
    ),
    Parameter(
        "simds of a vector cache",
        2,
        "SIMDs",
        "AMD RDNA white paper: a vector cache for each compute unit",
        Source.DOCUMENTED,
    ),
)


def issue_cycles(instruction: Instruction) -> int | None:
    """Return for how many cycles an instruction keeps its unit busy, in wave32, of CDNA in wave64;
    of LDS and vector memory instructions, the path on which their operands go there.

    0 for s_delay_alu and s_wait_alu, which take no cycle of their own; None if it is not known.
    """
    traits = instruction.traits
    is_cdna = instruction.opcode.instruction_set.family == CDNA
    quantum = QUANTUM if is_cdna else 1
    if traits.immediate in (Immediate.DELAYS, Immediate.DEPENDENCIES):
        return 0
    if traits.idle is Idle.DELAY and traits.unit is Unit.SALU:
        return quantum * ((instruction.immediates.get("simm16", 0) & 15) + 1)
    if traits.flow is Flow.SLEEP:
        return None
    if traits.unit in (Unit.LDS, Unit.VECTOR_MEMORY):
        return quantum * transfer_dwords(instruction)
    if traits.block_product is not None:
        return quantum * passes_of(instruction)
    family = instruction.opcode.instruction_set.family
    return {CDNA: CDNA_PASSES, "gfx11": RDNA3_PASSES}.get(family, PASSES).get(traits.timing)
