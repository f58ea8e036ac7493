"""What `inspect_object` reads: instructions as llvm-objdump lists them, and what it says of objects
that do not tell everything."""

from __future__ import annotations

import json
import random
import re
import struct
import subprocess
from pathlib import Path

import pytest

import amdjit
from amdjit import AmdjitError, f32
from amdjit.code_object import CodeObject, MalformedCodeObject
from amdjit.cycles.parameters import PASSES
from amdjit.examples import vector_add
from amdjit.isa.traits import Timing
from tests.emulator.building import compile_kernel, compile_source
from tests.emulator.c_kernels import CASES
from tests.emulator.decoder.objdump import disassemble_object
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

# Kernels whose functions are all reachable, so that objdump's list is theirs.
WHOLE = ("branches", "saxpy", "wide_integers", "private_arrays", "double_math", "calls")
TWO_KERNELS = """#include "common.h"
KERNEL first(GLOBAL int *x) { x[INDEX] = 1; }
KERNEL second(GLOBAL int *x) { x[INDEX] += 2; }
"""


def listed(code: bytes, folder: Path) -> dict[int, str]:
    """Return objdump's instructions by address, without the padding between functions."""
    path = folder / "code.co"
    path.write_bytes(code)
    lines = disassemble_object(path)
    return {line.address: line.text for line in lines if line.text != "s_code_end"}


def test_the_instructions_are_those_of_objdump(tmp_path: Path) -> None:
    for name in WHOLE:
        code = compile_kernel(name)
        expected = listed(code, tmp_path)
        found = {item.address: item.text for item in amdjit.inspect_object(code).instructions}
        assert found.keys() <= expected.keys()
        left = {expected[address] for address in expected.keys() - found.keys()}
        assert all(text.startswith(("s_nop", "s_endpgm", "s_code_end")) for text in left), left
        assert all(text.split()[0] == expected[pc].split()[0] for pc, text in found.items())


def test_blocks_hold_each_instruction_once_and_agree_on_their_edges() -> None:
    for name in WHOLE:
        found = amdjit.inspect_object(compile_kernel(name))
        numbers = [item.block for item in found.instructions]
        assert numbers == sorted(numbers)
        assert [block.number for block in found.blocks] == list(range(len(found.blocks)))
        for block in found.blocks:
            inside = [item for item in found.instructions if item.block == block.number]
            assert block.address == inside[0].address
            assert block.end == inside[-1].address + inside[-1].size
            assert sum(block.units.values()) == len(inside)
            for successor in block.successors:
                assert block.number in found.blocks[successor].predecessors
        edges = sum(len(block.successors) for block in found.blocks)
        assert edges == sum(len(block.predecessors) for block in found.blocks)


def test_issue_cycles_are_those_of_the_cycle_model() -> None:
    found = amdjit.inspect_object(compile_kernel("double_math")).instructions
    by_name = {item.mnemonic: item.issue_cycles for item in found}
    assert by_name["v_fma_f64"] == PASSES[Timing.DOUBLE]
    assert {item.issue_cycles for item in found if item.mnemonic == "s_delay_alu"} == {0}
    assert all(item.issue_cycles == 1 for item in found if item.mnemonic == "v_mov_b32")
    wide = amdjit.inspect_object(compile_kernel("double_math", "-mwavefrontsize64"))
    assert any("Issue cycles of a wave of 64 lanes" in text for text in wide.missing)


def test_lines_hold_the_instructions_that_name_them() -> None:
    found = amdjit.inspect_object(compile_kernel("branches"))
    placed = [item for item in found.instructions if item.place is not None]
    assert placed
    assert sum(line.instructions for line in found.lines.values()) == len(placed)
    for place, line in found.lines.items():
        inside = [item for item in placed if item.place == place]
        assert line.addresses == tuple(item.address for item in inside)
        assert line.peak_vgprs == max(len(item.live_vgprs) for item in inside)


