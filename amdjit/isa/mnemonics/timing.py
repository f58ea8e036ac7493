"""What names say of time: classes of instructions that keep a unit busy equally long.

Source: the packets of thread traces of gfx1200 and gfx1201 (`tests/hardware/traces`), which name
the class of each instruction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from amdjit.isa.traits import Barrier, Flow, Timing, Traits, Unit

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
