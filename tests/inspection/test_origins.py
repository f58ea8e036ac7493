"""The lines that wrote the registers live at the peak, against definitions followed forwards."""

from __future__ import annotations

from collections import defaultdict

import pytest

import amdjit
from amdjit import f16, f32
from amdjit.code_object import CodeObject
from amdjit.examples import perf_hgemm, saxpy, simple_hgemm, transpose_shuffle
from amdjit.inspection.liveness import live_origins
from amdjit.inspection.machine_code import read_machine_code
from amdjit.isa.analysis.control_flow import Graph, build_graph
from amdjit.isa.analysis.kernel_code import kernel_text
from amdjit.isa.instruction import Instruction, Register, RegisterFile

H = f16[:, :]
KERNELS = [
    (saxpy.saxpy, (f32, f32[:], f32[:], f32[:])),
    (simple_hgemm.simple_hgemm, (H, H, H, H, f32, f32)),
    (perf_hgemm.perf_hgemm, (H, H, H, H, f32, f32)),
    (transpose_shuffle.transpose_shuffle, (f16[:], f16[:])),
]
Definitions = dict[int, frozenset[int]]


def written(instruction: Instruction) -> set[int]:
    parts = [instruction, *([instruction.pair] if instruction.pair else [])]
    return {
        number
        for part in parts
        for spec, operand in zip(part.opcode.operands, part.operands, strict=True)
        if spec.written and isinstance(operand, Register) and operand.file is RegisterFile.VGPR
        for number in range(operand.index, operand.index + operand.dwords)
    }


def reaching(graph: Graph, address: int) -> Definitions:
    """Return who may have written each register last, if no write counts as complete."""
    at: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    changed = True
    result: Definitions = {}
    while changed:
        changed = False
        for start, block in graph.blocks.items():
            state = {number: set(by) for number, by in at[start].items()}
            for instruction in block.instructions:
                if instruction.pc == address:
                    result = {number: frozenset(by) for number, by in state.items()}
                for number in written(instruction):
                    state.setdefault(number, set()).add(instruction.pc)
            for successor in block.successors:
                for number, by in state.items():
                    if not by <= at[successor][number]:
                        at[successor][number] |= by
                        changed = True
    return result


@pytest.mark.parametrize(("kernel", "types"), KERNELS)
def test_each_line_may_have_written_what_it_is_named_for(
    kernel: amdjit.Kernel, types: tuple[object, ...]
) -> None:
    compiled = kernel.compile(*types, target="gfx1201")
    found = compiled.inspect()
    whole = CodeObject.read(compiled.code_object)
    code = whole.kernels[compiled.name]
    graph = build_graph(kernel_text(whole, code), code.entry_address)
    writers = reaching(graph, found.peak.address)
    places = {each.address: each.place for each in found.instructions}
    (highest,) = (each for each in found.instructions if each.address == found.peak.address)
    named = set()
    for origin in found.peak.origins:
        assert origin.vgprs <= highest.live_vgprs
        for number in origin.vgprs:
            assert origin.place in {places[pc] for pc in writers[number]}
            named.add(number)
    # The registers with which a wave starts are the only ones that nobody wrote.
    assert highest.live_vgprs - named <= {0, 1, 2}
    sizes = [len(origin.vgprs) for origin in found.peak.origins]
    assert sizes == sorted(sizes, reverse=True)


@amdjit.kernel
def replaced(x, out):
    i = amdjit.grid(1)
    value = x[i] * f32(3)
    value = value + x[i + 1]
    other = x[i + 2]
    out[i] = value * other
    out[i + 1] = value - other


def test_in_straight_code_only_the_last_writer_counts() -> None:
    compiled = replaced.compile(f32[::1], f32[::1], target="gfx1201", bounds_check=False)
    found = compiled.inspect()
    whole = CodeObject.read(compiled.code_object)
    code = read_machine_code(whole, whole.kernels[compiled.name])
    assert code is not None
    (block,) = code.graph.blocks.values()
    places = {each.address: each.place for each in found.instructions}
    last: dict[int, int] = {}
    rewritten = 0
    for facts, instruction in zip(found.instructions, block.instructions, strict=True):
        named: dict[int, set[object]] = defaultdict(set)
        for origin in live_origins(code, facts, places):
            for number in origin.vgprs:
                named[number].add(origin.place)
        live = facts.live_vgprs & set(last)
        assert {n: named[n] for n in live} == {n: {places[last[n]]} for n in live}, facts.text
        for number in written(instruction):
            rewritten += number in last and places[last[number]] != facts.place
            last[number] = instruction.pc
    assert rewritten
