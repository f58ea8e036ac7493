"""The traits of a row of the opcode tables.

Rules say what the names of a family of opcodes mean (RDNA 4 ISA, chapter 16). They run once for
each row, when it is first read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.mnemonics.memory import (
    lds_direct_traits,
    lds_traits,
    scalar_memory_traits,
    vector_memory_traits,
)
from amdjit.isa.mnemonics.scalar import scalar_traits
from amdjit.isa.mnemonics.timing import with_timing
from amdjit.isa.mnemonics.vector import vector_traits
from amdjit.isa.traits import Result, Traits, Unit

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
