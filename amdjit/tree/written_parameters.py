"""The array parameters of a kernel that its program may write to."""

from __future__ import annotations

from dataclasses import fields

from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import Array, Scalar, Vector

Roots = dict[tree.Variable, frozenset[int]]


def written_parameters(program: tree.Program) -> frozenset[str]:
    """Return the names of the kernel's array parameters that the program may write to."""
    written: dict[tree.Function, frozenset[int]] = {}
    for function in (*program.functions, program.kernel):
        written[function] = _written_by(function, written)
    parameters = program.kernel.parameters
    return frozenset(parameters[i].name for i in written[program.kernel])


def _written_by(
    function: tree.Function, callees: dict[tree.Function, frozenset[int]]
) -> frozenset[int]:
    """Follow arrays from parameters through variables until nothing new is found."""
    roots: Roots = {variable: frozenset({i}) for i, variable in enumerate(function.parameters)}
    kinds = (tree.Assign, tree.Store, tree.AddressOf, tree.Call)
    nodes = [node for node in walk(function.body) if isinstance(node, kinds)]
    # Scalars and vectors are not in memory, so they have no roots.
    assignments = [
        n
        for n in nodes
        if isinstance(n, tree.Assign) and not isinstance(n.value.type, (Scalar, Vector))
    ]
    while True:
        before = dict(roots)
        for made in assignments:
            roots[made.variable] = roots.get(made.variable, frozenset()) | _roots(made.value, roots)
        if roots == before:
            break
    written: set[int] = set()
    for node in nodes:
        if isinstance(node, (tree.Store, tree.AddressOf)):
            written |= _roots(node.array, roots)
        elif isinstance(node, tree.Call):
            for i in callees[node.function]:
                written |= _roots(node.arguments[i], roots)
    return frozenset(i for i in written if isinstance(function.parameters[i].type, Array))


def _roots(expression: tree.Expression, roots: Roots) -> frozenset[int]:
    """Return the parameters whose memory a value may refer to; a superset is sound."""
    if isinstance(expression.type, (Scalar, Vector)):
        return frozenset()
    if isinstance(expression, tree.Read):
        return roots.get(expression.variable, frozenset())
    found: frozenset[int] = frozenset()
    for field in fields(expression):
        value = getattr(expression, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, tree.Expression):
                found |= _roots(part, roots)
    return found
