"""The start of a checked wave function: it finds the shadows of its host thread, workgroup and
wave."""

from __future__ import annotations

from collections.abc import Iterable

from amdjit.emulator.checks.init.lane_shadow import BEGIN_SHADOWS
from amdjit.emulator.checks.init.layout import UPPER_AT, VECTOR_BYTES, WAVE_BYTES, Shadows
from amdjit.emulator.checks.init.registers import REGISTERS
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import Context, Launch, Sanitizer
from amdjit.emulator.wave.frame import CONTEXT, LAUNCH, RESUME, Frame

# What it finds: the shadows of its host thread (`layout.Shadows`), whether all of the workgroup's
# LDS is written, and room for the masks of an access.
SHADOWS = Value("ptr", "%undefined.shadows")
CLEAN = Value("ptr", "%undefined.clean")
MASKS = Value("ptr", "%undefined.masks")


def emit_entry(frame: Frame, at_start: Iterable[int]) -> None:
    """Emit the start. at_start: vector registers that are read although nothing has written
    them."""
    b, context = frame.builder, Record(frame.builder, CONTEXT)
    threads = Record(b, LAUNCH).follow(Launch.SANITIZER).follow(Sanitizer.INIT)
    shadows = threads.row(context.get(Context.THREAD), Shadows.FIELDS)
    wave, slot = context.get(Context.WAVE), context.get(Context.SLOT)
    number = b.add(b.mul(slot, shadows.get(Shadows.WAVES)), wave)
    distance = b.mul(number, constant("i64", WAVE_BYTES))
    b.bind(SHADOWS, shadows.address)
    b.bind(REGISTERS, b.offset(shadows.get(Shadows.REGISTERS), distance))
    b.bind(CLEAN, b.offset(shadows.get(Shadows.CLEAN), b.shift("shl", slot, 3)))
    b.reserve(MASKS, "[16 x i32]")
    with b.if_(b.compare("eq", RESUME, constant("i32", 0))):
        frame.native_void(BEGIN_SHADOWS.name, [SHADOWS, wave, slot])
        for index in sorted(at_start):
            for half in range(frame.registers.halves):
                place = b.offset(REGISTERS, index * VECTOR_BYTES + half * UPPER_AT)
                b.store(constant("i64", -1), place, 4)
