"""What an instruction does to the wait counters, and what it waits for.

The instruction's traits name the event, and the `WaitCounters` of its instruction set the counters
that count such events (for gfx12: RDNA 4 ISA, section 5.6 "Data dependency resolution", and LLVM's
SIInsertWaitcnts).
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Register,
    RegisterFile,
)
from amdjit.isa.traits import Barrier, MemoryKind, Result, Space, Unit
from amdjit.isa.wait_counters import WaitCounter, WaitEvent
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction does to the counters.

    counts: the counters that it increments, and decrements again when it ends. fills: its results
    arrive later. writes_lds: other waves may wait for what it writes to LDS. writes_scc: SCC
    arrives later.
    """

    counts: tuple[WaitCounter, ...] = ()
    fills: bool = False
    writes_lds: bool = False
    writes_scc: bool = False


_NONE = Effect()
_RETURNING: Mapping[WaitEvent, WaitEvent] = {
    WaitEvent.VECTOR_STORE: WaitEvent.VECTOR_LOAD,
    WaitEvent.FLAT_STORE: WaitEvent.FLAT_LOAD,
}


def effect_of(instruction: Instruction) -> Effect:
    """Return what an instruction does to the counters."""
    traits = instruction.traits
    event, access = traits.event, traits.memory
    if event is None:
        return _NONE
    fills = traits.result is not Result.NONE
    if access is not None and access.kind is MemoryKind.ATOMIC and event in _RETURNING:
        fills = _returns(instruction)
        event = _RETURNING[event] if fills else event
    writes = access is not None and access.kind is not MemoryKind.LOAD
    return Effect(
        instruction.opcode.instruction_set.wait_counters.counted[event],
        fills,
        writes_lds=writes and access is not None and access.space is Space.LDS,
        writes_scc=traits.scc_is_late,
    )


def _returns(instruction: Instruction) -> bool:
    if instruction.access.has_descriptor:
        return instruction.returns_old
    return instruction.operand("vdst") is not None


def lands_in_order(instruction: Instruction, counter: WaitCounter) -> bool:
    """Whether an instruction's result arrives after that of an older load on that counter, so that
    it may overwrite it without a wait."""
    effect = effect_of(instruction)
    return counter.in_order and effect.fills and effect.counts == (counter,)


def lands_scc(instruction: Instruction, signal: Instruction) -> bool:
    """Whether an instruction waits for the barrier whose signal writes SCC, so that SCC has arrived
    (LLVM: SIInsertWaitcnts, tryClearSCCWriteEvent)."""
    waits = instruction.traits.barrier is Barrier.WAIT
    if not waits or signal.traits.barrier is not Barrier.SIGNAL_FIRST:
        return False
    number = signal.operands[0]
    return isinstance(number, InlineConstant) and number.value == _signed(
        instruction.immediates["simm16"]
    )


def _signed(bits: int) -> int:
    return (bits & 0xFFFF ^ 0x8000) - 0x8000


def waits_of(instruction: Instruction) -> Mapping[WaitCounter, int]:
    """Return how many may be in flight after an instruction, for each counter that it waits for.

    A register of S_WAITCNT_VMCNT and the like is added to the number (RDNA 3 ISA, 16.2): what it
    holds is not known, and so not how long is waited.
    """
    if not instruction.traits.waits or _adds_register(instruction):
        return {}
    return {
        field.counter: field.left(instruction.immediates.get(field.immediate, 0))
        for field in instruction.traits.waits
    }


def _adds_register(wait: Instruction) -> bool:
    is_scalar = wait.traits.unit is Unit.SALU
    return is_scalar and any(
        isinstance(operand, Register) and operand.file is not RegisterFile.NULL
        for operand in wait.operands
    )
