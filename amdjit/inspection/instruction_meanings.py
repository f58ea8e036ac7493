"""The meanings of a kernel's instructions, by address: decoded anew, for views that show them."""

from __future__ import annotations

from amdjit.code_object import CodeObject
from amdjit.inspection.kernel_facts import KernelFacts
from amdjit.inspection.meanings import meaning
from amdjit.isa import UndecodableInstruction, decode
from amdjit.isa.analysis.kernel_code import instruction_set_in

__all__ = ["meanings_of"]


def meanings_of(facts: KernelFacts) -> dict[int, str]:
    """Return what each instruction does, as a sentence, without those that the decoder does not
    know. Empty if the facts do not have their code object."""
    if not facts.code_object:
        return {}
    whole = CodeObject.read(facts.code_object)
    found = {}
    sets = instruction_set_in(whole)
    for each in facts.instructions:
        code = whole.text(each.address, each.size)
        try:
            instruction = decode(code, 0, each.address, facts.wave_size, sets)
        except UndecodableInstruction:
            continue
        found[each.address] = meaning(instruction)
    return found
