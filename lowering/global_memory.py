"""What a barrier of the workgroup has to order of the accesses to global memory.

After `syncthreads()`, all work-items see what any of them wrote before. If they read none of the
global arrays that they write, there is nothing to see in global memory: the barrier needs no
`global_inv`, and loads may stay in flight across it. Stores of two waves to one element must still
be in the order of the barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

from amdjit.declarations import InlineAsm
from amdjit.options import CompileOptions
from amdjit.target import Feature
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import AddressSpace, Array, Void

__all__ = ["Ordered", "ordered_at_barriers"]


class Ordered(Enum):
    """Which accesses to global memory are ordered by a barrier of the workgroup."""

    ALL = auto()
    STORES = auto()
    NONE = auto()


def ordered_at_barriers(
    program: tree.Program, options: CompileOptions, promises: Mapping[str, Array]
) -> Ordered:
    """Return what the barriers of a program must order."""
    if program.read is None or program.written & program.read or _has_assembly(program):
        return Ordered.ALL
    for parameter in program.kernel.parameters:
        promised = promises.get(parameter.name, parameter.type)
        is_distinct = isinstance(promised, Array) and promised.distinct
        if parameter.name in program.written and not is_distinct:
            return Ordered.ALL  # another name of it may be read
    if not _may_store_first(program):
        return Ordered.NONE
    # Without a counter of their own, stores are awaited with the rest.
    return Ordered.STORES if Feature.SPLIT_BARRIER in options.target.features else Ordered.ALL


def _has_assembly(program: tree.Program) -> bool:
    return any(
        isinstance(node, tree.CallIntrinsic) and isinstance(node.intrinsic.lowering, InlineAsm)
        for function in (*program.functions, program.kernel)
        for node in walk(function.body)
    )


def _may_store_first(program: tree.Program) -> bool:
    """Return whether a store to global memory may come before a fence."""
    effects: dict[tree.Function, _Effects] = {}
    for function in (*program.functions, program.kernel):
        effects[function] = _in_order(_of_statements(function.body, effects))
    return effects[program.kernel].is_store_first


class _Effects(NamedTuple):
    """What a part of a program contains. is_store_first: a store and, maybe later, a fence."""

    stores: bool = False
    fences: bool = False
    is_store_first: bool = False


_Functions = Mapping[tree.Function, _Effects]


def _in_order(parts: Iterable[_Effects]) -> _Effects:
    """Return the effects of parts, one after the other."""
    stores = fences = is_store_first = False
    for part in parts:
        is_store_first |= part.is_store_first or (stores and part.fences)
        stores |= part.stores
        fences |= part.fences
    return _Effects(stores, fences, is_store_first)


def _in_any_order(parts: Iterable[_Effects]) -> _Effects:
    found = _in_order(parts)
    return found._replace(is_store_first=found.stores and found.fences)


def _of_statements(
    statements: Iterable[tree.Statement], functions: _Functions
) -> Iterator[_Effects]:
    for statement in statements:
        if isinstance(statement, tree.If):
            yield _of_expressions(statement.condition, functions)
            yield from _of_statements(statement.then, functions)
            yield from _of_statements(statement.otherwise, functions)
        elif isinstance(statement, (tree.While, tree.ForRange)):
            # What a loop does, it does again.
            yield _in_any_order(_of_parts(statement, functions))
        else:
            yield _of_expressions(statement, functions)


def _of_expressions(node: tree.Node, functions: _Functions) -> _Effects:
    parts = list(_of_parts(node, functions))
    return parts[0] if len(parts) == 1 else _in_any_order(parts)


def _of_parts(node: tree.Node, functions: _Functions) -> Iterator[_Effects]:
    """Yield the effects in a node that has any."""
    for part in walk(node):
        if isinstance(part, (tree.Store, tree.AddressOf)):
            array = part.array.type
            if isinstance(array, Array) and array.address_space is AddressSpace.GLOBAL:
                yield _Effects(stores=True)
        elif isinstance(part, tree.CallIntrinsic) and _is_fence(part):
            yield _Effects(fences=True)
        elif isinstance(part, tree.Call) and functions[part.function] != _Effects():
            yield functions[part.function]


def _is_fence(node: tree.CallIntrinsic) -> bool:
    """Whether a call may be one of the fences of which a barrier consists: it returns nothing and
    takes nothing but immediates."""
    operands = any(isinstance(argument, tree.Node) for argument in node.arguments)
    return isinstance(node.type, Void) and not operands
