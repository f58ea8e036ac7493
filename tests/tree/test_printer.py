"""The typed tree's text: every node, with types, and the Python lines in the margin."""

from __future__ import annotations

from typing import Annotated

from amdjit.declarations import LlvmCall, intrinsic
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Based
from amdjit.tree.printer import print_expression, print_program
from amdjit.types import (
    VOID,
    AddressSpace,
    Array,
    Immediate,
    Layout,
    Pointer,
    Tuple,
    Vector,
    boolean,
    f16,
    f32,
    i32,
)
from tests.tree.trees import (
    HERE,
    array,
    assign,
    at,
    call,
    compare,
    do,
    function,
    if_,
    load,
    number,
    op,
    program,
    read,
    shared,
    store,
    thread,
    variable,
)


@intrinsic(LlvmCall("llvm.amdgcn.s.sleep"))
def sleep(duration: Annotated[int, Immediate(0, 127)]) -> VOID:  # type: ignore[valid-type]
    """Wait a while."""


def test_a_program_prints_one_statement_a_line_with_types_and_line_numbers() -> None:
    x, a, out, i = (
        variable("x", f32),
        variable("a", array(f32)),
        variable("out", array(f32)),
        variable("i", i32),
    )
    half = function(
        "half",
        (x,),
        tree.Return(at(7), op("*", read(x), number(0.5, f32))),
        result=f32,
        inline=False,
    )
    loop = tree.ForRange(
        at(12),
        i,
        number(0),
        tree.Extent(HERE, i32, read(out), 0),
        number(2),
        (
            tree.Store(
                at(13), read(out), (read(i),), tree.Call(HERE, f32, half, (load(read(a), read(i)),))
            ),
        ),
        (tree.Evaluate(at(15), call(sleep, 3)),),
        unroll=4,
    )
    kernel = tree.Function("scale", (a, out), VOID, (loop,), at(10), inline=False)
    text = print_program(tree.Program(kernel, (half,), frozenset({"out"})))
    assert text == (
        "# /kernels/example.py\n"
        "1 | function half(x: f32) -> f32 (not inlined):\n"
        "7 |     return (x * f32(0.5))\n"
        "\n"
        "# /kernels/example.py\n"
        "10 | kernel scale(a: f32[::1], out: f32[::1] (written)) -> None:\n"
        "12 |     for i: i32 in range(i32(0), out.shape[0], i32(2)):  # unrolled by 4\n"
        "13 |         out[i] = half(a[i]): f32\n"
        "12 |     else:\n"
        "15 |         sleep(3): None\n"
    )


def test_control_flow_prints_as_python() -> None:
    i, flag = variable("i", i32), variable("flag", boolean)
    body = (
        assign(i, op("+", read(i), number(1), True)),
        if_(read(flag), (tree.Break(HERE),), (tree.Continue(HERE),)),
    )
    loop = tree.While(HERE, compare("<", read(i), number(9)), body, (tree.Return(HERE, None),), 1)
    lines = print_program(program(function("k", (i, flag), loop), written=())).splitlines()[2:]
    assert [line.removeprefix("1 |     ") for line in lines] == [
        "while (i < i32(9)):  # not unrolled",
        "    i: i32 = (i +! i32(1))",
        "    if flag:",
        "        break",
        "    else:",
        "        continue",
        "else:",
        "    return",
    ]


def test_every_expression_prints() -> None:
    x, v, flag = variable("x", f32), variable("v", Vector(f32, 4)), variable("flag", boolean)
    a = variable("a", array(f16, 2, layout=Layout.STRIDED))
    pair = tree.MakeTuple(HERE, Tuple((f32,)), (read(x),))
    dynamic = Array(f32, 1, Layout.CONTIGUOUS, AddressSpace.LDS)
    pointer = Pointer(f16, AddressSpace.GLOBAL)
    expected = {
        tree.Constant(HERE, boolean, True): "boolean(True)",
        tree.Unary(HERE, f32, tree.UnaryOperator.NEGATE, read(x)): "(-x)",
        tree.Unary(HERE, boolean, tree.UnaryOperator.NOT, read(flag)): "(not flag)",
        tree.Unary(HERE, f32, tree.UnaryOperator.ABSOLUTE, read(x)): "abs(x)",
        op("min", read(x), read(x)): "min(x, x)",
        tree.Logical(HERE, boolean, False, read(flag), read(flag)): "(flag or flag)",
        tree.Conditional(
            HERE, f32, read(flag), read(x), number(0.0, f32)
        ): "(x if flag else f32(0.0))",
        tree.Convert(HERE, f16, read(x)): "f16(x)",
        tree.Bitcast(HERE, i32, read(x)): "bitcast(x, i32)",
        tree.MakeVector(HERE, Vector(f32, 2), (read(x), read(x))): "f32x2(x, x)",
        tree.Splat(HERE, Vector(f32, 2), read(x)): "f32x2(x)",
        tree.ExtractElement(HERE, f32, read(v), number(1)): "v[i32(1)]",
        tree.InsertElement(HERE, v.type, read(v), number(1), read(x)): "insert(v, i32(1), x)",
        tree.Shuffle(HERE, Vector(f32, 2), read(v), read(v), (3, 4)): "shuffle(v, v, (3, 4))",
        pair: "(x,)",
        tree.TupleItem(HERE, f32, pair, 0): "(x,)[0]",
        tree.Extent(HERE, i32, read(a), 1): "a.shape[1]",
        tree.Stride(HERE, i32, read(a), 0): "a.strides[0]",
        tree.AllocateArray(HERE, shared(f32, 4, 4), "tile"): "new tile: f32[4, 4] in LDS",
        tree.AllocateArray(HERE, dynamic, "rest", True): "dynamic rest: f32[::1]",
        tree.Load(HERE, Vector(f16, 8), read(a), (number(0), number(8)), 8, 4): (
            "a[i32(0), i32(8), width=8, alignment=4]"
        ),
        tree.Load(
            HERE,
            Vector(f16, 8),
            Based(HERE, a.type, read(a), (number(3), number(4))),
            (number(0), number(8)),
            8,
        ): ("a from [i32(3), i32(4)][i32(0), i32(8), width=8]"),
        tree.AddressOf(
            HERE, pointer, read(a), (number(0), number(1))
        ): "address_of(a, i32(0), i32(1))",
        call(thread): "thread(): i32",
    }
    for node, text in expected.items():
        assert print_expression(node) == text


def test_wide_stores_and_evaluations_print() -> None:
    a, v = variable("a", array(f32)), variable("v", Vector(f32, 4))
    kernel = function("k", (a, v), store(read(a), (number(4),), read(v), 4), do(call(thread)))
    text = print_program(program(kernel, written=("a",)))
    assert "a[i32(4), width=4] = v\n" in text
    assert "    thread(): i32\n" in text
