"""Where an undefined value matters: it is reported there."""

from __future__ import annotations

from amdjit.emulator.checks.init.kinds import InitKind
from amdjit.emulator.checks.init.operands import Shadow
from amdjit.emulator.checks.init.registers import ZERO
from amdjit.emulator.checks.report_call import NO_LANE, first_lane, report
from amdjit.emulator.host.builder import Value
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Unit


def report_undefined(
    shadow: Shadow, instruction: Instruction, kind: InitKind, undefined: Value
) -> None:
    """Report an instruction if any of these bits, or lanes, is undefined."""
    if undefined == ZERO:
        return
    b = shadow.frame.builder
    traits = instruction.traits
    uniform = traits.ends_block or traits.unit is Unit.SCALAR_MEMORY
    with b.if_(b.compare("ne", undefined, ZERO)):
        lane = NO_LANE if uniform else first_lane(b, undefined)
        report(shadow.frame, instruction, kind, lane)
