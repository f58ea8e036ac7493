"""Inspection of gfx9's code objects: instructions as llvm-objdump lists them, and accumulation
VGPRs in what is live."""

from __future__ import annotations

from pathlib import Path

import pytest

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix
from tests.emulator.building import compile_kernel, compile_source, using
from tests.emulator.decoder.objdump import asking_about, disassemble_object
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

PROCESSORS = ("gfx908", "gfx90a", "gfx942", "gfx950")
KERNELS = ("saxpy", "branches", "double_math")
ACCUMULATORS = """#include "common.h"
KERNEL accumulate(GLOBAL float *x) {
    float value = x[INDEX], result;
    __asm__ volatile("v_accvgpr_write_b32 a7, %0" : : "v"(value) : "a7");
    __builtin_amdgcn_s_barrier();
    __asm__ volatile("v_accvgpr_read_b32 %0, a7" : "=v"(result));
    x[INDEX] = result;
}
"""
A7 = 256 + 7


@pytest.mark.sample(2)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_instructions_of_gfx9_are_those_of_objdump(processor: str, tmp_path: Path) -> None:
    for name in KERNELS:
        with using(cpu=processor), asking_about(processor):
            code = compile_kernel(name)
            path = tmp_path / "code.co"
            path.write_bytes(code)
            expected = {line.address: line.text for line in disassemble_object(path)}
        inspection = amdjit.inspect_object(code)
        found = {item.address: item.text for item in inspection.instructions}
        assert found
        assert not any("no instruction" in text for text in inspection.missing)
        assert {pc: text.split()[0] for pc, text in found.items()} == {
            pc: expected[pc].split()[0] for pc in found
        }
        left = {expected[address] for address in expected.keys() - found.keys()}
        assert all(text.startswith(("s_nop", "s_endpgm", "s_code_end")) for text in left), left


@pytest.mark.parametrize("processor", PROCESSORS)
def test_an_accumulation_register_is_live_between_its_write_and_its_read(processor: str) -> None:
    with using(cpu=processor):
        found = amdjit.inspect_object(compile_source(ACCUMULATORS))
    live = [A7 in item.live_vgprs for item in found.instructions]
    names = [item.mnemonic for item in found.instructions]
    write = names.index("v_accvgpr_write_b32")
    read = names.index("v_accvgpr_read_b32")
    assert live == [write < place <= read for place in range(len(names))]
    # A file of their own on gfx908. Elsewhere they share it, and begin at a multiple of 4.
    assert found.vgprs >= 8 + 4 * (processor != "gfx908")


@pytest.mark.parametrize("processor", ["gfx942"])
def test_a_wait_names_what_it_waits_for(processor: str) -> None:
    with using(cpu=processor):
        found = amdjit.inspect_object(compile_kernel("saxpy"))
    waits = [item.text for item in found.instructions if item.mnemonic == "s_waitcnt"]
    assert any("vmcnt(0)" in text for text in waits)
    assert any("lgkmcnt(0)" in text for text in waits)


@amdjit.kernel(block=64)
def product(a, b, d):
    left = matrix.fragment(matrix.matrix_a, 32, 32, 8, f16, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, 32, 32, 8, f16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 32, 32, 8, f32)
    matrix.fill_fragment(total, 0)
    matrix.load_matrix_sync(left, a, (0, 0))
    matrix.load_matrix_sync(right, b, (0, 0))
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total, (0, 0))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_products_are_counted_apart_from_the_vector_alu(processor: str) -> None:
    compiled = product.compile(f16[:, :], f16[:, :], f32[:, :], target=processor)
    instructions = compiled.inspect().instructions
    products = [item.unit for item in instructions if item.mnemonic.startswith("v_mfma")]
    assert products == ["MFMA"]
    moves = {item.unit for item in instructions if item.mnemonic.startswith("v_accvgpr")}
    assert moves <= {"VALU"}


@pytest.mark.parametrize(("processor", "cycles"), [("gfx90a", 64), ("gfx942", 32), ("gfx950", 32)])
def test_issue_cycles_are_quanta_and_those_of_mfma_are_said_to_be_a_rule(
    processor: str, cycles: int
) -> None:
    compiled = product.compile(f16[:, :], f16[:, :], f32[:, :], target=processor)
    found = compiled.inspect()
    shown = {item.mnemonic: item.issue_cycles for item in found.instructions}
    assert next(value for name, value in shown.items() if name.startswith("v_mfma")) == cycles
    assert {value for name, value in shown.items() if name.startswith("v_lshl")} == {4}
    assert any("MFMA" in text and "rule" in text for text in found.missing)
    assert any("measured on gfx950" in text for text in found.missing) == (processor != "gfx950")
