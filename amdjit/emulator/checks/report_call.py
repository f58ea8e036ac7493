"""The call in translated code that reports what an instruction does wrong."""

from __future__ import annotations

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction

NO_LANE = constant("i64", -1)


def first_lane(builder: Builder, lanes: Value) -> Value:
    """Return the number of the first lane of a mask that is not 0."""
    return builder.resize(builder.intrinsic("cttz", lanes, flags=[constant("i1", 1)]), 64)


def report(
    frame: Frame,
    instruction: Instruction,
    kind: int,
    lane: Value,
    address: Value | None = None,
    size: int = 0,
) -> None:
    """Report an instruction of the half wave that is being translated.

    kind: of `layout.Report`. lane: its number in the half, -1 for none. address, size: of an
    access.
    """
    arguments = [
        frame.lane_context,
        constant("i32", kind),
        frame.sites.add(instruction.pc),
        lane,
        constant("i64", 0) if address is None else address,
        constant("i32", size),
        Value("ptr", "null"),
    ]
    frame.native_void("aj_report", arguments)
