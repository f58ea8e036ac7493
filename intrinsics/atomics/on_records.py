"""The words of a launch's record by which the workgroups of a cooperative launch meet
(`amdjit.abi.reports`).

The barrier of the whole grid is amdjit's own, since ROCm's is in its device libraries. The last
workgroup to arrive sets the count back before it begins the next round, so the words are as good as
new after each round.
"""

from __future__ import annotations

from typing import Any

from amdjit.abi.reports import Word
from amdjit.declarations import Emit, EmitContext, InlineAsm, intrinsic
from amdjit.types import VOID, boolean, i32


def _emit_round(context: EmitContext) -> Any:
    return context.atomic_load(i32, context.record_word(Word.ROUND), "monotonic", "agent")


def _emit_meeting(context: EmitContext) -> Any:
    one = context.constant(i32, 1)
    return context.atomic_update("add", context.record_word(Word.ARRIVED), one, "acq_rel", "agent")


def _emit_next_round(context: EmitContext, round: Any) -> None:
    arrived = context.record_word(Word.ARRIVED)
    context.atomic_store(i32, arrived, context.constant(i32, 0), "monotonic", "agent")
    context.atomic_store(i32, context.record_word(Word.ROUND), round, "release", "agent")


def _emit_has_failed(context: EmitContext) -> Any:
    none = context.constant(i32, 0)
    if not context.has_faults:
        return context.builder.icmp_unsigned("!=", none, none)
    claimed = context.atomic_load(i32, context.record_word(Word.CLAIMED), "monotonic", "agent")
    return context.builder.icmp_unsigned("!=", claimed, none)


@intrinsic(Emit(_emit_round), meets=True)
def round_of_grid() -> i32:
    """Return how often the grid's barrier has let all workgroups go on."""


@intrinsic(Emit(_emit_meeting), meets=True)
def arrive() -> i32:
    """Count a workgroup at the grid's barrier; return how many came before."""


@intrinsic(Emit(_emit_next_round), meets=True)
def begin_round(round: i32) -> VOID:
    """Let all workgroups go on."""


@intrinsic(Emit(_emit_has_failed), meets=True)
def has_failed() -> boolean:
    """Return whether a work-item of the grid has reported a fault."""


@intrinsic(InlineAsm("s_endpgm", "", side_effects=True), isa="s_endpgm")
def end_wave() -> VOID:
    """End the wave."""
