"""Names that only some paths assign, in functions with Numba's typing.

Only the running kernel can tell whether one has a value. Programs read such names and do not use
what they get (a lane that is beyond its data hands its sum to a reduction that leaves it out), so
the value is zero; with `division_check=True`, which is `debug=True` of Numba's, reading it is an
UnboundLocalError, as in Python.

A function that reads such names is typed again, with each of them in one variable for the whole
function; where reads are checked, beside another variable that says whether it has been assigned.
"""

from __future__ import annotations

import ast

from amdjit.abi.reports import FaultSite, KnownArgument, Raised, Text
from amdjit.diagnostics import codes
from amdjit.diagnostics.performance import CompileWarning, Finding
from amdjit.frontend.building.builder import Checkpoint, FunctionBuilder
from amdjit.frontend.numbers.conversion import convert, materialise, negated
from amdjit.frontend.values.kinds import CompileTime, PartlyAssigned, Value
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, Type, boolean

__all__ = ["assign_partly_assigned", "read_partly_assigned", "type_body"]


class _TypeAgainError(Exception):
    """A partly assigned name needs a wider type, or no variable can hold it."""


def type_body(builder: FunctionBuilder) -> None:
    """Type the statements of a function, and again as long as that finds further partly assigned
    names or wider types for them."""
    before = builder.checkpoint() if builder.allows_partly_assigned else None
    while True:
        known = builder.unassigned.keys()
        found = len(known)
        try:
            builder.run(builder.source.node.body)
        except _TypeAgainError:
            pass
        else:
            if not builder.refused or len(known) == found:
                return
        assert before is not None
        _begin_again(builder, before)


def _begin_again(builder: FunctionBuilder, before: Checkpoint) -> None:
    builder.rewind(before)
    del builder.failures[before.failures :]
    builder.refused = 0
    span = builder.source.name_span
    for name, kind in builder.unassigned.items():
        if name in builder.never_partly_assigned:
            continue
        if kind is None:
            builder.names[name] = PartlyAssigned(None, None)
            continue
        variable, assigned = builder.variable(name, kind), None
        builder.emit(tree.Assign(span, variable, _zero(builder, kind)))
        if builder.compilation.division_check:
            assigned = builder.hidden_variable("assigned", boolean)
            builder.emit(tree.Assign(span, assigned, tree.Constant(span, boolean, False)))
        builder.names[name] = PartlyAssigned(variable, assigned)


def _zero(builder: FunctionBuilder, kind: Type) -> tree.Expression:
    return convert(builder, CompileTime(0), kind, builder.source.node)


def read_partly_assigned(
    builder: FunctionBuilder, binding: PartlyAssigned, name: str, node: ast.AST
) -> Value:
    """Read a partly assigned name, with `division_check` after a check that it has been
    assigned."""
    if binding.variable is None:
        reason = "is read before it is assigned"
        raise builder.error(codes.UNDEFINED_NAME, node, name=name, reason=reason)
    span = builder.span(node)
    if binding.assigned is not None:
        missing = negated(builder, tree.Read(span, boolean, binding.assigned), node)
        assert isinstance(missing, tree.Expression)
        builder.emit(tree.If(span, missing, [_unbound(builder, name, node)], []))
    else:
        _warn(builder, name, node)
    return tree.Read(span, binding.variable.type, binding.variable)


def _warn(builder: FunctionBuilder, name: str, node: ast.AST) -> None:
    if builder.source.is_library:
        return
    found = Finding(
        "unassigned",
        builder.span(node),
        title=f"`{name}` may be read before it is assigned",
        label="is 0 then",
        help=f"assign it on every path, `{name} = 0` at first, or check with `debug=True`",
        category=CompileWarning,
    )
    builder.session.findings.setdefault((found.name, found.span.file, found.span.line), found)


def _unbound(builder: FunctionBuilder, name: str, node: ast.AST) -> tree.Fault:
    """Make the fault of a name without a value, in Python's words."""
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    span = builder.span(node)
    site = FaultSite(
        "raise",
        Text((f"{UnboundLocalError.__name__}: {message}",)),
        builder.source.text.file,
        span.line,
        raised=Raised(UnboundLocalError, (KnownArgument(message),)),
    )
    builder.reports = max(builder.reports, 1)
    return tree.Fault(span, builder.session.reports.add_fault(site), ())


def assign_partly_assigned(
    builder: FunctionBuilder, binding: PartlyAssigned, name: str, value: Value, node: ast.AST
) -> None:
    """Assign to a partly assigned name."""
    if not _is_scalar(value):
        builder.never_partly_assigned.add(name)
        raise _TypeAgainError
    given = materialise(builder, value, node).type
    if binding.variable is None:
        raise _typed_again(builder, name, given)
    span, variable = builder.span(node), binding.variable
    kind = builder.rules.common_type(variable.type, given)
    if kind != variable.type:
        raise _typed_again(builder, name, kind)
    builder.emit(tree.Assign(span, variable, convert(builder, value, variable.type, node)))
    if binding.assigned is not None:
        builder.emit(tree.Assign(span, binding.assigned, tree.Constant(span, boolean, True)))


def _is_scalar(value: Value) -> bool:
    if isinstance(value, CompileTime):
        return value.is_number and not isinstance(value.value, complex)
    return isinstance(value, tree.Expression) and isinstance(value.type, Scalar)


def _typed_again(builder: FunctionBuilder, name: str, kind: Type | None) -> _TypeAgainError:
    if isinstance(kind, Scalar):
        builder.unassigned[name] = kind
    else:
        builder.never_partly_assigned.add(name)
    return _TypeAgainError()
