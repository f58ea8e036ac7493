"""Arrays in the memory of other arrays: with other axes, read as another type, fields and elements
of records, and with indices that count from an element. And arrays from outside the kernel, whose
content is part of the code.
"""

from __future__ import annotations

from collections.abc import Callable

from amdjit.late_methods import dataclass
from amdjit.tree.nodes import Expression
from amdjit.types import AddressSpace, Array, Layout, Record, Scalar, Type


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reshaped(Expression):
    """A contiguous array's memory as a contiguous array with other extents, or of other elements.

    extents: of the array's index_type, one for each axis of the node's type.
    """

    array: Expression
    extents: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Transposed(Expression):
    """An array's axes in another order: axis `i` is the array's axis `axes[i]`."""

    array: Expression
    axes: tuple[int, ...]


def reshape_fits(node: Reshaped, type_of: Callable[[Expression], Type]) -> bool:
    """Whether both arrays are contiguous, in the same memory, and each axis has an extent."""
    array, made = type_of(node.array), node.type
    if not isinstance(array, Array) or not isinstance(made, Array):
        return False
    contiguous = array.layout is made.layout is Layout.CONTIGUOUS
    typed = all(type_of(extent) == made.index_type for extent in node.extents)
    same_memory = (made.address_space, made.offset_bits) == (array.address_space, array.offset_bits)
    return contiguous and typed and same_memory and len(node.extents) == made.ndim


def transpose_fits(node: Transposed, type_of: Callable[[Expression], Type]) -> bool:
    """Whether the axes are the array's own, and the result makes no promise about its layout."""
    array, made = type_of(node.array), node.type
    if not isinstance(array, Array) or not isinstance(made, Array):
        return False
    shape = None if array.shape is None else tuple(array.shape[axis] for axis in node.axes)
    same_memory = (made.address_space, made.element) == (array.address_space, array.element)
    is_order = sorted(node.axes) == list(range(array.ndim)) and made.ndim == array.ndim
    return is_order and same_memory and made.layout is Layout.STRIDED and made.shape == shape


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordView(Expression):
    """The memory at `offset` bytes from an array's start, or from one of its elements if there are
    indices.

    Without indices: a field of all elements, as an array of the same shape. With indices: one
    element or one of its fields, as an array without dimensions, or with those of the field. check:
    as for a Load.
    """

    array: Expression
    indices: tuple[Expression, ...]
    offset: int
    check: int = 0


def record_fits(node: RecordView, type_of: Callable[[Expression], Type]) -> bool:
    """Whether a view lies inside the elements of its array."""
    array, view = type_of(node.array), node.type
    if (
        not isinstance(array, Array)
        or not isinstance(view, Array)
        or not isinstance(array.element, Record)
    ):
        return False
    for index in node.indices:
        type_of(index)
    whole = len(node.indices) == array.ndim or (not node.indices and view.ndim == array.ndim)
    size = view.element.nbytes * (
        view.size if view.shape is not None and array.ndim == len(node.indices) else 1
    )
    inside = 0 <= node.offset <= node.offset + size <= array.element.nbytes
    return whole and inside and view.address_space is array.address_space


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Based(Expression):
    """An array whose indices count from one of its elements; loads and stores add the part that
    differs between lanes.

    The type is the array's, extents included; only the addresses of accesses depend on the base.
    """

    array: Expression
    starts: tuple[Expression, ...]


def without_base(array: Expression) -> Expression:
    """Return the array that is accessed."""
    return array.array if isinstance(array, Based) else array


def base_fits(node: Based, type_of: Callable[[Expression], Type]) -> bool:
    """Whether there is an integer for each axis, and the type is the array's."""
    array = type_of(node.array)
    integers = [isinstance(type_of(start), Scalar) for start in node.starts]
    return (
        isinstance(array, Array)
        and len(integers) == array.ndim
        and all(integers)
        and node.type == array
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstantArray(Expression):
    """An array in the code object's constant memory. content: its elements in C order."""

    name: str
    content: bytes


def content_fits(node: ConstantArray) -> bool:
    """Whether the content is that of an array of the node's type."""
    kind = node.type
    return (
        isinstance(kind, Array)
        and kind.address_space is AddressSpace.CONSTANT
        and kind.layout is Layout.CONTIGUOUS
        and kind.shape is not None
        and kind.size * kind.element.nbytes == len(node.content)
    )
