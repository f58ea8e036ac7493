"""Arrays whose indices count from an element that is the same in all lanes of a wave."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.late_methods import dataclass
from amdjit.tree.nodes import Expression
from amdjit.types import Array, Scalar, Type


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


def fits(node: Based, type_of: Callable[[Expression], Type]) -> bool:
    """Whether there is an integer for each axis, and the type is the array's."""
    array = type_of(node.array)
    integers = [isinstance(type_of(start), Scalar) for start in node.starts]
    return (
        isinstance(array, Array)
        and len(integers) == array.ndim
        and all(integers)
        and node.type == array
    )
