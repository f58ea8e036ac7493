"""The line table: every instruction has a line of the kernel's file, and every line that does
something is there."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import KernelFault, f16, f32, i8, i32
from amdjit.examples import (
    mlp,
    reduction,
    saxpy,
    transpose_shuffle,
    transpose_wmma,
    user_intrinsic,
    vector_add,
    wide_k_int8,
    wmma_gemm,
    wmma_matmul,
    wmma_matmul_f32_input,
)
from amdjit.frontend.values.effects import walk
from amdjit.isa.decode import decode_all
from amdjit.tree import nodes as tree
from amdjit.types import AddressSpace

H, F = f16[:], f32[:]
KERNELS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "vector_add": (vector_add.vector_add, (F, F, F)),
    "saxpy": (saxpy.saxpy, (f32, F, F, F)),
    "reduction": (reduction.sum_per_block, (F, F)),
    "wmma_matmul": (wmma_matmul.wmma_matmul, (H, H, H)),
    "wmma_matmul_f32_input": (wmma_matmul_f32_input.wmma_matmul_f32_input, (F, F, F)),
    "mlp": (mlp.mlp, (H, H, F, False)),
    "wide_k_int8": (wide_k_int8.wide_k_int8, (i8[:], i8[:], i32[:])),
    "transpose_shuffle": (transpose_shuffle.transpose_shuffle, (H, H)),
    "transpose_wmma": (transpose_wmma.transpose_wmma, (H, H)),
    "wmma_gemm": (wmma_gemm.wmma_gemm, (f16[:, :], f16[:, :], f32[:, :])),
    "user_intrinsic": (user_intrinsic.median_filter, (F, F)),
}


def compiled(name: str, opt_level: int) -> amdjit.CompiledKernel:
    kernel, arguments = KERNELS[name]
    return kernel.compile(*arguments, target="gfx1201", opt_level=opt_level)  # type: ignore[no-any-return]


def executable_lines(kernel: Any) -> set[int]:
    """Return the lines that Python itself would execute, less those that are done when the kernel
    is compiled."""
    code = kernel.function.__code__
    lines, first = inspect.getsourcelines(kernel.function)
    done_early = set()
    for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
        over_tuple = isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple)
        static = isinstance(node, ast.For) and ast.unparse(node.iter).startswith("static_range(")
        constant = isinstance(node, ast.Assign) and ast.unparse(node.value) == "THREADS // 2"
        if over_tuple or static or constant:
            done_early.add(first + node.lineno - 1)  # type: ignore[attr-defined]
    return {
        line for _, _, line in code.co_lines() if line and line > code.co_firstlineno
    } - done_early


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", KERNELS)
def test_every_executable_line_has_code(name: str) -> None:
    """Without optimisation: LLVM merges, moves and drops the code of lines, and their entries with
    it."""
    kernel, _ = KERNELS[name]
    file = Path(inspect.getfile(kernel.function)).name
    present = {
        row.line for row in compiled(name, 0).linked.line_table.rows if Path(row.file).name == file
    }
    assert executable_lines(kernel) <= present


@pytest.mark.parametrize("name", KERNELS)
def test_every_instruction_carries_a_line(name: str) -> None:
    code = compiled(name, 3)
    linked, kernel = code.linked, code.linked.kernels[code.name]
    source = Path(inspect.getfile(KERNELS[name][0].function))
    length = len(source.read_text().splitlines())
    for instruction in decode_all(linked.code(kernel), kernel.entry_address):
        if instruction.mnemonic == "s_code_end":
            break
        place = linked.line_table.line_of(instruction.pc)
        assert place is not None, instruction
        assert Path(place[0]).name == source.name
        assert 1 <= place[1] <= length


def lines_of_accesses(
    program: tree.Program, kind: type[tree.Node], space: AddressSpace
) -> set[int]:
    """Return the lines of a program on which a memory is loaded from or stored to."""
    bodies = [function.body for function in (*program.functions, program.kernel)]
    return {
        node.span.line
        for node in walk(bodies)
        if isinstance(node, kind) and node.array.type.address_space is space  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("name", KERNELS)
def test_optimised_accesses_carry_their_own_lines(name: str) -> None:
    """Each access has the line of one; each line that stores has a store, unless one with the line
    above does both."""
    code = compiled(name, 3)
    linked, kernel = code.linked, code.linked.kernels[code.name]
    places: dict[str, set[int]] = {}
    for instruction in decode_all(linked.code(kernel), kernel.entry_address):
        access = re.match(r"(global|ds)_(load|store)|v_wmma", instruction.mnemonic)
        if access:
            place = linked.line_table.line_of(instruction.pc)
            assert place is not None
            places.setdefault(access[0], set()).add(place[1])
    stores = lines_of_accesses(code.program, tree.Store, AddressSpace.GLOBAL)
    assert places["global_store"] <= stores
    assert all(line - 1 in places["global_store"] for line in stores - places["global_store"])
    spaces = {"global": AddressSpace.GLOBAL, "ds": AddressSpace.LDS}
    for access, lines in places.items():
        memory, _, direction = access.partition("_")
        if memory == "v":
            text = Path(inspect.getfile(KERNELS[name][0].function)).read_text().splitlines()
            assert all("wmma_" in text[line - 1] for line in lines)
        else:
            kind = tree.Load if direction == "load" else tree.Store
            assert lines <= lines_of_accesses(code.program, kind, spaces[memory])


@amdjit.kernel
def endless(out):
    total = 0
    while True:
        total += 1
        if total > 5:
            continue
        total += 2


@amdjit.kernel
def endless_with_stores(out):
    i = 0
    while True:
        out[0] = i
        i += 1


@pytest.mark.parametrize(("kernel", "lines"), [(endless, {3}), (endless_with_stores, {3, 4, 5})])
def test_a_loop_without_end_stops_on_its_own_line(kernel: Any, lines: set[int]) -> None:
    _, first = inspect.getsourcelines(kernel.function)
    code = kernel.compile(i32[:], target="gfx1201")
    rows = {row.line - first for row in code.linked.line_table.rows}
    assert 3 in rows, "the way back has the line of the while"
    with amdjit.use("emulator:gfx1201"):
        device = amdjit.current_device()
        limit, device.time_limit = device.time_limit, 0.2  # type: ignore[attr-defined]
        try:
            with pytest.raises(KernelFault) as caught:
                kernel[1, 32](np.zeros(1, np.int32))
        finally:
            device.time_limit = limit  # type: ignore[attr-defined]
    assert caught.value.source_line is not None
    assert caught.value.source_line - first in lines