def test_a_kernel_is_chosen_by_name_if_there_are_several() -> None:
    code = compile_source(TWO_KERNELS)
    assert amdjit.inspect_object(code, "second").kernel == "second"
    with pytest.raises(AmdjitError, match="first, second"):
        amdjit.inspect_object(code)
    with pytest.raises(AmdjitError, match="no kernel third; it has first, second"):
        amdjit.inspect_object(code, "third")


def test_a_compiled_kernel_knows_its_source_and_ir() -> None:
    compiled = vector_add.vector_add.compile(*[f32[:]] * 3)
    found = compiled.inspect()
    assert found == amdjit.inspect_object(compiled.code_object)
    assert found is compiled.inspect()
    assert any("def vector_add" in text for text in found.companion.sources.values())
    assert "define" in found.companion.optimized_llvm
    assert all(file in found.companion.sources for file, _ in found.lines)


def stripped(code: bytes, option: str, folder: Path) -> bytes:
    path = folder / "code.co"
    path.write_bytes(code)
    subprocess.run(["llvm-strip-22", option, str(path)], check=True)
    return path.read_bytes()


def test_an_object_without_debug_information_says_so(tmp_path: Path) -> None:
    code = stripped(compile_source(TWO_KERNELS), "--strip-debug", tmp_path)
    found = amdjit.inspect_object(code, "first")
    assert found.instructions
    assert not found.lines
    assert any("no line table" in text for text in found.missing)


def test_a_stripped_object_loses_lines_and_says_where_calls_are_not_known(tmp_path: Path) -> None:
    whole = compile_kernel("calls")
    found = amdjit.inspect_object(stripped(whole, "--strip-all", tmp_path))
    assert any("the symbol table is stripped" in text for text in found.missing)
    assert not found.lines
    known = {item.address: item for item in amdjit.inspect_object(whole).instructions}
    for item in found.instructions:
        assert item.live_vgprs >= known[item.address].live_vgprs
        assert item.live_sgprs >= known[item.address].live_sgprs


