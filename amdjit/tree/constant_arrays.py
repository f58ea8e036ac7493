"""Arrays from outside the kernel whose content is part of the code."""

from __future__ import annotations

from amdjit.late_methods import dataclass
from amdjit.tree.nodes import Expression
from amdjit.types import AddressSpace, Array, Layout


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstantArray(Expression):
    """An array in the code object's constant memory. content: its elements in C order."""

    name: str
    content: bytes


def fits(node: ConstantArray) -> bool:
    """Whether the content is that of an array of the node's type."""
    kind = node.type
    return (
        isinstance(kind, Array)
        and kind.address_space is AddressSpace.CONSTANT
        and kind.layout is Layout.CONTIGUOUS
        and kind.shape is not None
        and kind.size * kind.element.nbytes == len(node.content)
    )
