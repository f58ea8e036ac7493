"""Kernels' arguments and attributes, device functions, and where the line table points."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering import lower
from amdjit.options import CompileOptions
from amdjit.tree import nodes as tree
from amdjit.types import AddressSpace, Array, Layout, Tuple, Vector, boolean, f16, f32, i32
from tests.lowering.llvm_tools import optimised, requires_llvm, verified
from tests.tree.trees import (
    GFX1201,
    HERE,
    SOURCE,
    array,
    at,
    call,
    function,
    load,
    lowered,
    number,
    op,
    program,
    read,
    shared,
    store,
    thread,
    variable,
)

pytestmark = requires_llvm


def signature(text: str) -> str:
    """Return the kernel's definition line, without its quotes."""
    (line,) = [line for line in text.splitlines() if "amdgpu_kernel" in line]
    return line.replace('"', "")


def test_arguments_have_their_types_names_and_attributes() -> None:
    parameters = (
        variable("flag", boolean),
        variable("v", Vector(f16, 4)),
        variable("a", array(f32, 2, layout=Layout.STRIDED, alignment=16)),
        variable("out", array(f32)),
        variable("large", array(f32, offset_bits=64)),
    )
    line = signature(
        lowered(
            function("k", parameters, store(read(parameters[3]), (number(0),), number(1.0, f32)))
        )
    )
    for argument in (
        "i8 noundef %flag",
        "<4 x half> noundef %v",
        "ptr addrspace(1) noundef align 16 readonly %a",
        "i32 noundef %a.extent0",
        "i32 noundef %a.stride1",
        "ptr addrspace(1) noundef %out",
        "i64 noundef %large.extent0",
    ):
        assert argument + "," in line or argument + ")" in line, argument
    assert "noalias" not in line
    assert "stride" not in line.split("%large.extent0")[1]


def divided(inline: bool) -> tuple[tree.Function, tree.Function]:
    """A function that returns a tuple, and a kernel that calls it twice."""
    x, y = variable("x", i32), variable("y", i32)
    pair = Tuple((i32, i32))
    halves = (tree.BinaryOperator.FLOOR_DIVIDE, tree.BinaryOperator.MODULO)
    both = tree.MakeTuple(
        at(11), pair, tuple(tree.Binary(at(11), i32, half, read(x), read(y)) for half in halves)
    )
    callee = function("divide", (x, y), tree.Return(at(11), both), result=pair, inline=inline)
    n, out, result = variable("n", i32), variable("out", array(i32)), variable("result", pair)
    body = []
    for place, line in ((0, 21), (100, 22)):
        called = tree.Call(at(line), pair, callee, (call(thread), op("+", read(n), number(place))))
        body.append(tree.Assign(at(line), result, called))
        for item in (0, 1):
            value = tree.TupleItem(at(line), i32, read(result), item)
            body.append(tree.Store(at(line), read(out), (number(place + item),), value))
    return function("k", (n, out), *body), callee


def test_functions_take_arrays_of_every_space() -> None:
    inner = (
        variable("tile", shared(f32, 4, 4)),
        variable("a", array(f32, 2)),
        variable("own", private(f32, 3)),
    )
    tile, a, own = inner
    total = op("+", load(read(tile), number(1), number(2)), load(read(a), number(0), number(3)))
    callee = function(
        "sum", inner, tree.Return(HERE, op("+", total, load(read(own), number(2)))), result=f32
    )
    out, given = variable("out", array(f32)), variable("given", array(f32, 2))
    new = [tree.AllocateArray(HERE, v.type, v.name) for v in (tile, own)]
    arguments = (new[0], read(given), new[1])
    value = tree.Call(HERE, f32, callee, arguments)
    verified(lowered(function("k", (given, out), store(read(out), (number(0),), value)), callee))


def private(element: Any, *shape: int) -> Array:
    return Array(element, len(shape), Layout.CONTIGUOUS, AddressSpace.PRIVATE, shape)


def test_wide_accesses_have_the_alignment_that_was_promised() -> None:
    a, out = variable("a", array(f16)), variable("out", array(f16))
    any_element = load(read(a), number(8), width=8)
    promised = tree.Load(HERE, Vector(f16, 8), read(a), (number(16),), 8, 16)
    stores = (
        store(read(out), (number(8 * n),), value, 8)
        for n, value in enumerate((any_element, promised))
    )
    text = lowered(function("k", (a, out), *stores))
    assert re.findall(r"load <8 x half>, .*, align (\d+)", text) == ["2", "16"]


@pytest.mark.skipif(shutil.which("llvm-dwarfdump-22") is None, reason="needs llvm-dwarfdump-22")
@pytest.mark.parametrize("inline", [True, False])
def test_the_line_table_has_the_python_lines_of_inlined_functions_too(
    inline: bool, tmp_path: Path
) -> None:
    kernel, callee = divided(inline)
    made = tmp_path / "k.o"
    command = ["llc-22", "-O3", "-mcpu=gfx1201", "-filetype=obj", "-o", str(made)]
    subprocess.run(command, input=optimised(lowered(kernel, callee)), text=True, check=True)
    dump = ["llvm-dwarfdump-22", "--debug-line", "--debug-info", str(made)]
    found = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    lines = {int(match) for match in re.findall(r"^0x[0-9a-f]+ +(\d+) ", found, re.MULTILINE)}
    assert {11, 21, 22} <= lines
    assert 'name: "example.py"' in found
    assert ("DW_TAG_inlined_subroutine" in found) == inline
    assert SOURCE.file == "/kernels/example.py"


def test_what_has_no_lowering_is_an_internal_error() -> None:
    out = variable("out", array(f32))
    power = op("**", number(2.0, f32), number(0.5, f32))
    with pytest.raises(InternalError, match=r"no operator \*\* on f32"):
        lowered(function("k", (out,), store(read(out), (number(0),), power)))
    with pytest.raises(InternalError, match="read before any assignment"):
        lowered(function("k", (out,), store(read(out), (number(0),), read(variable("ghost", f32)))))
    generic = lower(program(function("k", (out,))), CompileOptions(GFX1201))
    assert "ret void" in generic
