"""The traits of a row of the opcode tables.

Rules say what the names of a family of opcodes mean (RDNA 4 ISA, chapter 16). They run once for
each row, when it is first read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.mnemonics.alu import scalar_traits, vector_traits
from amdjit.isa.mnemonics.memory import (
    lds_direct_traits,
    lds_traits,
    scalar_memory_traits,
    vector_memory_traits,
)
from amdjit.isa.traits import Barrier, Flow, Result, Timing, Traits, Unit

# What a row says of an operand: role, type, whether it is written, what it takes.
OperandFacts = tuple[str, str, bool, str]
_Rule = Callable[[Traits, str, str], Traits]


def traits_of(
    instruction_set: InstructionSet,
    format_name: str,
    mnemonic: str,
    operands: Sequence[OperandFacts],
) -> Traits:
    """Return the traits of an opcode of that format and name."""
    unit, rule = _RULES.get(format_name, (Unit.VALU, vector_traits))
    unprefixed = mnemonic.replace("v_dual_", "v_", 1)
    operation = instruction_set.renamed.get(unprefixed, unprefixed)
    waits = instruction_set.wait_counters.waits
    base = Traits(
        unit,
        _result(format_name, operands),
        operation,
        is_dual=unprefixed != mnemonic,
        waits=waits.get(mnemonic) or waits.get(format_name, ()),
        writes_exec=any(written and takes == "exec" for _, _, written, takes in operands),
    )
    traits = rule(base, operation, format_name)
    if unit is Unit.LDS and traits.moved_role and not instruction_set.has_wave_wide_permutes:
        traits = replace(traits, once_per_wave=False)
    return with_timing(traits)


def _result(format_name: str, operands: Sequence[OperandFacts]) -> Result:
    for _, kind, written, takes in operands:
        if written and kind == "mask":
            return Result.LANE_MASK
        if written:
            is_scalar = format_name[0] == "S" or takes == "s"
            return Result.SCALAR if is_scalar else Result.VECTOR
    return Result.NONE


_RULES: Mapping[str, tuple[Unit, _Rule]] = {
    **dict.fromkeys(("SOP1", "SOP2", "SOPC", "SOPK", "SOPP"), (Unit.SALU, scalar_traits)),
    **dict.fromkeys(
        ("VFLAT", "VGLOBAL", "VSCRATCH", "VBUFFER", "VTBUFFER"),
        (Unit.VECTOR_MEMORY, vector_memory_traits),
    ),
    "SMEM": (Unit.SCALAR_MEMORY, scalar_memory_traits),
    "DS": (Unit.LDS, lds_traits),
    "LDSDIR": (Unit.LDS_DIRECT, lds_direct_traits),
}


# What names say of time: classes of instructions that keep a unit busy equally long.
#
# Source: the packets of thread traces of gfx1200 and gfx1201 (`tests/hardware/traces`), which name
# the class of each instruction.


# Comparisons of 64 bits, shifts of 64 bits, swaps of registers.
_HALF = re.compile(r"v_cmpx?_\w+_[iuf]64|v_(lshlrev|lshrrev|ashrrev)_[bi]64|v_swap(rel)?_b\d+")
# Multiplications of 32 bits, and sums of differences of several bytes.
_QUARTER = re.compile(r"v_mul_(lo|hi)_[iu]32|v_mad_co_[iu]64_[iu]32|v_m?q?sad_(pk_)?u\d+_u8")
_ONE_SUM = re.compile(r"v_m?sad_u8")
_DOUBLE = re.compile(r"_f64(_|$)")
_SCALAR_FLOAT = re.compile(r"_(f16|f32)(_|$)")
_IMMEDIATE = re.compile(
    r"s_(nop|clause|sleep|sleep_var|version|delay_alu|set_vgpr_msb|code_end|setprio|sethalt"
    r"|icache_inv|wakeup|ttracedata|ttracedata_imm|set_inst_prefetch_distance|decperflevel"
    r"|incperflevel|setkill|prefetch_\w+|wait\w*)"
)
_MULTIPLICATIONS: Mapping[str, Timing] = {
    **dict.fromkeys(
        ("s_mul_i32", "s_mul_hi_i32", "s_mul_hi_u32", "s_mulk_i32"), Timing.SALU_MULTIPLY
    ),
    "s_mul_u64": Timing.SALU_MULTIPLY_64,
}


def with_timing(traits: Traits) -> Traits:
    """Return the traits with their class of time."""
    return replace(traits, timing=_timing(traits))


def _timing(traits: Traits) -> Timing:
    name = traits.operation
    if traits.matrix is not None:
        return _MATRICES.get(traits.matrix.a, Timing.MATRIX_NARROW)
    if traits.block_product is not None:
        return Timing.MATRIX_BLOCKS
    if _IMMEDIATE.fullmatch(name):
        return Timing.IMMEDIATE
    if traits.unit.is_memory or traits.unit is Unit.LDS_DIRECT:
        return _MEMORY[traits.unit]
    return _scalar(traits, name) if traits.unit is Unit.SALU else _vector(traits, name)


_MATRICES: Mapping[str, Timing] = {
    **dict.fromkeys(("f16", "bf16"), Timing.MATRIX_WIDE),
    "iu4": Timing.MATRIX_FOUR_BITS,
}
_MEMORY: Mapping[Unit, Timing] = {
    Unit.SCALAR_MEMORY: Timing.SCALAR_MEMORY,
    Unit.VECTOR_MEMORY: Timing.VECTOR_MEMORY,
    Unit.LDS: Timing.LDS,
    Unit.LDS_DIRECT: Timing.LDS,
}


def _scalar(traits: Traits, name: str) -> Timing:
    if traits.flow is Flow.END:
        return Timing.END
    if traits.barrier is not None:
        waits = traits.barrier is Barrier.WAIT
        return Timing.IMMEDIATE if waits else Timing.BARRIER_SIGNAL
    if traits.flow is not Flow.NEXT:
        return Timing.BRANCH
    if name.startswith("s_sendmsg"):
        return Timing.MESSAGE
    if name in _MULTIPLICATIONS:
        return _MULTIPLICATIONS[name]
    return Timing.SALU_FLOAT if _SCALAR_FLOAT.search(name) else Timing.SALU


def _vector(traits: Traits, name: str) -> Timing:
    if traits.is_pseudo_scalar:
        return Timing.PSEUDO_SCALAR
    if _HALF.fullmatch(name):
        return Timing.VALU_HALF
    if _DOUBLE.search(name):
        return Timing.DOUBLE
    if traits.unit is Unit.TRANSCENDENTAL:
        return Timing.TRANSCENDENTAL
    is_slow = _QUARTER.fullmatch(name) and not _ONE_SUM.fullmatch(name)
    return Timing.VALU_QUARTER if is_slow else Timing.VALU
