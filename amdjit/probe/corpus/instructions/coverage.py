"""Which instructions are tried, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.emulator.instructions.tables import emitters_of
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.rows import Row, row_of
from amdjit.isa.traits import Flow, Idle, Immediate, MemoryKind

__all__ = ["executed_rows", "why_left_out"]

_NOTHING = "it leaves nothing that could be compared"
_PLACES = "its result is an address, or a time, which differs from run to run"
_BARRIERS = "a barrier is between waves, and each workgroup here is one wave"
# Instructions whose results are not the same on two chips, or in two runs.
_VARYING = frozenset(
    {
        "s_getpc_b64", "s_memtime", "s_memrealtime", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64",
        "s_get_waveid_in_workgroup",
    }
)  # fmt: skip
_INDEX_MODES = ("s_set_gpr_idx_", "s_setvskip")
_SCALAR_WRITERS = ("s_store_", "s_buffer_store_", "s_atomic_", "s_buffer_atomic_", "s_scratch_")


def executed_rows(sets: InstructionSet, wave_size: int) -> Iterator[Row]:
    """Yield the rows of all opcodes that the emulator executes; those of dual-issue halves for
    wave32."""
    emitters = emitters_of(sets.name)
    for name, entries in sets.rows.items():
        for code in entries:
            row = row_of(name, code, 32 if name.startswith("VOPD") else wave_size, sets)
            assert row is not None
            if row.opcode.traits.operation in emitters:
                yield row


def why_left_out(row: Row) -> str | None:
    """Return why an opcode that the emulator executes has no trial, None if it has one."""
    traits, mnemonic = row.opcode.traits, row.opcode.mnemonic
    if traits.matrix is not None or traits.block_product is not None:
        return "matrix products are tried with data of their own"
    if traits.barrier is not None:
        return _BARRIERS
    if mnemonic in _VARYING:
        return _PLACES
    if mnemonic.startswith(_INDEX_MODES):
        return "compilers do not use modes in which registers are indexed"
    if mnemonic.startswith(_SCALAR_WRITERS):
        return "compilers do not use scalar stores and atomics, whose cache must be written back"
    return _why_silent(row)


def _why_silent(row: Row) -> str | None:
    traits, access = row.opcode.traits, row.opcode.traits.memory
    if access is not None and access.kind in (MemoryKind.PREFETCH, MemoryKind.PROBE):
        return _NOTHING
    if traits.writes_mode is not None:
        return None
    if traits.idle is Idle.MESSAGE or traits.immediate is Immediate.MESSAGE:
        return "it sends a message"
    if traits.cache is not None or traits.idle is not None or traits.flow is not Flow.NEXT:
        return _NOTHING
    if "_lds_" in row.opcode.mnemonic:
        return "it loads into LDS from memory, which only kernels of several instructions show"
    return None if row.operands or row.format.name == "SOPK" else _NOTHING
