"""Each rule of the tree is checked: a tree that breaks one is refused, and the error names its
place."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any

import pytest

from amdjit.declarations import LlvmCall, intrinsic
from amdjit.diagnostics.errors import InternalError
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Based
from amdjit.tree.verifier import verify
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
    fp8,
    i8,
    i32,
    i64,
    u8,
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
    store,
    thread,
    variable,
)

X, Y, FLAG, N, LONG = (
    variable(*pair) for pair in (("x", f32), ("y", f16), ("flag", boolean), ("n", i32), ("m", i64))
)
V, A, OUT = variable("v", Vector(f32, 4)), variable("a", array(f32)), variable("out", array(f32, 2))
BYTE, PAIR = variable("byte", fp8), variable("pair", Tuple((f32, i32)))
PARAMETERS = (X, Y, FLAG, N, LONG, V, A, OUT, BYTE)


@intrinsic(LlvmCall("llvm.amdgcn.s.sleep"))
def sleep(duration: Annotated[int, Immediate(0, 127)]) -> VOID:  # type: ignore[valid-type]
    """Wait a while."""


def checked(*body: Any, result: Any = VOID, functions: tuple[tree.Function, ...] = ()) -> None:
    verify(program(function("k", PARAMETERS, *body, result=result), *functions))


def message_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


F2 = Vector(f32, 2)
DYNAMIC = Array(f32, 1, Layout.CONTIGUOUS, AddressSpace.LDS)
OTHER = function("other", (X,), tree.Return(HERE, read(X)), result=f32)

WRONG_EXPRESSIONS: list[tuple[Any, str]] = [
    (op("+", read(X), read(Y)), "f32 expected, f16 found"),
    (op("&", read(X), read(X)), "no & on f32"),
    (op("/", read(N), read(N)), "`/` on integers"),
    (op("+", read(FLAG), read(FLAG)), "no + on booleans"),
    (op("+", read(BYTE), read(BYTE)), "no arithmetic on fp8"),
    (op("+", read(A), read(A)), "no arithmetic on f32[::1]"),
    (number(300, i8), "300 is no i8"),
    (number(-1, u8), "-1 is no u8"),
    (number(1, boolean), "1 is no boolean"),
    (number(1, array(f32)), "a constant of"),
    (tree.Read(HERE, f16, X), "f32 expected, f16 found"),
    (tree.Unary(HERE, f32, tree.UnaryOperator.INVERT, read(X)), "no ~ on f32"),
    (tree.Unary(HERE, f32, tree.UnaryOperator.NOT, read(X)), "boolean expected, f32 found"),
    (tree.Unary(HERE, boolean, tree.UnaryOperator.NEGATE, read(FLAG)), "no - on booleans"),
    (compare("<", read(X), read(Y)), "f32 expected, f16 found"),
    (compare("<", read(V), read(V)), "no comparison of f32x4"),
    (
        tree.Compare(HERE, i32, tree.Comparison.LESS, read(X), read(X)),
        "boolean expected, i32 found",
    ),
    (tree.Logical(HERE, boolean, True, read(FLAG), read(N)), "boolean expected, i32 found"),
    (tree.Conditional(HERE, f32, read(FLAG), read(X), read(Y)), "f32 expected, f16 found"),
    (tree.Conditional(HERE, f32, read(N), read(X), read(X)), "boolean expected, i32 found"),
    (tree.Convert(HERE, f16, read(V)), "differ in length"),
    (tree.Convert(HERE, f16, read(A)), "no conversion of"),
    (tree.Bitcast(HERE, f16, read(X)), "differ in size"),
    (tree.Bitcast(HERE, f16, read(A)), "a bitcast of"),
    (tree.MakeVector(HERE, F2, (read(X),)), "1 elements"),
    (tree.MakeVector(HERE, F2, (read(X), read(Y))), "f32 expected, f16 found"),
    (tree.MakeVector(HERE, f32, (read(X),)), "f32 is no vector"),
    (tree.Splat(HERE, F2, read(Y)), "f32 expected, f16 found"),
    (tree.ExtractElement(HERE, f16, read(V), number(0)), "f32 expected, f16 found"),
    (tree.ExtractElement(HERE, f32, read(V), read(LONG)), "i32 expected, i64 found"),
    (tree.ExtractElement(HERE, f32, read(X), number(0)), "f32 is no vector"),
    (tree.InsertElement(HERE, V.type, read(V), number(0), read(Y)), "f32 expected, f16 found"),
    (tree.Shuffle(HERE, F2, read(V), read(V), (0, 8)), "an index out of range"),
    (tree.Shuffle(HERE, F2, read(V), read(V), (0,)), "f32x1 expected, f32x2 found"),
    (tree.MakeTuple(HERE, Tuple((f32,)), (read(Y),)), "(f16) expected, (f32) found"),
    (tree.TupleItem(HERE, f32, read(X), 0), "no item 0 of f32"),
    (tree.Extent(HERE, i64, read(A), 0), "i32 expected, i64 found"),
    (tree.Extent(HERE, i32, read(A), 1), "no axis 1"),
    (tree.Stride(HERE, i32, read(X), 0), "f32 is no array"),
    (tree.AllocateArray(HERE, array(f32), "t"), "no allocation in GLOBAL"),
    (tree.AllocateArray(HERE, DYNAMIC, "t"), "an allocation of unknown shape"),
    (tree.AllocateArray(HERE, replace(DYNAMIC, ndim=2), "t", True), "a dynamic array has one axis"),
    (tree.AllocateArray(HERE, DYNAMIC, "t", True, number(1.0, f32)), "i32 expected, f32 found"),
    (load(read(A), read(X)), "an index of type f32"),
    (load(read(A), number(0), number(0)), "2 indices for 1 axes"),
    (
        load(read(X.__class__("flags", array(boolean))), number(0), width=4),
        "no vector access to elements of type boolean",
    ),
    (tree.Load(HERE, f16, read(A), (number(0),)), "f32 expected, f16 found"),
    (
        tree.AddressOf(HERE, Pointer(f16, AddressSpace.GLOBAL), read(A), (number(0),)),
        "pointer to f32 in GLOBAL expected",
    ),
    (tree.Load(HERE, f32, Based(HERE, A.type, read(A), ()), (number(0),)), "no place in the array"),
    (
        tree.Load(HERE, f32, Based(HERE, array(f16), read(A), (number(0),)), (number(0),)),
        "no place in the array",
    ),
    (call(thread, read(X)), "1 arguments"),
    (call(sleep, number(3)), "duration: "),
    (tree.Call(HERE, f32, OTHER, (read(X),)), "other is not among the functions before this"),
]


@pytest.mark.parametrize(
    ("node", "message"),
    WRONG_EXPRESSIONS,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_expression_is_refused(node: Any, message: str) -> None:
    with pytest.raises(InternalError, match=re.escape(message)):
        checked(do(node))


def test_calls_are_checked_against_the_function() -> None:
    with pytest.raises(InternalError, match="f32 expected, f16 found"):
        checked(do(tree.Call(HERE, f32, OTHER, (read(Y),))), functions=(OTHER,))
    with pytest.raises(InternalError, match="2 arguments"):
        checked(do(tree.Call(HERE, f32, OTHER, (read(X), read(X)))), functions=(OTHER,))
    checked(do(tree.Call(HERE, f32, OTHER, (read(X),))), functions=(OTHER,))


WRONG_STATEMENTS: list[tuple[Any, str]] = [
    (assign(X, read(Y)), "f32 expected, f16 found"),
    (store(read(A), (number(0),), read(Y)), "f32 expected, f16 found"),
    (store(read(A), (number(0),), read(X), 4), "f32x4 expected, f32 found"),
    (if_(read(N), ()), "boolean expected, i32 found"),
    (tree.While(HERE, read(N), ()), "boolean expected, i32 found"),
    (tree.ForRange(HERE, N, number(0), read(LONG), number(1), ()), "i32 expected, i64 found"),
    (tree.ForRange(HERE, N, number(0), number(3), number(0), ()), "a range with step 0"),
    (tree.ForRange(HERE, X, number(0), number(3), number(1), ()), "a range of f32"),
    (tree.Break(HERE), "outside any loop"),
    (tree.Continue(HERE), "outside any loop"),
    (tree.Return(HERE, read(X)), "None expected, f32 found"),
    (
        tree.ForRange(HERE, N, number(0), number(3), number(1), (), (tree.Break(HERE),)),
        "outside any loop",
    ),
]


@pytest.mark.parametrize(
    ("node", "message"), WRONG_STATEMENTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_wrong_statement_is_refused(node: Any, message: str) -> None:
    with pytest.raises(InternalError, match=re.escape(message)):
        checked(node)


def test_the_place_of_the_error_is_named() -> None:
    with pytest.raises(InternalError, match=r"/kernels/example\.py:42:5: f32 expected"):
        checked(tree.Assign(at(42), X, read(Y)))


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(InternalError, match="int is not an expression"):
        checked(do(3))
    with pytest.raises(InternalError, match="Read is not a statement"):
        checked(read(X))


def test_a_kernel_returns_nothing_and_writes_arrays_only() -> None:
    with pytest.raises(InternalError, match="a kernel returns nothing"):
        checked(tree.Return(HERE, read(X)), result=f32)
    with pytest.raises(InternalError, match="written names no array"):
        verify(program(function("k", PARAMETERS), written=("x",)))
    with pytest.raises(InternalError, match="a: no layout"):
        verify(program(function("k", (variable("a", array(f32, layout=Layout.ANY)),)), written=()))


def test_stores_need_their_parameter_among_the_written() -> None:
    kernel = function("k", PARAMETERS, store(read(A), (number(0),), read(X)))
    verify(program(kernel, written=("a",)))
    with pytest.raises(InternalError, match="a is stored to but not among the written"):
        verify(program(kernel, written=("out",)))


def returning(*body: Any) -> None:
    callee = function("f", PARAMETERS, *body, result=f32)
    verify(program(function("k", PARAMETERS), callee))


GIVE = tree.Return(HERE, read(X))
FOREVER = number(True, boolean)


def test_every_way_through_a_function_must_return() -> None:
    returning(if_(read(FLAG), (GIVE,), (GIVE,)))
    returning(tree.While(HERE, FOREVER, (if_(read(FLAG), (GIVE,)),)))
    returning(tree.While(HERE, read(FLAG), (GIVE,), (GIVE,)))
    returning(tree.ForRange(HERE, N, number(0), number(4), number(1), (), (GIVE,)))
    for body in (
        if_(read(FLAG), (GIVE,)),
        tree.While(HERE, read(FLAG), (GIVE,)),
        tree.While(HERE, FOREVER, (if_(read(FLAG), (tree.Break(HERE),)), GIVE)),
        tree.ForRange(
            HERE,
            N,
            number(0),
            number(4),
            number(1),
            (if_(read(FLAG), (tree.Break(HERE),)),),
            (GIVE,),
        ),
    ):
        with pytest.raises(InternalError, match="the end can be reached without a return"):
            returning(body)
