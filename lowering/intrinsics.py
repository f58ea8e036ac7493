"""Calls of intrinsics: each has exactly one lowering, given in its declaration.

before: `ballot(p): u32`
after:  `call i32 @llvm.amdgcn.ballot.i32(i1 %p)`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from amdjit.declarations import As, Emit, InlineAsm, Intrinsic, LlvmCall, Parameter
from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.builder import Builder
from amdjit.lowering.conversions import bitcast
from amdjit.lowering.emit_context import LoweringContext
from amdjit.lowering.state import FunctionState
from amdjit.lowering.types import I1, I32, literal, llvm_type, mangled
from amdjit.types import Pointer, Scalar, Type, Vector, Void

__all__ = ["DECLARED_OUTSIDE", "Argument", "call_intrinsic"]

DECLARED_OUTSIDE = "amdjit.declared_outside"
"""The named metadata that lists the intrinsics in a module that are not amdjit's own."""

_OWN = "amdjit."

# The kernel-language type of an argument and its value; immediates have no type and are Python
# values.
Argument = tuple[Type | None, Any]


def call_intrinsic(
    state: FunctionState, intrinsic: Intrinsic, arguments: Sequence[Argument], result: Type
) -> Any:
    """Lower one call; the arguments are in the order of the intrinsic's parameters."""
    builder, lowering = state.builder, intrinsic.lowering
    # A function made by `exec` has no module.
    if not (getattr(intrinsic.reference, "__module__", None) or "").startswith(_OWN):
        _note_declared(builder, intrinsic)
    if isinstance(lowering, LlvmCall):
        named = dict(zip((p.name for p in intrinsic.parameters), arguments, strict=True))
        return _llvm_call(builder, lowering, intrinsic, named, result)
    if isinstance(lowering, InlineAsm):
        return _inline_asm(builder, lowering, intrinsic, arguments, result)
    if isinstance(lowering, Emit):
        types = tuple(type for type, _ in arguments if type is not None)
        context = LoweringContext(state, types, result)
        value = lowering.function(context, *(value for _, value in arguments))
        _check_emitted(intrinsic, value, result)
        return value
    raise InternalError(f"{intrinsic.name} has no lowering")


def _check_emitted(intrinsic: Intrinsic, value: Any, result: Type) -> None:
    """Check that an emit function returned the declared type, since nothing after it would
    notice."""
    if not isinstance(result, (Scalar, Vector, Pointer)):
        return
    wanted, found = llvm_type(result), getattr(value, "type", None)
    if found != wanted:
        made = f"a value of LLVM's {found}" if found is not None else repr(value)
        raise TypeError(
            f"{intrinsic.name}: its emit function returned {made}; it is declared as {result}, "
            f"{wanted}"
        )


def _note_declared(builder: Builder, intrinsic: Intrinsic) -> None:
    """List an intrinsic that is declared outside amdjit: the backend checks such a module before
    LLVM could abort on it."""
    module = builder.module
    noted = module.namedmetadata.get(DECLARED_OUTSIDE) or module.add_named_metadata(
        DECLARED_OUTSIDE
    )
    node = module.add_metadata([intrinsic.name])
    if node not in noted.operands:
        noted.add(node)


def _llvm_call(
    builder: Builder,
    lowering: LlvmCall,
    intrinsic: Intrinsic,
    named: dict[str, Argument],
    result: Type,
) -> Any:
    parameters = {parameter.name: parameter for parameter in intrinsic.parameters}
    operands, overloads = [], {}
    for name, (_, value) in named.items():
        if parameters[name].immediate is None:
            overloads[name] = mangled(value.type)
    for operand in lowering.operands if lowering.operands is not None else tuple(parameters):
        value = _operand(builder, operand, parameters, named)
        operands.append(value)
        if isinstance(operand, As):
            overloads[operand.name] = mangled(value.type)
    llvm_result = llvm_type(lowering.result or result)
    if not isinstance(lowering.result or result, Void):
        overloads["return"] = mangled(llvm_result)
    called = builder.invoke_name(lowering.name.format_map(overloads), llvm_result, operands)
    return called if lowering.result is None else bitcast(builder, called, llvm_type(result))


def _operand(
    builder: Builder,
    operand: str | As | bool | int,
    parameters: dict[str, Parameter],
    named: dict[str, Argument],
) -> Any:
    if isinstance(operand, bool):
        return literal(I1, operand)
    if isinstance(operand, int):
        return literal(I32, operand)
    name = operand.name if isinstance(operand, As) else operand
    wanted = llvm_type(operand.type) if isinstance(operand, As) else None
    parameter, (_, value) = parameters[name], named[name]
    if parameter.immediate is not None:
        return _immediate(parameter, value, wanted)
    return value if wanted is None else bitcast(builder, value, wanted)


def _immediate(parameter: Parameter, value: Any, wanted: Any) -> Any:
    """Return an immediate as a constant; a string means nothing to LLVM."""
    if not isinstance(value, int):
        raise InternalError(f"the immediate {parameter.name}={value!r} cannot be an operand")
    if wanted is not None:
        return literal(wanted, value)
    return literal(I1 if parameter.is_boolean_immediate or isinstance(value, bool) else I32, value)


def _inline_asm(
    builder: Builder,
    lowering: InlineAsm,
    intrinsic: Intrinsic,
    arguments: Sequence[Argument],
    result: Type,
) -> Any:
    operands = [
        _immediate(parameter, value, None) if parameter.immediate is not None else value
        for parameter, (_, value) in zip(intrinsic.parameters, arguments, strict=True)
    ]
    function_type = ir.FunctionType(llvm_type(result), [operand.type for operand in operands])
    builder.crossings += 1
    template = lowering.template.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A")
    return builder.asm(
        function_type, template, lowering.constraints, operands, lowering.side_effects
    )
