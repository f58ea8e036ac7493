"""Arrays made in kernels: `shared.array`, `local.array`, `shared.dynamic`, and what `shape` and
`dtype` may be."""

from __future__ import annotations

import ast

import numpy as np

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, as_python, known_integer
from amdjit.frontend.values.structures import element_of_dtype
from amdjit.tree import nodes as tree
from amdjit.types import (
    AddressSpace,
    Array,
    Element,
    Layout,
    Record,
    Scalar,
    Vector,
    boolean,
    i32,
)

# The scratch memory of a lane that LLVM's AMDGPU backend can address: 18 bits of dwords, less some
# for spills.
_MOST_PRIVATE_BYTES = 128 * 1024
_MOST_ALIGNMENT = 1024
# The alignment that wide loads and stores need, so that of every array.
_LDS_ALIGNMENT = 16
# The name of allocations that Python would make once more each time they are reached.
MADE_ANEW = "new"


def local_array(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    """`local.array(shape, dtype, alignment=None)`."""
    return _declared(builder, arguments, node, AddressSpace.PRIVATE, "local")


def shared_array(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    """`shared.array(shape, dtype, alignment=None)`."""
    return _declared(builder, arguments, node, AddressSpace.LDS, "shared")


def _declared(
    builder: FunctionBuilder,
    arguments: Arguments,
    node: ast.Call,
    space: AddressSpace,
    name: str,
) -> Value:
    names = ("shape", "dtype", "alignment")
    shape, dtype, alignment = arguments.exactly(builder, node, f"{name}.array", names, optional=1)
    if space is AddressSpace.LDS and known_integer(shape) == 0:
        text = describe(dtype).strip("`")
        raise builder.error(
            codes.REFUSED,
            arguments.place(0, "shape", node),
            problem="`shared.array(0, ...)` has no elements",
            remedy=f"the LDS that a launch adds is `shared.dynamic({text})`",
        )
    extents = shape_of(builder, shape, arguments.place(0, "shape", node))
    element = element_type(builder, dtype, arguments.place(1, "dtype", node))
    bytes_ = _alignment(builder, alignment, arguments.place(2, "alignment", node))
    return allocated(builder, element, extents, node, space=space, name=name, alignment=bytes_)


def allocated(
    builder: FunctionBuilder,
    element: Element,
    extents: tuple[int, ...],
    node: ast.expr,
    *,
    space: AddressSpace = AddressSpace.PRIVATE,
    name: str = "local",
    alignment: int = 0,
) -> tree.Expression:
    """Return a new array, held in a variable."""
    type = Array(element, len(extents), Layout.CONTIGUOUS, space, extents)
    used = type.size * element.nbytes
    if space is AddressSpace.PRIVATE and used > _MOST_PRIVATE_BYTES:
        raise builder.error(codes.PRIVATE_SIZE, node, used=used, limit=_MOST_PRIVATE_BYTES)
    made = tree.AllocateArray(builder.span(node), type, name, alignment=alignment)
    held = builder.hold(made, name, node)
    assert isinstance(held, tree.Expression)
    return held


def _alignment(builder: FunctionBuilder, value: Value, place: ast.AST) -> int:
    """Return the bytes that an array's address is a multiple of; every array begins at a multiple
    of 16."""
    if value == CompileTime(None):
        return 0
    known = known_integer(value)
    if known is None or not 1 <= known <= _MOST_ALIGNMENT or known & (known - 1):
        found = describe(value).removeprefix("the constant ") if known is None else str(known)
        problem = f"the alignment of an array must be a constant power of two, not {found}"
        remedy = f"write a power of two from 1 to {_MOST_ALIGNMENT}: bytes"
        raise builder.error(codes.REFUSED, place, problem=problem, remedy=remedy)
    return known


def dynamic_array(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    """`shared.dynamic(dtype, offset=0, shape=None)`."""
    names = ("dtype", "offset", "shape")
    dtype, offset, shape = arguments.exactly(builder, node, "shared.dynamic", names, optional=2)
    element = element_type(builder, dtype, node)
    type = Array(element, 1, Layout.CONTIGUOUS, AddressSpace.LDS)
    if shape != CompileTime(None):
        extents = shape_of(builder, shape, arguments.place(2, "shape", node))
        type = Array(element, len(extents), Layout.CONTIGUOUS, AddressSpace.LDS, extents)
    start = (
        None
        if offset == CompileTime(None)
        else _lds_offset(builder, offset, arguments.place(1, "offset", node))
    )
    made = tree.AllocateArray(builder.span(node), type, "dynamic", True, start)
    return builder.hold(made, "dynamic", node)


def _lds_offset(builder: FunctionBuilder, value: Value, place: ast.AST) -> tree.Expression:
    value = as_python(value)
    if isinstance(value, CompileTime):
        known = value.value
        places = range(0, builder.compilation.target.lds_per_workgroup, _LDS_ALIGNMENT)
        if not isinstance(known, int) or isinstance(known, bool) or known not in places:
            raise builder.error(codes.LDS_OFFSET, place, found=repr(known))
    elif (
        not isinstance(value, tree.Expression)
        or not isinstance(value.type, Scalar)
        or not value.type.is_integer
    ):
        raise builder.error(codes.LDS_OFFSET, place, found=describe(value))
    return convert(builder, value, i32, place)


def element_type(builder: FunctionBuilder, value: Value, node: ast.AST) -> Element:
    """Return the type of elements that a `dtype` argument names."""
    known = value.value if isinstance(value, CompileTime) else None
    if isinstance(known, str):
        known = _named_dtype(known)
    if known is bool:
        return boolean
    if isinstance(known, type) and issubclass(known, np.generic):
        known = np.dtype(known)
    if isinstance(known, np.dtype):
        known = element_of_dtype(known)
    if isinstance(known, (Scalar, Vector, Record)):
        return known
    raise builder.error(codes.ANNOTATION, node, name="dtype", found=describe(value))


def _named_dtype(name: str) -> np.dtype[np.generic] | None:
    """Return NumPy's type of a name such as "float32"."""
    try:
        return np.dtype(name)
    except TypeError:
        return None


def shape_of(builder: FunctionBuilder, value: Value, place: ast.AST) -> tuple[int, ...]:
    """Return a shape: a positive integer that is known when compiling, or a tuple of them."""
    items = value.items if isinstance(value, TupleValue) else (value,)
    extents = [known_integer(item) or 0 for item in items]
    if not extents or min(extents) <= 0:
        raise _bad_shape(builder, value, place)
    return tuple(extents)


def _bad_shape(builder: FunctionBuilder, value: Value, place: ast.AST) -> CompileError:
    found = "()" if isinstance(value, TupleValue) and not value.items else describe(value)
    return builder.error(codes.BAD_SHAPE, place, found=found)
