"""Arrays in the same memory with other axes: reshaped, transposed, or read as another type."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.late_methods import dataclass
from amdjit.tree.nodes import Expression
from amdjit.types import Array, Layout, Type


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
