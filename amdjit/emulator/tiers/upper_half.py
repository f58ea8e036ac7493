"""The context as the upper half of a wave64 sees it."""

from __future__ import annotations

from amdjit.emulator.host.builder import constant
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import Context
from amdjit.isa.register_numbers import HALF_LANES


def write_upper_context(lower: Record, upper: Record) -> None:
    """Copy the context and change what is different for the upper half: its lanes are 32 and up,
    and its scratch follows the lower half's."""
    b, lanes = lower.builder, constant("i64", HALF_LANES)
    for field in Context:
        if field is not Context.FIELDS:
            upper.set(field, lower.get(field))
    upper.set(Context.LANE_BASE, lanes)
    distance = b.mul(lower.get(Context.SCRATCH_LANE_BYTES), lanes)
    upper.set(Context.SCRATCH, b.add(lower.get(Context.SCRATCH), distance))
