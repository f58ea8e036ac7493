"""The hazards that code has to avoid, a row each: what must not follow on what too soon.

The hardware looks after most dependences between instructions. For those in this table it does
not, and code has to put wait states, other instructions or a wait in between. The first column of a
row says on which processors; the source is the ISA document, or the function of LLVM 22
(GCNHazardRecognizer, unless it names another file) that does it for compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, Flag, auto

from amdjit.emulator.checks.waits import acts, exact_states
from amdjit.emulator.checks.waits.acts import Act, Step

__all__ = ["ROWS", "Clock", "End", "Pattern", "Row"]


class Clock(Enum):
    """What has to pass between two instructions."""

    STATES = "wait states"  # every instruction is one, `s_nop N` is N + 1
    VALU = "vector instructions"
    WORKING_VALU = "vector instructions other than `v_nop`"
    NONE = ""  # nothing but what ends the hazard


class End(Flag):
    """What ends a hazard at once, however little has passed."""

    NONE = 0
    MEMORY = auto()  # a vector memory or LDS instruction, which waits for the vector ALU
    SCALAR_OR_BUFFER = auto()  # a scalar memory or buffer instruction
    VA_VDST = auto()  # S_WAITCNT_DEPCTR or S_WAIT_ALU, for the vector ALU's writes of VGPRs
    VA_SDST = auto()  # for its writes of SGPRs
    VA_VCC = auto()  # for its writes of VCC
    SA_SDST = auto()  # for the scalar ALU's writes
    VM_VSRC = auto()  # for memory instructions to have read their VGPRs
    ALL_COUNTERS = auto()  # S_WAITCNT 0
    VALU = auto()  # a vector instruction


class Pattern(Enum):
    """Rows that are more than a pair of instructions."""

    FORWARDING = auto()
    CLAUSE = auto()


# The wait states of a use, where they depend on both instructions and the registers.
Exact = Callable[[Step, Step, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One hazard."""

    name: str
    """By which it is named in reports."""
    processors: tuple[str, ...]
    """The instruction sets that have it (`InstructionSet.name`)."""
    first: Act
    """What an instruction does."""
    then: Act
    """What another one must not do too soon, with one of the same registers."""
    states: int
    """How much has to pass in between, at most if it depends on the instructions."""
    source: str
    """The document or program that says so."""
    clock: Clock = Clock.STATES
    """What counts as passing."""
    exact: Exact | None = None
    """How much it is for two instructions, if it depends on them."""
    words: str = ""
    """The same in words."""
    after: Act | None = None
    """It matters only where this has been done to the register before."""
    forgets_after: bool = False
    """Whether a write of the register ends that."""
    between: Act | None = None
    """It matters only if this comes in between."""
    forgets: Act | None = None
    """What ends the hazard for a register, because later uses see something else."""
    ends: End = End.NONE
    """What ends it for all registers."""
    ended_by: Act | None = None
    """What else ends it for all registers."""
    transcendentals: int | None = None
    """How many transcendental instructions may come in between, if more end it."""
    crosses_functions: bool = False
    """Whether what callers do counts for functions, and the other way round."""
    only_wave64: bool = False
    """Whether only waves of 64 lanes have it."""
    pattern: Pattern | None = None
    """How it is recognised, if not as a pair."""

    @property
    def is_read_first(self) -> bool:
        """Whether the first instruction reads what must not be overwritten."""
        return not self.first.writes


_CDNA1 = ("gfx908",)
_CDNA2 = ("gfx90a",)
_CDNA3 = ("gfx942", "gfx950")
_CDNA4 = ("gfx950",)
_CDNA2_ON = (*_CDNA2, *_CDNA3)
_MATRIX = (*_CDNA1, *_CDNA2_ON)
_GFX9 = ("gfx906", *_MATRIX)
_GFX11 = ("gfx11", "gfx11.5")
_GFX12 = ("gfx12",)
_RDNA = (*_GFX11, *_GFX12)

_ISA = "CDNA 3 ISA, 4.5"