def test_unknown_instructions_end_a_path_and_are_shown() -> None:
    code = compile_kernel("saxpy")
    before = amdjit.inspect_object(code)
    victim = before.instructions[len(before.instructions) // 2]
    found = amdjit.inspect_object(_patched(code, victim.address, 0xFFFFFFFF))
    shown = {item.address: item for item in found.instructions}[victim.address]
    assert (shown.text, shown.mnemonic, shown.unit) == (".long 0xffffffff", "unknown", "other")
    assert shown.live_vgprs >= victim.live_vgprs
    assert shown.live_vgprs == shown.live_vgprs | _written_before(code, victim.address)
    assert any(f"{victim.address:#x}" in text for text in found.missing)
    early = [item.text for item in before.instructions if item.address < victim.address]
    assert [item.text for item in found.instructions][: len(early)] == early


def _written_before(code: bytes, address: int) -> frozenset[int]:
    """Return the VGPRs that the first operands before an address in straight code name."""
    texts = [i.text for i in amdjit.inspect_object(code).instructions if i.address < address]
    matches = (re.match(r"(v_|global_load)\w+ v(\d+),", text) for text in texts)
    return frozenset(int(match[2]) for match in matches if match)


def _patched(code: bytes, address: int, dword: int) -> bytes:
    """Put a dword at an address of the text segment."""
    for segment in CodeObject.read(code).segments:
        if segment.address <= address < segment.end:
            start = code.index(segment.data) + address - segment.address
            return code[:start] + struct.pack("<I", dword) + code[start + 4 :]
    raise AssertionError(hex(address))


def test_gfx11_has_instructions_and_says_whose_cycles_they_show() -> None:
    found = vector_add.vector_add.compile(*[f32[:]] * 3, target="gfx1100").inspect()
    assert any(each.text.startswith("s_waitcnt vmcnt(0)") for each in found.instructions)
    assert any("measured on gfx12" in text for text in found.missing)


@pytest.mark.parametrize("target", ["gfx1030", "gfx1250"])
def test_other_processors_have_resources_and_no_instructions(target: str) -> None:
    compiled = vector_add.vector_add.compile(*[f32[:]] * 3, target=target)
    found = compiled.inspect()
    assert found.instructions == found.blocks == ()
    assert found.vgprs > 0
    assert found.occupancy.waves_per_simd > 0
    assert any(f"does not decode the machine code of {target}" in text for text in found.missing)
    assert target in str(found)


def test_what_is_not_linked_is_refused_with_a_remedy(tmp_path: Path) -> None:
    source, item = tmp_path / "k.s", tmp_path / "k.o"
    source.write_text('.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"\n.text\ns_endpgm\n')
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-filetype=obj"]
    subprocess.run([*command, str(source), "-o", str(item)], check=True)
    with pytest.raises(MalformedCodeObject, match=r"ld\.lld -shared"):
        amdjit.inspect_object(item.read_bytes())


def test_the_json_form_has_every_field_and_names_its_schema() -> None:
    found = amdjit.inspect_object(compile_kernel("branches"))
    form = json.loads(found.to_json())
    assert form["schema"] == "amdjit.inspection/1"
    assert len(form["instructions"]) == len(found.instructions)
    for item, written in zip(found.instructions, form["instructions"], strict=True):
        assert written["live_vgprs"] == sorted(item.live_vgprs)
        assert written["text"] == item.text
    places = {(line["file"], line["line"]) for line in form["lines"]}
    assert places == set(found.lines)
    assert not {"companion", "code_object"} & set(form)


def test_the_page_is_one_file_that_names_the_kernel(tmp_path: Path) -> None:
    page = tmp_path / "branches.html"
    amdjit.inspect_object(compile_kernel("branches")).to_html(page)
    text = page.read_text()
    assert text.lower().startswith("<!doctype html>")
    assert "branches" in text


def test_the_summary_names_the_kernel_its_loops_and_its_longest_line() -> None:
    found = amdjit.inspect_object(compile_kernel("divergent_loops"), "collatz")
    text = str(found)
    assert text.startswith("collatz for gfx1201, wave32")
    assert text.count("\n  loop ") == len(found.loops) > 0
    longest = max(found.lines.values(), key=lambda line: line.instructions)
    assert f":{longest.line}, {longest.instructions} instructions" in text


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["calls", "branches"])
def test_damaged_objects_are_read_as_far_as_they_go_or_refused(name: str) -> None:
    code, choose = compile_kernel(name), random.Random(name)
    outcomes = set()
    for _ in range(80):
        damaged = bytearray(code)
        for _ in range(choose.choice([1, 2, 8, 64])):
            damaged[choose.randrange(len(damaged))] = choose.randrange(256)
        try:
            found = amdjit.inspect_object(bytes(damaged))
        except AmdjitError:
            outcomes.add("refused")
        else:
            assert str(found)
            json.loads(found.to_json())
            outcomes.add("incomplete" if found.missing else "whole")
    assert "refused" in outcomes
    assert outcomes & {"incomplete", "whole"}


def test_no_more_registers_are_live_than_the_compiler_has_allocated() -> None:
    for case in CASES:
        for flags in ((), ("-O1", "-mwavefrontsize64")):
            code = compile_kernel(case.file, *flags)
            found = amdjit.inspect_object(code, case.kernel)
            entry = CodeObject.read(code).kernels[case.kernel].entry_address
            (first,) = (item for item in found.instructions if item.address == entry)
            assert 0 < found.peak.vgprs <= found.vgprs
            assert all(len(item.live_sgprs) <= found.sgprs for item in found.instructions)
            assert first.live_vgprs <= {0}
            ends = [item for item in found.instructions if item.text == "s_endpgm"]
            assert all(not item.live_vgprs and not item.live_sgprs for item in ends)
