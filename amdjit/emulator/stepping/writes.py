"""The part of stepped code that watches writes of some memory."""

from __future__ import annotations

from typing import ClassVar

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH, Context
from amdjit.emulator.tiers.steps import Mode, Steps, has_mode, is_focus, note_event
from amdjit.emulator.wave.frame import CONTEXT, AccessKind, Frame, Instrument, MemoryAccess
from amdjit.isa.instruction import Instruction

__all__ = ["NATIVES", "WriteInstrument"]

WROTE = declare("aj_step_wrote", context="ptr", lanes="i32")
# LDS and private memory have the addresses that flat instructions use for them.
_APERTURES = {"l": SHARED_APERTURE_HIGH << 32, "p": PRIVATE_APERTURE_HIGH << 32}


class WriteInstrument(Instrument):
    """Compares the addresses of stores and atomics with those that are watched."""

    name: ClassVar[str] = "writes"

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Note the access if a lane of it writes what is watched."""
        if access.kind is AccessKind.LOAD:
            return
        b = frame.builder
        steps = Record(b, CONTEXT).follow(Context.STEPS)
        end = steps.get(Steps.WATCH_END)
        with b.if_(b.compare("ne", end, constant("i64", 0))):
            first = _addresses(b, access)
            last = b.add(first, b.const(first, access.size))
            is_below = b.compare("ult", first, b.splat(end))
            is_above = b.compare("ugt", last, b.splat(steps.get(Steps.WATCH_FIRST)))
            hit = b.and_(b.mask_bits(b.and_(is_below, is_above)), access.lanes)
            with b.if_(b.compare("ne", hit, constant("i32", 0))):
                frame.native_void(WROTE.name, [frame.lane_context, hit])


def _addresses(b: Builder, access: MemoryAccess) -> Value:
    """Return the address of each lane."""
    parts = access.address
    if access.space in _APERTURES:
        offsets = b.resize(b.add(parts[0], b.splat(parts[1])), 64)
        return b.or_(offsets, b.const(offsets, _APERTURES[access.space]))
    if access.space == "s":
        return b.add(b.splat(parts[0]), b.resize(parts[1], 64))
    return b.add(b.splat(parts[2]), b.concat_bits(parts[0], parts[1]))


def wrote_text(attributes: str) -> str:
    """Return `aj_step_wrote`: an event, unless another wave or workgroup is meant. The
    instruction that writes has begun, so that the launch stops before the next one."""
    f = NativeFunction.of(WROTE)
    steps = f.thread.follow(Context.STEPS)
    slot = steps.get(Steps.WATCH_SLOT)
    is_any = f.compare("slt", slot, i64(0))
    is_here = f.or_(is_any, f.compare("eq", slot, f.thread.get(Context.SLOT)))
    with f.if_(f.and_(is_here, is_focus(f, steps))):
        base = f.thread.get(Context.LANE_BASE)
        lanes = f.shift("shl", f.resize(f.parameter("lanes"), 64), base)
        count = steps.get(Steps.COUNT)
        note_event(f, steps, lanes, f.sub(count, i64(1)))
        with f.if_(has_mode(f, steps, Mode.STOPS)):
            steps.set(Steps.LIMIT, count)
    f.give()
    return f.text(f"noinline cold {attributes}")


NATIVES = NativeSources({WROTE.name: wrote_text})