# Pairs that gfx9 has had since the beginning.
_OLD = (
    Row(
        name="SGPR for a memory instruction",
        processors=_GFX9,
        first=acts.VALU_WRITES_SCALAR,
        then=acts.MEMORY_READS_SCALAR,
        states=5,
        source=f"{_ISA}; checkVMEMHazards, which counts EXEC",
    ),
    Row(
        name="lane select",
        processors=_GFX9,
        first=acts.VALU_WRITES_SCALAR,
        then=acts.LANE_SELECT,
        states=4,
        source=f"{_ISA}; checkRWLaneHazards",
    ),
    Row(
        name="VCC of a division",
        processors=_GFX9,
        first=acts.VALU_WRITES_VCC,
        then=acts.DIVISION_READS_VCC,
        states=4,
        source=f"{_ISA}; checkDivFMasHazards",
    ),
    Row(
        name="test for zero",
        processors=_GFX9,
        first=acts.VALU_WRITES_SCALAR,
        then=acts.READS_ZERO_TEST,
        states=5,
        source=_ISA,
    ),
    Row(
        name="EXEC before DPP",
        processors=_GFX9,
        first=acts.VALU_WRITES_EXEC,
        then=acts.DPP_UNDER_EXEC,
        states=5,
        source=f"{_ISA}; checkDPPHazards",
    ),
    Row(
        name="VGPR for DPP",
        processors=_GFX9,
        first=acts.WRITES_VECTOR,
        then=acts.DPP_READS,
        states=2,
        source=f"{_ISA}; checkDPPHazards, which counts loads",
    ),
    Row(
        name="hardware register",
        processors=_GFX9,
        first=acts.SETREG,
        then=acts.GETREG,
        states=2,
        source=f"{_ISA}; checkGetRegHazards",
    ),
    Row(
        name="hardware register, written again",
        processors=_GFX9,
        first=acts.SETREG,
        then=acts.SETREG_AGAIN,
        states=2,
        source="checkSetRegHazards",
    ),
    Row(
        name="TRAPSTS of a trap handler",
        processors=_GFX9,
        first=acts.SETREG,
        then=acts.RETURN_FROM_TRAP,
        states=1,
        source=f"{_ISA}; checkRFEHazards",
    ),
    Row(
        name="M0",
        processors=_GFX9,
        first=acts.SALU_WRITES_M0,
        then=acts.TAKES_M0,
        states=1,
        source=f"{_ISA}; checkReadM0Hazards",
    ),
    Row(
        name="data of a wide store",
        processors=("gfx906", *_CDNA1, *_CDNA2),
        first=acts.WIDE_STORE,
        then=acts.VALU_OVERWRITES,
        states=1,
        source=f"{_ISA}; createsVALUHazard",
    ),
    Row(
        name="data of a wide store",
        processors=_CDNA3,
        first=acts.WIDE_STORE,
        then=acts.VALU_OVERWRITES,
        states=2,
        source=f"{_ISA}; checkVALUHazardsHelper",
    ),
    Row(
        name="clause of scalar loads",
        processors=_GFX9,
        first=acts.SCALAR_CLAUSE,
        then=acts.SCALAR_CLAUSE,
        states=1,
        pattern=Pattern.CLAUSE,
        words="1 if they write what one of them reads, or the later one stores",
        source="checkSoftClauseHazards",
    ),
    Row(
        name="clause of vector memory instructions",
        processors=_GFX9,
        first=acts.VECTOR_CLAUSE,
        then=acts.VECTOR_CLAUSE,
        states=1,
        pattern=Pattern.CLAUSE,
        words="1 if they write what one of them reads, or the later one stores",
        source="checkSoftClauseHazards",
    ),
)

# What gfx942 and gfx950 add.
_NEW = (
    Row(
        name="transcendental result",
        processors=_CDNA3,
        first=acts.TRANSCENDENTAL_WRITES,
        then=acts.PLAIN_VALU_READS,
        states=1,
        source=f"{_ISA}; checkVALUHazards (hasTransForwardingHazard)",
    ),
    Row(
        name="part of a VGPR",
        processors=_CDNA3,
        first=acts.MOVED_RESULT,
        then=acts.VALU_TOUCHES,
        states=1,
        source=f"{_ISA}; checkVALUHazards (hasDstSelForwardingHazard)",
    ),
    Row(
        name="SGPR for the vector ALU",
        processors=_CDNA3,
        first=acts.VALU_WRITES_SCALAR,
        then=acts.VALU_READS_SCALAR,
        states=2,
        source=f"{_ISA}; checkVALUHazards (hasVDecCoExecHazard)",
    ),
    Row(
        name="EXEC before a move of one lane",
        processors=_CDNA3,
        first=acts.VALU_WRITES_EXEC,
        then=acts.LANE_UNDER_EXEC,
        states=4,
        source=f"{_ISA}; checkVALUHazards (hasVDecCoExecHazard)",
    ),
    Row(
        name="VGPR for a move of one lane",
        processors=_CDNA3,
        first=acts.VALU_WRITES_VECTOR,
        then=acts.LANE_READ,
        states=1,
        source=f"{_ISA}; checkVALUHazards (hasVDecCoExecHazard)",
    ),
    Row(
        name="VGPR for a permutation",
        processors=_CDNA4,
        first=acts.VALU_WRITES_VECTOR,
        then=acts.PERMLANE_READS,
        states=2,
        source="checkPermlaneHazards",
    ),
    Row(
        name="EXEC before a permutation",
        processors=_CDNA4,
        first=acts.VALU_WRITES_EXEC,
        then=acts.PERMLANE_UNDER_EXEC,
        states=4,
        source="checkPermlaneHazards",
    ),
)

