"""The meanings of a kernel's instructions are those of its own bytes."""

from __future__ import annotations

from dataclasses import replace

from building import compile_kernel
from required_tools import needs_tools

import amdjit
from amdjit.code_object import CodeObject
from amdjit.emulator.decoder import decode_all
from amdjit.inspection.instruction_meanings import meanings_of
from amdjit.inspection.meanings import meaning

pytestmark = needs_tools


def test_each_instruction_has_the_meaning_of_its_bytes() -> None:
    code_object = compile_kernel("branches")
    facts = amdjit.inspect_object(code_object)
    whole = CodeObject.read(code_object)
    kernel = whole.kernels[facts.kernel]
    decoded = decode_all(whole.code(kernel), kernel.entry_address, facts.wave_size)
    expected = {each.pc: meaning(each) for each in decoded}
    found = meanings_of(facts)
    assert len(found) == len(facts.instructions) > 10
    assert found == {address: expected[address] for address in found}


def test_facts_without_bytes_have_no_meanings() -> None:
    facts = amdjit.inspect_object(compile_kernel("saxpy"))
    assert meanings_of(facts)
    assert meanings_of(replace(facts, code_object=b"")) == {}
