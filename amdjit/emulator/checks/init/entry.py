"""The start of a checked wave function: it finds the shadows of its host thread, workgroup and
wave."""

from __future__ import annotations

from collections.abc import Iterable

from amdjit.emulator.checks.init.layout import UPPER_AT, VECTOR_BYTES, WAVE_BYTES, Shadows
from amdjit.emulator.host.builder import Value
from amdjit.emulator.layout import FIELD_BYTES, Context, Launch, Sanitizer

# What it finds: the shadows of its host thread (`layout.Shadows`), and room for the masks of an
# access.
SHADOWS = Value("ptr", "%undefined.shadows")
MASKS = Value("ptr", "%undefined.masks")


def entry_lines(at_start: Iterable[int], halves: int) -> list[str]:
    """Return lines for the entry block.

    at_start: vector registers that are read although nothing has written them. halves: 2 for a
    wave64.
    """
    lines = [
        "%undefined.sanitizer.at = getelementptr i8, ptr %launch, i64 "
        f"{Launch.SANITIZER * FIELD_BYTES}",
        "%undefined.sanitizer = load ptr, ptr %undefined.sanitizer.at, align 8",
        "%undefined.all.at = getelementptr i8, ptr %undefined.sanitizer, i64 "
        f"{Sanitizer.INIT * FIELD_BYTES}",
        "%undefined.all = load ptr, ptr %undefined.all.at, align 8",
        "%undefined.thread.at = getelementptr i8, ptr %context, i64 "
        f"{Context.THREAD * FIELD_BYTES}",
        "%undefined.thread = load i64, ptr %undefined.thread.at, align 8",
        f"%undefined.before = mul i64 %undefined.thread, {Shadows.FIELDS * FIELD_BYTES}",
        "%undefined.shadows = getelementptr i8, ptr %undefined.all, i64 %undefined.before",
        "%undefined.first.at = getelementptr i8, ptr %undefined.shadows, i64 "
        f"{Shadows.REGISTERS * FIELD_BYTES}",
        "%undefined.first = load ptr, ptr %undefined.first.at, align 8",
        f"%undefined.wave.at = getelementptr i8, ptr %context, i64 {Context.WAVE * FIELD_BYTES}",
        "%undefined.wave = load i64, ptr %undefined.wave.at, align 8",
        f"%undefined.slot.at = getelementptr i8, ptr %context, i64 {Context.SLOT * FIELD_BYTES}",
        "%undefined.slot = load i64, ptr %undefined.slot.at, align 8",
        "%undefined.waves.at = getelementptr i8, ptr %undefined.shadows, i64 "
        f"{Shadows.WAVES * FIELD_BYTES}",
        "%undefined.waves = load i64, ptr %undefined.waves.at, align 8",
        "%undefined.others = mul i64 %undefined.slot, %undefined.waves",
        "%undefined.number = add i64 %undefined.others, %undefined.wave",
        f"%undefined.distance = mul i64 %undefined.number, {WAVE_BYTES}",
        "%undefined.registers = getelementptr i8, ptr %undefined.first, i64 %undefined.distance",
        "%undefined.flags.at = getelementptr i8, ptr %undefined.shadows, i64 "
        f"{Shadows.CLEAN * FIELD_BYTES}",
        "%undefined.flags = load ptr, ptr %undefined.flags.at, align 8",
        "%undefined.clean = getelementptr i64, ptr %undefined.flags, i64 %undefined.slot",
        "%undefined.masks = alloca [16 x i32], align 64",
        "%undefined.fresh = icmp eq i32 %resume, 0",
        "br i1 %undefined.fresh, label %undefined.begin, label %undefined.go",
        "undefined.begin:",
        "call void @aj_begin_shadows(ptr %undefined.shadows, i64 %undefined.wave, i64 "
        "%undefined.slot)",
    ]
    for distance in (
        index * VECTOR_BYTES + half * UPPER_AT
        for index in sorted(at_start)
        for half in range(halves)
    ):
        lines.append(
            f"%undefined.at{distance} = getelementptr i8, ptr %undefined.registers, i64 {distance}"
        )
        lines.append(f"store i64 -1, ptr %undefined.at{distance}, align 4")
    return [*lines, "br label %undefined.go", "undefined.go:"]