# Matrix and dot products of gfx908 to gfx950. Results end in order: products may overwrite them.
_PRODUCTS = (
    Row(
        name="result of MFMA as a factor",
        processors=_MATRIX,
        first=acts.PRODUCT_WRITES,
        then=acts.PRODUCT_FACTOR,
        states=20,
        exact=exact_states.as_factor,
        words="4 (gfx908); passes + 2 or 3; 6 to 19 (f64)",
        forgets=acts.WRITES_VECTOR,
        source=f"{_ISA}; checkMAIHazards90A",
    ),
    Row(
        name="result of MFMA as C",
        processors=_MATRIX,
        first=acts.PRODUCT_WRITES,
        then=acts.PRODUCT_C,
        states=20,
        exact=exact_states.as_c,
        words="0 to passes + 2; 0 to 17 (f64)",
        forgets=acts.WRITES_VECTOR,
        source=f"{_ISA}; checkMAIHazards90A",
    ),
    Row(
        name="result of MFMA, read",
        processors=_MATRIX,
        first=acts.PRODUCT_WRITES,
        then=acts.VALU_READS_RESULT,
        states=20,
        exact=exact_states.read,
        words="passes + 2 to passes + 4; 6 to 19 (f64)",
        forgets=acts.WRITES_VECTOR,
        source=f"{_ISA}; checkMAIVALUHazards",
    ),
    Row(
        name="result of MFMA, sent to memory",
        processors=_CDNA2_ON,
        first=acts.PRODUCT_WRITES,
        then=acts.MEMORY_READS,
        states=20,
        exact=exact_states.sent,
        words="passes + 2 to passes + 4; 9 or 18 (f64)",
        forgets=acts.WRITES_VECTOR,
        source=f"{_ISA}; checkMAIVALUHazards",
    ),
    Row(
        name="result of MFMA, overwritten",
        processors=_MATRIX,
        first=acts.PRODUCT_WRITES,
        then=acts.WORK_WRITES,
        states=20,
        exact=exact_states.overwritten,
        words="passes - 1 (gfx908); passes + 2 to passes + 4; 6 or 11 (f64)",
        forgets=acts.WRITES_VECTOR,
        source=f"{_ISA}; checkMAIVALUHazards",
    ),
    Row(
        name="C of MFMA, overwritten",
        processors=_CDNA2_ON,
        first=acts.MATRIX_UNIT_READS_C,
        then=acts.WORK_WRITES,
        states=15,
        exact=exact_states.after_c,
        words="passes - 1",
        source=f"{_ISA}; checkMAIVALUHazards",
    ),
    Row(
        name="C of MFMA, overwritten",
        processors=_CDNA1,
        first=acts.MATRIX_UNIT_READS_C,
        then=acts.TO_ACCUMULATOR_AGAIN,
        states=13,
        exact=exact_states.after_c_of_accumulators,
        words="passes - 3",
        source="checkMAIHazards908",
    ),
    Row(
        name="VGPR for MFMA",
        processors=_CDNA2_ON,
        first=acts.SIMPLE_VALU_WRITES,
        then=acts.PRODUCT_READS,
        states=2,
        source=f"{_ISA}; checkMAIHazards90A",
    ),
    Row(
        name="EXEC before MFMA",
        processors=_CDNA2_ON,
        first=acts.VALU_WRITES_EXEC,
        then=acts.PRODUCT_UNDER_EXEC,
        states=4,
        source="checkMAIHazards90A",
    ),
    Row(
        name="VGPR for MFMA",
        processors=_CDNA1,
        first=acts.VALU_WRITES_VGPR,
        then=acts.MATRIX_READS_VGPR,
        states=2,
        source="checkMAIHazards908",
    ),
    Row(
        name="EXEC before MFMA",
        processors=_CDNA1,
        first=acts.VALU_WRITES_EXEC,
        then=acts.MATRIX_UNDER_EXEC,
        states=4,
        source="checkMAIHazards908",
    ),
    Row(
        name="accumulation VGPR as C",
        processors=_CDNA1,
        first=acts.TO_ACCUMULATOR,
        then=acts.PRODUCT_C,
        states=1,
        source="checkMAIHazards908",
    ),
    Row(
        name="accumulation VGPR as a factor",
        processors=_CDNA1,
        first=acts.TO_ACCUMULATOR,
        then=acts.PRODUCT_FACTOR,
        states=3,
        source="checkMAIHazards908",
    ),
    Row(
        name="accumulation VGPR, read",
        processors=_CDNA1,
        first=acts.TO_ACCUMULATOR,
        then=acts.FROM_ACCUMULATOR_READS,
        states=3,
        source="checkMAIHazards908",
    ),
    Row(
        name="accumulation VGPR, written again",
        processors=_CDNA1,
        first=acts.TO_ACCUMULATOR,
        then=acts.TO_ACCUMULATOR_AGAIN,
        states=3,
        source="checkMAIHazards908",
    ),
    Row(
        name="moved accumulator, sent to memory",
        processors=_CDNA1,
        first=acts.FROM_ACCUMULATOR,
        then=acts.MEMORY_READS,
        states=2,
        source="checkMAILdStHazards",
    ),
    Row(
        name="VGPR sent to memory past an accumulator",
        processors=_CDNA1,
        first=acts.PLAIN_ALU_WRITES,
        then=acts.MEMORY_READS,
        states=2,
        between=acts.ACCUMULATOR_MOVE,
        source="checkMAILdStHazards",
    ),
    Row(
        name="VGPR sent to memory past an MFMA of f64",
        processors=_CDNA2,
        first=acts.VALU_WRITES_VECTOR,
        then=acts.MEMORY_READS,
        states=2,
        between=acts.DOUBLE_PRODUCT,
        source="checkMAIVALUHazards",
    ),
    Row(
        name="multiply-add of f64 after MFMA of f64",
        processors=_CDNA2_ON,
        first=acts.DOUBLE_PRODUCT,
        then=acts.DOUBLE_SUM,
        states=2,
        source="checkMAIVALUHazards",
    ),
    Row(
        name="dot product, read",
        processors=_CDNA2_ON,
        first=acts.DOT_WRITES,
        then=acts.WORK_READS,
        states=3,
        exact=exact_states.of_dot,
        words="3; 0 as C of the same instruction",
        source=f"{_ISA}; checkMAIVALUHazards",
    ),
    Row(
        name="dot product, overwritten",
        processors=_CDNA2_ON,
        first=acts.DOT_WRITES,
        then=acts.WORK_WRITES,
        states=3,
        exact=exact_states.of_dot_overwritten,
        words="3; 0 by the same instruction",
        source=f"{_ISA}; checkMAIVALUHazards",
    ),
)

