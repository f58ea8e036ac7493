"""What the names of ALU instructions say: lanes, matrices and packed halves; control flow,
barriers, logic, SCC and immediates; and what they say of floats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from amdjit.isa.matrix_products import BlockProduct, MatrixProduct
from amdjit.isa.traits import (
    Arithmetic,
    Barrier,
    Condition,
    Destination,
    Flag,
    FloatMode,
    Flow,
    Idle,
    Immediate,
    ModeWrite,
    Operator,
    ScalarLogic,
    SingleLane,
    Traits,
    Unit,
)
from amdjit.isa.wait_counters import WaitEvent

_MATRIX = re.compile(
    r"v_(?P<sparse>s?)wmma(?:c)?_(?P<result>\w+?)_16x16x(?P<k>\d+)_(?P<a>[^_]+)(?:_(?P<b>\w+))?"
)
# As gfx90a and gfx942 spell them: 32x32x4bf16_1k, 32x32x4_2b_bf16.
_BLOCKS = re.compile(
    r"v_(?P<sparse>s?)mfma(?:c|_scale)?_(?P<result>[fi]\d+)_(?P<m>\d+)x(?P=m)x(?P<k>\d+)(?:_\d+b)?_?"
    r"(?P<a>f64|x?f32|b?f16|i8|f8f6f4|[fb][pf]8)(?:_(?P<b>[fb][pf]8))?(?:_1k)?"
)
# RDNA 4 ISA, 7.1: the instructions of the transcendental unit.
_TRANSCENDENTAL = re.compile(
    r"v_(s_)?(exp|log|exp_legacy|log_legacy|rcp|rcp_iflag|rsq|sqrt|sin|cos)_f(16|32|64)"
)
# gfx9's, of whose register op_sel chooses a part.
_BYTES = re.compile(r"v_cvt_(scalef32_)?(sr_[fb][pf]8|(sr_)?pk_fp4)_b?f(16|32)")
_HALVES = re.compile(
    r"v_cvt_(scalef32_)?pk_[fb][pf]8_b?f(16|32)|v_cvt_scalef32_f16_[fb][pf]8|v_cvt_sr_b?f16_f32"
    r"|v_bitop3_b16|v_ashr_pk_[iu]8_i32"
)
_SINGLE_LANES: Mapping[str, SingleLane] = {
    "v_readlane_b32": SingleLane.READ,
    "v_readfirstlane_b32": SingleLane.READ,
    "v_writelane_b32": SingleLane.WRITE,
}


_UNFOLLOWED = ("s_rfe", "s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join", "s_cbranch_cdbg")


def vector_traits(base: Traits, name: str, format_name: str) -> Traits:
    """Return the traits of a vector ALU instruction, or of half a dual-issue one."""
    matrix = _matrix(name)
    is_pseudo_scalar = name.startswith("v_s_")
    lane = _SINGLE_LANES.get(name)
    multiplies_matrices = name.startswith(("v_mfma_", "v_smfmac_"))
    is_whole = bool(matrix or is_pseudo_scalar or lane or multiplies_matrices)
    is_move = name.startswith("v_permlane")
    return replace(
        with_float_traits(base, name),
        unit=Unit.TRANSCENDENTAL if _TRANSCENDENTAL.fullmatch(name) else Unit.VALU,
        matrix=matrix,
        block_product=_block_product(name) if multiplies_matrices else None,
        lane_by_lane=not is_whole and not is_move,
        once_per_wave=is_whole or name in ("v_permlane64_b32", "v_permlane32_swap_b32"),
        single_lane=lane,
        moved_role="src0" if is_move else None,
        reads_inactive=name in ("v_readlane_b32", "v_permlane64_b32"),
        is_pseudo_scalar=is_pseudo_scalar,
        ignores_exec=matrix is not None or multiplies_matrices,
        is_relative=name.startswith(("v_movrel", "v_swaprel")),
        idle=Idle.DELAY if name == "v_nop" else None,
        arithmetic=Arithmetic.MOVE if name == "v_mov_b32" else None,
        compares=name.startswith("v_cmp"),
        is_dot=name.startswith("v_dot"),
        is_packed=name.startswith("v_pk_"),
        is_mixed=name.startswith("v_fma_mix"),
        part_bits=8 if _BYTES.fullmatch(name) else 16 if _HALVES.fullmatch(name) else None,
    )


def _matrix(name: str) -> MatrixProduct | None:
    match = _MATRIX.fullmatch(name)
    if match is None:
        return None
    a, b = match["a"], match["b"] or match["a"]
    return MatrixProduct(match["result"], a, b, int(match["k"]), bool(match["sparse"]))


def _block_product(name: str) -> BlockProduct | None:
    match = _BLOCKS.fullmatch(name)
    if match is None:
        return None
    a, b = match["a"], match["b"] or match["a"]
    shape = int(match["m"]), int(match["k"])
    return BlockProduct(match["result"], a, b, *shape, bool(match["sparse"]))


# What the names of scalar instructions say: control flow, barriers, logic, SCC and immediates.


_FLOWS: Mapping[str, Flow] = {
    "s_branch": Flow.JUMP,
    "s_call_b64": Flow.CALL,
    "s_setpc_b64": Flow.INDIRECT,
    "s_swappc_b64": Flow.INDIRECT_CALL,
    "s_endpgm": Flow.END,
    "s_endpgm_saved": Flow.END,
    "s_trap": Flow.TRAP,
    "s_barrier_wait": Flow.BARRIER,
    "s_barrier": Flow.BARRIER,
    "s_sleep": Flow.SLEEP,
    "s_sleep_var": Flow.SLEEP,
}
_CONDITIONS: Mapping[str, Condition] = {
    "s_cbranch_scc0": Condition(Flag.SCC, nonzero=False),
    "s_cbranch_scc1": Condition(Flag.SCC, nonzero=True),
    "s_cbranch_vccz": Condition(Flag.VCC, nonzero=False),
    "s_cbranch_vccnz": Condition(Flag.VCC, nonzero=True),
    "s_cbranch_execz": Condition(Flag.EXEC, nonzero=False),
    "s_cbranch_execnz": Condition(Flag.EXEC, nonzero=True),
}
_BARRIERS: Mapping[str, Barrier] = {
    "s_barrier": Barrier.SYNC,
    "s_barrier_signal": Barrier.SIGNAL,
    "s_barrier_signal_isfirst": Barrier.SIGNAL_FIRST,
    "s_barrier_wait": Barrier.WAIT,
    "s_barrier_init": Barrier.INIT,
    "s_barrier_join": Barrier.JOIN,
    "s_barrier_leave": Barrier.LEAVE,
    "s_get_barrier_state": Barrier.STATE,
}
# LLVM: SIInstrInfo, isSBarrierSCCWrite, and SIInsertWaitcnts, SCC_WRITE.
_LATER_SCC = (Barrier.SIGNAL_FIRST, Barrier.LEAVE)
_READS_SCC = re.compile(r"s_(add_co_ci|sub_co_ci|cselect|cmov|cmovk|cbranch_scc)")
_WRITES_SCC = re.compile(
    r"s_(cmpk?_|bitcmp|add_co|sub_co|addk_co|and|or|xor|nand|nor|xnor|lsh|ashr|bfe|min_[iu]|max_[iu]"
    r"|absdiff|not_|abs_|bcnt|wqm|quadmask|alloc_vgpr)"
)
_LOGIC = re.compile(
    r"s_(and|or|xor|nand|nor|xnor)(?:_not([01]))?(?:_(saveexec|wrexec))?_b(?:32|64)"
)
# The operator, and whether the result is complemented.
_OPERATORS: Mapping[str, tuple[Operator, bool]] = {
    "and": (Operator.AND, False),
    "or": (Operator.OR, False),
    "xor": (Operator.XOR, False),
    "nand": (Operator.AND, True),
    "nor": (Operator.OR, True),
    "xnor": (Operator.XOR, True),
}
_DESTINATIONS: Mapping[str | None, Destination] = {
    None: Destination.REGISTER,
    "saveexec": Destination.EXEC,
    "wrexec": Destination.BOTH,
}
_NO_IMMEDIATE = (
    "s_wait_idle",
    "s_barrier",
    "s_barrier_leave",
    "s_code_end",
    "s_endpgm_saved",
    "s_wakeup",
    "s_ttracedata",
    "s_icache_inv",
    "s_set_gpr_idx_off",
    "s_endpgm_ordered_ps_done",
)
_IMMEDIATES: Mapping[str, Immediate] = {
    **dict.fromkeys(_NO_IMMEDIATE, Immediate.NONE),
    **dict.fromkeys(
        (
            "s_wait_event",
            "s_round_mode",
            "s_ttracedata_imm",
            "s_set_inst_prefetch_distance",
        ),
        Immediate.BITS,
    ),
    **dict.fromkeys(
        ("s_sendmsg", "s_sendmsghalt", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64"), Immediate.MESSAGE
    ),
    **dict.fromkeys(
        ("s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32"), Immediate.HARDWARE_REGISTER
    ),
    "s_clause": Immediate.CLAUSE,
    "s_call_b64": Immediate.BRANCH,
    "s_subvector_loop_begin": Immediate.BRANCH,
    "s_subvector_loop_end": Immediate.BRANCH,
    "s_version": Immediate.VERSION,
    "s_endpgm": Immediate.END,
    "s_delay_alu": Immediate.DELAYS,
    "s_wait_alu": Immediate.DEPENDENCIES,
    "s_waitcnt": Immediate.OLD_COUNTERS,
    "s_set_gpr_idx_on": Immediate.INDEX_MODE,
    "s_set_gpr_idx_mode": Immediate.INDEX_MODE,
}


def scalar_traits(base: Traits, name: str, format_name: str) -> Traits:
    """Return the traits of a SOP instruction."""
    barrier = _BARRIERS.get(name)
    is_later = barrier in _LATER_SCC
    logic = _logic(name)
    has_message = name.startswith("s_sendmsg_rtn") or barrier is Barrier.STATE
    return replace(
        with_float_traits(base, name),
        once_per_wave=True,
        flow=Flow.CONDITIONAL if name in _CONDITIONS else _FLOWS.get(name, Flow.NEXT),
        condition=_CONDITIONS.get(name),
        barrier=barrier,
        idle=_idle(name),
        reads_pc=name == "s_getpc_b64",
        event=WaitEvent.MESSAGE if has_message or is_later else None,
        reads_scc=_READS_SCC.match(name) is not None,
        writes_scc=is_later or _WRITES_SCC.match(name) is not None,
        scc_is_late=is_later,
        writes_exec=base.writes_exec
        or (logic is not None and logic.destination is not Destination.REGISTER),
        writes_mode=_mode_write(name),
        logic=logic,
        arithmetic=_arithmetic(name),
        is_relative=name.startswith("s_set_gpr_idx_"),
        moves_relative_scalars=name.startswith("s_movrel"),
        implies_m0=name in ("s_sendmsg", "s_sendmsghalt", "s_ttracedata"),
        leaves_graph=name.startswith(_UNFOLLOWED),
        immediate=_immediate(name, format_name),
    )


def _idle(name: str) -> Idle | None:
    if name in ("s_nop", "s_delay_alu"):
        return Idle.DELAY
    if name.startswith("s_wait"):
        return Idle.WAIT
    return Idle.MESSAGE if name.startswith("s_sendmsg") else None


def _mode_write(name: str) -> ModeWrite | None:
    if name.startswith("s_setreg"):
        return ModeWrite.FIELD
    return {"s_round_mode": ModeWrite.ROUNDING, "s_denorm_mode": ModeWrite.DENORMALS}.get(name)


def _arithmetic(name: str) -> Arithmetic | None:
    if name.startswith("s_mov_b"):
        return Arithmetic.MOVE
    if name.startswith(("s_add_co_", "s_add_nc_", "s_addk_co_")):
        return Arithmetic.ADD
    return Arithmetic.SELECT if name.startswith(("s_cselect_", "s_cmov")) else None


def _logic(name: str) -> ScalarLogic | None:
    match = _LOGIC.fullmatch(name)
    if match is None:
        return None
    operator, is_negated = _OPERATORS[match[1]]
    complemented = int(match[2]) if match[2] else None
    return ScalarLogic(operator, complemented, is_negated, _DESTINATIONS[match[3]])


def _immediate(name: str, format_name: str) -> Immediate:
    if name.startswith(("s_branch", "s_cbranch_")):
        return Immediate.BRANCH
    found = _IMMEDIATES.get(name)
    if found is not None:
        return found
    if name.startswith("s_wait_"):
        return Immediate.BITS
    return Immediate.SIGNED if format_name == "SOPK" else Immediate.NUMBER


# What names say of floats: rounding, infinities, and results that are one of the sources.


_ROUNDED = "add|sub|subrev|mul|fma|fmac|fmaak|fmamk|fract|ldexp|div_fmas"
_SINGLE = re.compile(
    rf"[vs]_(?:({_ROUNDED})_f32|cvt_f32_[iu]32|(mul|fma|fmac)_dx9_zero_f32"
    r"|fma_mix_f32|fma_mix(lo|hi)_f16|cvt_f32_f64|cvt_pk(accum)?_u8_f32|cubema_f32)"
)
# v_cvt_f32_f64 is above: it rounds in the mode of its result (measured on a gfx1201), although
# LLVM's SIModeRegister.cpp sets that of its source.
_WIDE = re.compile(
    rf"[vs]_(?:({_ROUNDED})_f(16|64)|pk_(add|mul|fma|fmac)_f16|cvt_f16_(f32|[iu]16))"
)
_PICKS = re.compile(r"_(min|max|med3|cube[st]c)")


def with_float_traits(base: Traits, name: str) -> Traits:
    """Return the traits with those of float results."""
    if "f16" not in name and "f32" not in name and "f64" not in name:
        return replace(base, picks_source=True) if _PICKS.search(name) else base
    return replace(
        base,
        picks_source=_PICKS.search(name) is not None,
        is_quotient=name.startswith("v_div_fixup_"),
        rounding=_rounding(name),
    )


def _rounding(name: str) -> FloatMode | None:
    """MODE does not count for approximate instructions, for dot and matrix products, nor where the
    instruction says itself how it rounds."""
    if _SINGLE.fullmatch(name):
        return FloatMode.SINGLE
    return FloatMode.HALF_AND_DOUBLE if _WIDE.fullmatch(name) else None
