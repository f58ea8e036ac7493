"""The static LDS arrays of a program: their offsets in the workgroup's LDS, and their names in the
source."""

from __future__ import annotations

from collections.abc import Iterable

from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import AddressSpace, Array, Type

__all__ = ["LdsArray", "has_own_lds_arrays", "lds_arrays"]

# The alignment that wide loads and stores want: RDNA4 ISA, "LDS Access Alignment".
_ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class LdsArray:
    """An array at `offset` bytes from the start of the workgroup's LDS, with the name of its first
    variable."""

    allocation: tree.AllocateArray
    type: Array
    offset: int
    name: str

    @property
    def nbytes(self) -> int:
        """The bytes that it takes, including the padding before the next array."""
        return -(-self.type.size * self.type.element.nbytes // _ALIGNMENT) * _ALIGNMENT


def lds_arrays(program: tree.Program) -> tuple[LdsArray, ...]:
    """Return the static LDS arrays of all functions of a program, one after the other."""
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
                alignment = max(node.alignment, _ALIGNMENT)
                start = -(-end // alignment) * alignment
                found.append(LdsArray(node, node.type, start, names.get(id(node), node.name)))
                end = start + found[-1].nbytes
    return tuple(found)


def has_own_lds_arrays(function: tree.Function) -> bool:
    """Whether each call of a function has its own static LDS arrays, in it or in functions that it
    calls.

    Calls of a library function share its arrays: it ends with a barrier and keeps nothing in them,
    unless it returns one.
    """
    pending, seen = [function], {function}
    while pending:
        caller = pending.pop()
        if caller.transparent and not _is_lds(caller.result):
            continue
        for node in walk(caller.body):
            if isinstance(node, tree.AllocateArray) and not node.dynamic and _is_lds(node.type):
                return True
            if isinstance(node, tree.Call) and node.function not in seen:
                seen.add(node.function)
                pending.append(node.function)
    return False


def _is_lds(type: Type) -> bool:
    return isinstance(type, Array) and type.address_space is AddressSpace.LDS


# Names of the front end's own variables, which hold a value between an expression and its use.
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
