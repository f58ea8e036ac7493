"""Which instructions of gfx12 count on which wait counter, and what the `s_wait_*` instructions
wait for.

Source: RDNA 4 ISA, section 5.6 "Data dependency resolution" (one counter for each kind of memory;
LOADcnt, DScnt and STOREcnt come back in the order of issue, KMcnt in any order, so that only 0
means something), and LLVM's SIInsertWaitcnts. gfx1201 has no ASYNCcnt. Image and BVH instructions
(SAMPLEcnt, BVHcnt) and exports (EXPcnt) are not decoded; of EXPcnt the LDS-direct loads are left.
Stores fill no register, so STOREcnt guards nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from amdjit.emulator.decoder.instruction import InlineConstant, Instruction


class Counter(Enum):
    """A wait counter whose instructions fill registers; the value is what `s_wait_*` calls it."""

    LOAD = "loadcnt"
    DS = "dscnt"
    KM = "kmcnt"
    EXP = "expcnt"

    @property
    def in_order(self) -> bool:
        """Tell whether instructions that count here end in the order in which they were issued."""
        return self is not Counter.KM


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction does to the counters.

    counts: the counters that it goes up and comes down again on. fills: whether its results arrive
    later. writes_lds: whether other waves may wait for what it writes to LDS. writes_scc: whether
    SCC arrives later.
    """

    counts: tuple[Counter, ...] = ()
    fills: bool = False
    writes_lds: bool = False
    writes_scc: bool = False


_NONE = Effect()
_VECTOR_MEMORY = frozenset({"VGLOBAL", "VSCRATCH", "VBUFFER", "VFLAT"})
# Both write back; they count with the stores (LLVM: SIInsertWaitcnts, getVmemWaitEventType).
_CACHE_WRITES = frozenset({"global_wb", "global_wbinv"})
_SCALAR_RESULTS = frozenset({"s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64", "s_get_barrier_state"})
# LLVM: SIInstrInfo, isSBarrierSCCWrite, and SIInsertWaitcnts, SCC_WRITE.
_LATER_SCC = frozenset({"s_barrier_signal_isfirst", "s_barrier_leave"})
_READS_LDS = ("ds_load", "ds_bpermute", "ds_permute", "ds_swizzle")
_RETURNS = 1  # bit 0 of `th`: an atomic gives the old value back


def effect_of(instruction: Instruction) -> Effect:
    """Return what an instruction does to the counters."""
    encoding, name = instruction.opcode.encoding, instruction.mnemonic
    if encoding == "SMEM":
        return Effect((Counter.KM,), name.startswith(("s_load", "s_buffer_load")))
    if encoding == "DS":
        fills = any(spec.role == "vdst" for spec in instruction.opcode.operands)
        return (
            _NONE
            if name == "ds_nop"
            else Effect((Counter.DS,), fills, not name.startswith(_READS_LDS))
        )
    if encoding in _VECTOR_MEMORY:
        return _vector_memory(instruction)
    if encoding == "LDSDIR":
        return Effect((Counter.EXP,), True)
    if name in _LATER_SCC:
        return Effect((Counter.KM,), writes_scc=True)
    return Effect((Counter.KM,), True) if name in _SCALAR_RESULTS else _NONE


def _vector_memory(instruction: Instruction) -> Effect:
    """Loads and atomics with a result count on LOADcnt, all else on STOREcnt; FLAT on DScnt too."""
    loads = _loads(instruction)
    flat = instruction.opcode.encoding == "VFLAT"
    counts = (Counter.LOAD,) if loads else ()
    return Effect(
        (*counts, Counter.DS) if flat else counts, loads and instruction.mnemonic != "global_inv"
    )


def _loads(instruction: Instruction) -> bool:
    name = instruction.mnemonic
    if "_atomic_" not in name:
        return "_store" not in name and name not in _CACHE_WRITES
    if instruction.opcode.encoding == "VBUFFER":
        return bool(instruction.immediates["th"] & _RETURNS)
    return instruction.operand("vdst") is not None


def lands_scc(instruction: Instruction, signal: Instruction) -> bool:
    """Tell whether an instruction waits for the barrier that gave SCC: it has landed then (LLVM:
    SIInsertWaitcnts, tryClearSCCWriteEvent)."""
    if instruction.mnemonic != "s_barrier_wait" or signal.mnemonic != "s_barrier_signal_isfirst":
        return False
    number = signal.operands[0]
    return isinstance(number, InlineConstant) and number.value == _signed(
        instruction.immediates["simm16"]
    )


def _signed(bits: int) -> int:
    return (bits & 0xFFFF ^ 0x8000) - 0x8000


_WAITS: Mapping[str, tuple[Counter, ...]] = {
    "s_wait_loadcnt": (Counter.LOAD,),
    "s_wait_dscnt": (Counter.DS,),
    "s_wait_kmcnt": (Counter.KM,),
    "s_wait_expcnt": (Counter.EXP,),
    "s_wait_idle": tuple(Counter),
}


def waits_of(instruction: Instruction) -> Mapping[Counter, int]:
    """Return for each counter that an instruction waits for how many may be in flight
    afterwards."""
    name = instruction.mnemonic
    if instruction.opcode.encoding == "VINTERP":
        return {Counter.EXP: instruction.immediates["wait_exp"]}
    if not name.startswith("s_wait"):
        return {}
    count = instruction.immediates.get("simm16", 0) & 0xFFFF
    # The two-counter forms: bits 13:8 are LOADcnt (or STOREcnt), bits 5:0 DScnt (RDNA 4 ISA,
    # S_WAIT_LOADCNT_DSCNT).
    if name == "s_wait_loadcnt_dscnt":
        return {Counter.LOAD: count >> 8 & 63, Counter.DS: count & 63}
    if name == "s_wait_storecnt_dscnt":
        return {Counter.DS: count & 63}
    return dict.fromkeys(_WAITS.get(name, ()), 0 if name == "s_wait_idle" else count)