# gfx11 and gfx12, where counters of the ALUs can be waited for.
_RECENT = (
    Row(
        name="EXEC before a permutation",
        processors=_RDNA,
        first=acts.VALU_WRITES_EXEC,
        then=acts.PERMLANE_UNDER_EXEC,
        states=1,
        clock=Clock.WORKING_VALU,
        source="fixVcmpxPermlaneHazards",
    ),
    Row(
        name="result of WMMA as a factor",
        processors=_GFX11,
        first=acts.WMMA_WRITES,
        then=acts.WMMA_FACTOR,
        states=1,
        clock=Clock.VALU,
        source="RDNA 3 ISA, 7.9; fixWMMAHazards",
    ),
    Row(
        name="result of WMMA as a factor",
        processors=_GFX12,
        first=acts.WMMA_WRITES,
        then=acts.WMMA_FACTOR_OR_INDEX,
        states=1,
        clock=Clock.VALU,
        source="RDNA 4 ISA, 7.12; fixWMMAHazards",
    ),
    Row(
        name="transcendental result",
        processors=("gfx11",),
        first=acts.TRANSCENDENTAL_WRITES,
        then=acts.VALU_READS_VECTOR,
        states=6,
        clock=Clock.VALU,
        transcendentals=1,
        ends=End.MEMORY | End.VA_VDST,
        source="fixVALUTransUseHazard",
    ),
    Row(
        name="VGPRs of before and after EXEC",
        processors=_GFX11,
        first=acts.VALU_WRITES_VECTOR,
        then=acts.VALU_READS_VECTOR,
        states=5,
        clock=Clock.VALU,
        ends=End.MEMORY | End.VA_VDST,
        only_wave64=True,
        pattern=Pattern.FORWARDING,
        words="5, and 3 around the write of EXEC",
        source="fixVALUPartialForwardingHazard",
    ),
    Row(
        name="mask that the scalar ALU overwrites",
        processors=_GFX11,
        first=acts.SALU_WRITES_OWN,
        then=acts.ALU_READS_OWN,
        states=1,
        clock=Clock.NONE,
        after=acts.VALU_READS_MASK,
        forgets_after=True,
        ends=End.SA_SDST,
        only_wave64=True,
        source="fixVALUMaskWriteHazard",
    ),
    Row(
        name="mask that the vector ALU overwrites",
        processors=_GFX11,
        first=acts.VALU_WRITES_SGPR,
        then=acts.VALU_READS_SGPR,
        states=1,
        clock=Clock.NONE,
        after=acts.VALU_READS_MASK,
        forgets_after=True,
        ends=End.VA_SDST,
        only_wave64=True,
        source="fixVALUMaskWriteHazard",
    ),
    Row(
        name="mask in VCC that the vector ALU overwrites",
        processors=_GFX11,
        first=acts.VALU_WRITES_VCC,
        then=acts.VALU_READS_VCC,
        states=1,
        clock=Clock.NONE,
        after=acts.VALU_READS_MASK,
        forgets_after=True,
        ends=End.VA_VCC,
        only_wave64=True,
        source="fixVALUMaskWriteHazard",
    ),
    Row(
        name="VGPR of the vector ALU for a direct load of LDS",
        processors=_RDNA,
        first=acts.VALU_TOUCHES,
        then=acts.DIRECT_LOAD_WRITES,
        states=15,
        clock=Clock.VALU,
        exact=exact_states.of_direct_load,
        words="as many as its field allows under way; for transcendental ones, none",
        ends=End.MEMORY | End.VA_VDST,
        source="fixLdsDirectVALUHazard",
    ),
    Row(
        name="VGPR of memory for a direct load of LDS",
        processors=_RDNA,
        first=acts.MEMORY_TOUCHES,
        then=acts.DIRECT_LOAD_WRITES,
        states=1,
        clock=Clock.NONE,
        exact=exact_states.of_memory_before_direct_load,
        ends=End.VALU | End.VM_VSRC | End.ALL_COUNTERS,
        source="fixLdsDirectVMEMHazard",
    ),
    Row(
        name="release of VGPRs",
        processors=_RDNA,
        first=acts.ANY,
        then=acts.RELEASE,
        states=1,
        source="SIInsertWaitcnts (requiresNopBeforeDeallocVGPRs)",
    ),
    Row(
        name="SGPR that the scalar ALU overwrites",
        processors=_GFX12,
        first=acts.SALU_WRITES_OWN,
        then=acts.ALU_READS_OWN,
        states=1,
        clock=Clock.NONE,
        after=acts.VALU_READS_PAIR,
        crosses_functions=True,
        forgets=acts.VALU_WRITES_VCC,
        ends=End.SA_SDST | End.SCALAR_OR_BUFFER,
        source="AMDGPUWaitSGPRHazards",
    ),
    Row(
        name="SGPR that the vector ALU overwrites",
        processors=_GFX12,
        first=acts.VALU_WRITES_SGPR,
        then=acts.VALU_READS_SGPR,
        states=1,
        clock=Clock.NONE,
        after=acts.VALU_READS_PAIR,
        crosses_functions=True,
        ends=End.VA_SDST | End.SCALAR_OR_BUFFER,
        ended_by=acts.SALU_READS_SGPR,
        source="AMDGPUWaitSGPRHazards",
    ),
    Row(
        name="VCC that the vector ALU overwrites",
        processors=_GFX12,
        first=acts.VALU_WRITES_VCC,
        then=acts.VALU_READS_VCC,
        states=1,
        clock=Clock.NONE,
        after=acts.VALU_READS_PAIR,
        crosses_functions=True,
        forgets=acts.SALU_WRITES_VCC,
        ends=End.VA_VCC | End.SCALAR_OR_BUFFER,
        ended_by=acts.SALU_READS_VCC,
        source="AMDGPUWaitSGPRHazards",
    ),
)

ROWS = (*_OLD, *_NEW, *_PRODUCTS, *_RECENT)
