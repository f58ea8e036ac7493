"""What debug information adds to machine code: the calls that were inlined, and the variables that
are alive at a place."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.code_object import CodeObject, MalformedCodeObject
from amdjit.code_object.debug_info import DebugInfo, Variable, read_debug_info
from amdjit.inspection.facts import Call, InstructionFacts, LiveValue

__all__ = ["DebugNames", "read_debug_names"]


@dataclass(frozen=True, slots=True)
class DebugNames:
    """The debug information of a code object, empty if it has none. problem: why it could not be
    read, "" if it could."""

    info: DebugInfo
    problem: str = ""

    def inlined_from(self, address: int) -> tuple[Call, ...]:
        """Return the calls through which the instruction at an address came where it is."""
        return tuple(Call(*call) for call in self.info.inline_stack(address))

    def live_values(self, instruction: InstructionFacts) -> tuple[LiveValue, ...]:
        """Return the variables of which a register is live before an instruction."""
        return tuple(
            LiveValue(variable.name, variable.type, variable.registers)
            for variable in self.info.variables_at(instruction.address)
            if _is_live(variable, instruction)
        )


def _is_live(variable: Variable, instruction: InstructionFacts) -> bool:
    in_vectors = any(number in instruction.live_vgprs for number in variable.vgprs)
    return in_vectors or any(number in instruction.live_sgprs for number in variable.sgprs)


def read_debug_names(whole: CodeObject) -> DebugNames:
    """Return what the debug information of a code object says, nothing if it is broken."""
    try:
        return DebugNames(read_debug_info(whole.elf))
    except MalformedCodeObject as error:
        return DebugNames(DebugInfo(), str(error))
