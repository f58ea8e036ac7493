"""Phrases of scalar instructions, by patterns of their names; see `phrases`.

Waits for counters, branches on flags and bitwise logic are not here: their traits say what they do.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COMPARISONS", "SCALAR_PHRASES"]


# Conditions of comparisons, by the word in their names.


# RDNA 4 ISA, 16.9: a comparison with a NaN is false; those with n in their names are then true.
COMPARISONS: Mapping[str, str] = {
    "lt": "{a} < {b}",
    "eq": "{a} == {b}",
    "le": "{a} <= {b}",
    "gt": "{a} > {b}",
    "ge": "{a} >= {b}",
    "ne": "{a} != {b}",
    "lg": "{a} != {b}, and neither is NaN,",
    "o": "neither {a} nor {b} is NaN",
    "u": "{a} or {b} is NaN",
    "nge": "not {a} >= {b} (true for NaN)",
    "nlg": "{a} == {b} or one is NaN",
    "ngt": "not {a} > {b} (true for NaN)",
    "nle": "not {a} <= {b} (true for NaN)",
    "neq": "{a} != {b} or one is NaN",
    "nlt": "not {a} < {b} (true for NaN)",
}


_NONZERO = "; SCC = the result is not 0"
_CHOSEN = "; SCC = {a} was chosen"
_T = r"(?P<t>[biuf]\d+)"

_MOVES = (
    (rf"s_mov_{_T}", "{d} = {a} in $t"),
    (r"s_movk_i32", "{d} = {k}, sign-extended from 16 bits"),
    (rf"s_cmov_{_T}", "if SCC is 1, {d} = {a} in $t"),
    (r"s_cmovk_i32", "if SCC is 1, {d} = {k}, sign-extended from 16 bits"),
    (rf"s_cselect_{_T}", "{d} = {a} if SCC is 1, else {b}, in $t"),
    (rf"s_movrels_{_T}", "{d} = the SGPR that is M0 places after {a}, in $t"),
    (rf"s_movreld_{_T}", "puts {a} into the SGPR that is M0 places after {d}, in $t"),
    (
        r"s_movrelsd_2_b32",
        "puts the SGPR that is M0[9:0] places after {a} into the one M0[25:16] places after {d}",
    ),
    (r"s_getpc_b64", "{d} = the address of the next instruction"),
    (
        r"s_pack_ll_b32_b16",
        "{d} = the low half of {a} in bits 15:0, the low half of {b} in bits 31:16",
    ),
    (
        r"s_pack_lh_b32_b16",
        "{d} = the low half of {a} in bits 15:0, the high half of {b} in bits 31:16",
    ),
    (
        r"s_pack_hh_b32_b16",
        "{d} = the high half of {a} in bits 15:0, the high half of {b} in bits 31:16",
    ),
    (
        r"s_pack_hl_b32_b16",
        "{d} = the high half of {a} in bits 15:0, the low half of {b} in bits 31:16",
    ),
)

_BITS = (
    (rf"s_brev_{_T}", "{d} = the bits of {a} in reverse order, in $t"),
    (
        rf"s_ctz_i32_{_T}",
        "{d} = the number of zeros below the lowest 1 of {a} in $t, -1 if there is no 1",
    ),
    (
        rf"s_ff0_i32_{_T}",
        "{d} = the number of ones below the lowest 0 of {a} in $t, -1 if there is no 0",
    ),
    (
        rf"s_clz_i32_{_T}",
        "{d} = the number of zeros above the highest 1 of {a} in $t, -1 if there is no 1",
    ),
    (
        r"s_cls_(i32_)?(?P<t>i32|i64)",
        "{d} = how many bits from the top of {a} equal its sign in $t, -1 if all do",
    ),
    (r"s_sext_i32_i(?P<n>\d+)", "{d} = the low $n bits of {a}, sign-extended to i32"),
    (rf"s_bitset(?P<v>[01])_{_T}", "bit {a} of {d} = $v, in $t"),
    (r"s_bitreplicate_b64_b32", "{d} = each bit of {a} twice, in b64"),
    (
        rf"s_bcnt(?P<v>[01])_i32_{_T}",
        "{d} = how many bits of {a} are $v, in $t" + _NONZERO,
    ),
    (
        rf"s_quadmask_{_T}",
        "{d} = a bit for each 4 bits of {a}: whether one of them is 1, in $t" + _NONZERO,
    ),
    (
        rf"s_wqm_{_T}",
        "{d} = {a} with all 4 bits of a group set if one of them is, in $t" + _NONZERO,
    ),
    (rf"s_not_{_T}", "{d} = ~{a} in $t" + _NONZERO),
    (rf"s_lshl_{_T}", "{d} = {a} << {b} in $t" + _NONZERO),
    (r"s_lshr_b(?P<n>\d+)", "{d} = {a} >> {b} in u$n" + _NONZERO),
    (r"s_ashr_(?P<t>i\d+)", "{d} = {a} >> {b} in $t" + _NONZERO),
    (
        r"s_bfe_(?P<t>u32|u64)",
        "{d} = the field of {a} at bit {b}[4:0] with {b}[22:16] bits, in $t" + _NONZERO,
    ),
    (
        r"s_bfe_(?P<t>i32|i64)",
        "{d} = the field of {a} at bit {b}[4:0] with {b}[22:16] bits, sign-extended, in $t"
        + _NONZERO,
    ),
    (rf"s_bfm_{_T}", "{d} = a mask of {a} ones, shifted left by {b}, in $t"),
    (rf"s_bitcmp(?P<v>[01])_{_T}", "SCC = bit {b} of {a} is $v, in $t"),
)

_ARITHMETIC = (
    (r"s_add_co_u32", "{d} = {a} + {b} in u32; SCC = the carry"),
    (r"s_add_co_i32", "{d} = {a} + {b} in i32; SCC = it overflows"),
    (r"s_sub_co_u32", "{d} = {a} - {b} in u32; SCC = the borrow"),
    (r"s_sub_co_i32", "{d} = {a} - {b} in i32; SCC = it overflows"),
    (r"s_add_co_ci_u32", "{d} = {a} + {b} + SCC in u32; SCC = the carry"),
    (r"s_sub_co_ci_u32", "{d} = {a} - {b} - SCC in u32; SCC = the borrow"),
    (r"s_addk_co_i32", "{d} = {d} + {k} in i32; SCC = it overflows"),
    (r"s_mulk_i32", "{d} = {d} * {k} in i32"),
    (r"s_add_nc_u64", "{d} = {a} + {b} in u64"),
    (r"s_sub_nc_u64", "{d} = {a} - {b} in u64"),
    (r"s_mul_(?P<t>i32|u64)", "{d} = {a} * {b} in $t, the low half of the product"),
    (r"s_mul_hi_(?P<t>u32|i32)", "{d} = the high half of {a} * {b} in $t"),
    (
        r"s_lshl(?P<n>\d)_add_u32",
        "{d} = ({a} << $n) + {b} in u32; SCC = the carry",
    ),
    (r"s_abs_i32", "{d} = |{a}| in i32" + _NONZERO),
    (r"s_absdiff_i32", "{d} = |{a} - {b}| in i32" + _NONZERO),
    (r"s_min_(?P<t>[iu]32)", "{d} = the smaller of {a} and {b} in $t" + _CHOSEN),
    (r"s_max_(?P<t>[iu]32)", "{d} = the larger of {a} and {b} in $t" + _CHOSEN),
    *(
        (rf"s_cmp_{name}_{_T}", f"SCC = {condition} in $t")
        for name, condition in COMPARISONS.items()
    ),
    *(
        (rf"s_cmpk_{name}_{_T}", f"SCC = {condition} in $t".replace("{b}", "{k}"))
        for name, condition in COMPARISONS.items()
    ),
)

_CONTROL = (
    (r"s_setpc_b64", "jumps to the address in {a}"),
    (r"s_swappc_b64", "calls the function at the address in {a}; {d} = the address to return to"),
    (r"s_call_b64", "calls the function at {target}; {d} = the address to return to"),
    (r"s_branch", "jumps to {target}"),
    (r"s_rfe_b64", "returns from the trap handler to the address in {a}"),
    (r"s_rfe_restore_b64", "returns from the trap handler to the address in {a}, by {b}"),
    (r"s_cbranch_g_fork", "splits the wave by the mask in {a}; one part goes on at {b}"),
    (r"s_cbranch_i_fork", "splits the wave by a mask; one part goes on elsewhere"),
    (r"s_cbranch_join", "joins the parts of the wave that {a} counts"),
    (r"s_setvskip", "lets vector instructions be skipped, or not, by bit {b} of {a}"),
    (r"s_set_gpr_idx_on", "adds {a} to the numbers of VGPRs from now on; M0 = what is added"),
    (r"s_set_gpr_idx_off", "adds nothing to the numbers of VGPRs any more"),
    (r"s_set_gpr_idx_idx", "M0 = {a} in its low byte, which is added to the numbers of VGPRs"),
    (r"s_set_gpr_idx_mode", "chooses the operands to whose numbers M0 is added"),
    (r"s_endpgm", "ends the wave"),
    (r"s_endpgm_saved", "ends the wave, which the trap handler has saved"),
    (r"s_code_end", "marks the end of the code, and is not executed"),
    (r"s_trap", "enters the trap handler with number {k}"),
    (r"s_setkill", "sets the wave's kill state to {k}"),
    (r"s_sethalt", "halts the wave, or lets it go on, by {k}"),
    (r"s_nop", "does nothing, {k} + 1 times"),
    (r"s_version", "says for which version the code is ({k}), and does nothing"),
    (r"s_clause", "keeps the next {k} + 1 memory instructions of the wave together as a clause"),
    (r"s_delay_alu", "hints how long the next instructions wait for ALU results: {k}"),
    (r"s_sleep", "lets the wave sleep for about 64 * {k} cycles"),
    (r"s_sleep_var", "lets the wave sleep for about 64 * {a} cycles"),
    (r"s_wakeup", "wakes the sleeping waves of the workgroup"),
    (r"s_setprio", "sets the wave's priority to {k}"),
    (r"s_wait_alu", "waits until the outstanding ALU results are as few as {k} encodes"),
    (r"s_waitcnt", "waits until the counters of older processors are as low as {k} encodes"),
    (r"s_waitcnt_vmcnt", "waits until at most {k} loads are in flight"),
    (r"s_waitcnt_vscnt", "waits until at most {k} stores are in flight"),
    (r"s_waitcnt_expcnt", "waits until at most {k} exports are in flight"),
    (r"s_waitcnt_lgkmcnt", "waits until at most {k} scalar, LDS and message results are in flight"),
    (r"s_set_inst_prefetch_distance", "sets how far ahead instructions are fetched, to {k}"),
    (r"s_cbranch_cdbg\w+", "jumps to {target} if a debugger has set its condition"),
    (r"s_subvector_loop_begin", "begins a loop over the halves of a wave64 with {d}, to {target}"),
    (r"s_subvector_loop_end", "ends a loop over the halves of a wave64 with {d}, to {target}"),
    (r"s_endpgm_ordered_ps_done", "ends the wave and its ordered section"),
    (r"s_barrier", "waits until all waves of the workgroup have arrived here"),
    (r"s_wait_event", "waits for an event of the export unit, by {k}"),
    (r"s_wait_samplecnt", "waits until at most {k} image samples are in flight"),
    (r"s_wait_bvhcnt", "waits until at most {k} ray traversals are in flight"),
    (r"s_wait_idle", "waits until nothing of the wave is in flight"),
    (r"s_round_mode", "sets the rounding modes of floats in MODE to {k}"),
    (r"s_denorm_mode", "sets the denormal modes of floats in MODE to {k}"),
    (r"s_getreg_b32", "{d} = the hardware register {k}"),
    (r"s_setreg_b32", "writes {a} to the hardware register {k}"),
    (r"s_setreg_imm32_b32", "writes the literal {a} to the hardware register {k}"),
    (r"s_alloc_vgpr", "changes the wave's number of VGPRs to {a}; SCC = that has succeeded"),
    (r"s_barrier_signal", "arrives at barrier {a}, without waiting"),
    (
        r"s_barrier_signal_isfirst",
        "arrives at barrier {a}, without waiting; SCC, later, = the wave is the first",
    ),
    (r"s_barrier_wait", "waits until all waves have arrived at barrier {k}"),
    (r"s_barrier_init", "initialises barrier {a} with the number of members in M0"),
    (r"s_barrier_join", "joins barrier {a}"),
    (r"s_barrier_leave", "leaves the barrier that the wave has joined; SCC, later, = its answer"),
    (r"s_get_barrier_state", "{d} = the state of barrier {a}"),
    (r"s_sendmsg", "sends the message {k}"),
    (r"s_sendmsghalt", "sends the message {k} and halts the wave"),
    (r"s_sendmsg_rtn_(?P<t>b\d+)", "sends the message {k}; {d} = the answer, in $t"),
    (r"s_incperflevel", "adds 1 to performance counter {k}"),
    (r"s_decperflevel", "subtracts 1 from performance counter {k}"),
    (r"s_ttracedata", "writes M0 into the thread trace"),
    (r"s_ttracedata_imm", "writes {k} into the thread trace"),
    (r"s_icache_inv", "invalidates the instruction cache"),
)

SCALAR_PHRASES: tuple[tuple[str, str], ...] = (*_MOVES, *_BITS, *_ARITHMETIC, *_CONTROL)
