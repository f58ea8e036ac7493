"""Fields and elements of arrays of records, as arrays."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.late_methods import dataclass
from amdjit.tree.nodes import Expression
from amdjit.types import Array, Record, Type


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


def fits(node: RecordView, type_of: Callable[[Expression], Type]) -> bool:
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
