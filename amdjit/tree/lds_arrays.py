"""Static LDS arrays: which a program has, where in the workgroup's LDS they lie, and what the
program calls them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import AddressSpace, Array, Type

__all__ = ["LdsArray", "has_own_lds_arrays", "lds_arrays"]

# Wide loads and stores want it: RDNA4 ISA, "LDS Access Alignment".
_ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class LdsArray:
    """An array of the workgroup's LDS: `offset` bytes from its beginning, under the name of its
    first variable."""

    allocation: tree.AllocateArray
    type: Array
    offset: int
    name: str

    @property
    def nbytes(self) -> int:
        """The bytes that it takes, with those up to where the next one may begin."""
        return -(-self.type.size * self.type.element.nbytes // _ALIGNMENT) * _ALIGNMENT


def lds_arrays(program: tree.Program) -> tuple[LdsArray, ...]:
    """Return the static LDS arrays of all functions of a program, one behind the other."""
    found: list[LdsArray] = []
    end = 0
    for function in (*program.functions, program.kernel):
        nodes = list(walk(function.body))
        allocations = [
            node for node in nodes if isinstance(node, tree.AllocateArray) and not node.dynamic
        ]
        names = _names(nodes) if allocations else {}
        for node in allocations:
            if isinstance(node.type, Array) and _is_lds(node.type):
                found.append(LdsArray(node, node.type, end, names.get(id(node), node.name)))
                end += found[-1].nbytes
    return tuple(found)


def has_own_lds_arrays(function: tree.Function) -> bool:
    """Whether each call of a function has static LDS arrays of its own: here, or in functions that
    it calls.

    The calls of a library's function share what it has: it ends with a barrier, and keeps nothing.
    """
    if function.transparent:
        return False
    for node in walk(function.body):
        if isinstance(node, tree.AllocateArray) and not node.dynamic and _is_lds(node.type):
            return True
        if isinstance(node, tree.Call) and has_own_lds_arrays(node.function):
            return True
    return False


def _is_lds(type: Type) -> bool:
    return isinstance(type, Array) and type.address_space is AddressSpace.LDS


# What the front end calls the variables of its own that hold a value between an expression and its
# use.
_UNNAMED = ("shared", "value")


def _names(nodes: Iterable[tree.Node]) -> dict[int, str]:
    """Return the kernel's first variable for each allocation, by the allocation's identity."""
    holders: dict[tree.Variable, tree.AllocateArray] = {}
    names: dict[int, str] = {}
    for node in nodes:
        if not isinstance(node, tree.Assign):
            continue
        made = holders.get(node.value.variable) if isinstance(node.value, tree.Read) else node.value
        if isinstance(made, tree.AllocateArray):
            holders[node.variable] = made
            if node.variable.name not in _UNNAMED:
                names.setdefault(id(made), node.variable.name)
    return names
