"""Short names for building typed trees by hand."""

from __future__ import annotations

from typing import Any

from amdjit.declarations import Emit, Intrinsic, LlvmCall, intrinsic
from amdjit.diagnostics.span import SourceText, Span
from amdjit.lowering import lower
from amdjit.options import CompileOptions, named_target
from amdjit.tree import nodes as tree
from amdjit.types import VOID, AddressSpace, Array, Element, Layout, Type, Vector, boolean, i32

GFX1201 = named_target("gfx1201")
SOURCE = SourceText("/kernels/example.py", tuple(f"line {number}\n" for number in range(1, 100)))
OPERATORS = {operator.value: operator for operator in tree.BinaryOperator}
COMPARISONS = {operator.value: operator for operator in tree.Comparison}


def at(line: int, column: int = 4) -> Span:
    """Return a place in the example file."""
    return Span(SOURCE, line, column, line, column + 1)


HERE = at(1)


def variable(name: str, type: Type) -> tree.Variable:
    return tree.Variable(name, type)


def array(element: Element, ndim: int = 1, **options: Any) -> Array:
    return Array(element, ndim, options.pop("layout", Layout.CONTIGUOUS), **options)


def shared(element: Element, *shape: int) -> Array:
    return Array(element, len(shape), Layout.CONTIGUOUS, AddressSpace.LDS, shape)


def read(of: tree.Variable) -> tree.Read:
    return tree.Read(HERE, of.type, of)


def number(value: float | int | bool, type: Type = i32) -> tree.Constant:
    return tree.Constant(HERE, type, value)


def op(operator: str, left: Any, right: Any, no_wrap: bool = False) -> tree.Binary:
    return tree.Binary(HERE, left.type, OPERATORS[operator], left, right, no_wrap)


def compare(operator: str, left: Any, right: Any) -> tree.Compare:
    return tree.Compare(HERE, boolean, COMPARISONS[operator], left, right)


def load(of: Any, *indices: Any, width: int = 0) -> tree.Load:
    element = of.type.element
    return tree.Load(HERE, Vector(element, width) if width else element, of, indices, width)


def store(of: Any, indices: tuple[Any, ...], value: Any, width: int = 0) -> tree.Store:
    return tree.Store(HERE, of, indices, value, width)


def assign(to: tree.Variable, value: Any) -> tree.Assign:
    return tree.Assign(HERE, to, value)


def if_(condition: Any, then: tuple[Any, ...], otherwise: tuple[Any, ...] = ()) -> tree.If:
    return tree.If(HERE, condition, then, otherwise)


def call(function: Intrinsic, *arguments: Any, result: Type | None = None) -> tree.CallIntrinsic:
    return tree.CallIntrinsic(HERE, result or function.result, function, arguments)


def do(expression: Any) -> tree.Evaluate:
    return tree.Evaluate(HERE, expression)


def function(
    name: str,
    parameters: tuple[tree.Variable, ...],
    *body: Any,
    result: Type = VOID,
    inline: bool = True,
) -> tree.Function:
    return tree.Function(name, parameters, result, body, HERE, inline)


def program(
    kernel: tree.Function, *functions: tree.Function, written: tuple[str, ...] = ("out",)
) -> tree.Program:
    return tree.Program(kernel, functions, frozenset(written))


def lowered(kernel: tree.Function, *functions: tree.Function, **options: Any) -> str:
    """Return the IR of a kernel that writes `out`."""
    return lower(program(kernel, *functions), CompileOptions(GFX1201, **options))


@intrinsic(LlvmCall("llvm.amdgcn.workitem.id.x"), isa="v0")
def thread() -> i32:  # type: ignore[valid-type]
    """Return the work-item's index in its workgroup."""


@intrinsic(LlvmCall("llvm.amdgcn.workgroup.id.x"), isa="ttmp9")
def group() -> i32:  # type: ignore[valid-type]
    """Return the workgroup's index."""


@intrinsic(
    Emit(
        lambda context: context.builder.zext(
            context.implicit_argument(12, 16), context.llvm_type(i32)
        )
    )
)
def group_size() -> i32:  # type: ignore[valid-type]
    """Return the workgroup's size."""


def grid() -> Any:
    """Return the work-item's index in the grid."""
    return op("+", op("*", call(group), call(group_size)), call(thread))
