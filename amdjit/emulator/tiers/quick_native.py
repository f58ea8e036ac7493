"""The wave function of the quick tier: it calls the operation of one record of the program after
the other."""

from __future__ import annotations

from amdjit.emulator.layout import FIELD_BYTES, HALF_LANES, Context, Launch
from amdjit.emulator.tiers.full import PATIENCE
from amdjit.emulator.tiers.operations import (
    FRAME_BYTES,
    LEAVE,
    PATIENCE_OFFSET,
    UPPER_CONTEXT_OFFSET,
)


def interpreter_symbol(wave_size: int) -> str:
    """Return the name of the wave function that runs threaded programs."""
    return f"aj_threaded{wave_size}"


def _upper_context() -> str:
    """The context as the upper half of a wave64 sees it, as `translate/function.py` makes it."""
    lines = []
    for field in Context:
        if field is Context.FIELDS:
            continue
        lines += [
            f"  %from{field:d} = getelementptr i8, ptr %context, i64 {field * FIELD_BYTES}",
            f"  %field{field:d} = load i64, ptr %from{field:d}, align 8",
            f"  %to{field:d} = getelementptr i8, ptr %frame, i64 "
            f"{UPPER_CONTEXT_OFFSET + field * FIELD_BYTES}",
            f"  store i64 %field{field:d}, ptr %to{field:d}, align 8",
        ]
    return (
        "\n".join(lines)
        + f"""
  store i64 {HALF_LANES}, ptr %to{Context.LANE_BASE:d}, align 8
  %lower = mul i64 %field{Context.SCRATCH_LANE_BYTES:d}, {HALF_LANES}
  %scratch = add i64 %field{Context.SCRATCH:d}, %lower
  store i64 %scratch, ptr %to{Context.SCRATCH:d}, align 8"""
    )


def threaded_text(wave_size: int, attributes: str) -> str:
    """Return `aj_threaded32(state, context, resume)`, a wave function (`translate/function.py`)."""
    return f"""
define i32 @{interpreter_symbol(wave_size)}(ptr %state, ptr %context, i32 %resume) {attributes} {{
entry:
  %frame = alloca [{FRAME_BYTES} x i8], align 64
  %patience = getelementptr i8, ptr %frame, i64 {PATIENCE_OFFSET}
  store i32 {PATIENCE}, ptr %patience, align 4
{_upper_context() if wave_size > HALF_LANES else ""}
  %launch = load ptr, ptr %context, align 8
  %program.at = getelementptr i8, ptr %launch, i64 {Launch.PROGRAM * FIELD_BYTES}
  %program = load ptr, ptr %program.at, align 8
  %offset.at = getelementptr i64, ptr %program, i32 %resume
  %offset = load i64, ptr %offset.at, align 8
  %first = getelementptr i8, ptr %program, i64 %offset
  br label %each
each:
  %record = phi ptr [ %first, %entry ], [ %next, %each ]
  %operation = load ptr, ptr %record, align 8
  %result = call i64 %operation(ptr %context, ptr %state, ptr %frame, ptr %record)
  %leaves = icmp sge i64 %result, {LEAVE}
  %next = getelementptr i8, ptr %record, i64 %result
  br i1 %leaves, label %left, label %each
left:
  %short = trunc i64 %result to i32
  ret i32 %short
}}
"""
