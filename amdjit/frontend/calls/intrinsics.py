"""Calls of intrinsics: arguments are checked against the declaration and the target."""

from __future__ import annotations

import ast
import difflib
import reprlib
from pathlib import Path
from typing import Any

from amdjit.declarations import Intrinsic, LlvmCall, Parameter
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.numbers.conversion import convert, number_fits
from amdjit.frontend.numbers.operands import sample_of
from amdjit.frontend.values.kinds import CompileTime, Value, as_python
from amdjit.frontend.values.promotion import literal_fits, widens_exactly
from amdjit.tree import nodes as tree
from amdjit.types import (
    Choice,
    Immediate,
    Pointer,
    PointerPattern,
    Scalar,
    Type,
    TypeVariable,
    Vector,
)


def call_intrinsic(
    builder: FunctionBuilder, intrinsic: Intrinsic, arguments: Arguments, node: ast.expr
) -> Value:
    """Type a call of an intrinsic."""
    check_target(builder, intrinsic, node)
    _note_library(builder, intrinsic, node)
    if intrinsic.meets:
        builder.reports = max(builder.reports, 1)
        builder.session.reports.meets = True
    values = _bind(builder, intrinsic, arguments, node)
    places = [
        arguments.place(i, parameter.name, node) for i, parameter in enumerate(intrinsic.parameters)
    ]
    variables = _resolve_variables(builder, intrinsic, values, places)
    operands: list[Any] = []
    for parameter, value, place in zip(intrinsic.parameters, values, places, strict=True):
        if parameter.immediate is not None:
            operands.append(_immediate(builder, intrinsic, parameter, value, place))
        else:
            operands.append(
                _operand(
                    builder,
                    intrinsic,
                    parameter=parameter,
                    value=value,
                    variables=variables,
                    node=place,
                )
            )
    result = _substitute(intrinsic.result, variables)
    return tree.CallIntrinsic(builder.span(node), result, intrinsic, tuple(operands))


def check_target(builder: FunctionBuilder, intrinsic: Intrinsic, node: ast.AST) -> None:
    """Refuse an intrinsic that the target lacks, since LLVM would abort the process."""
    compilation = builder.compilation
    lacks = intrinsic.features - compilation.target.features
    elsewhere = intrinsic.targets is not None and compilation.target.name not in intrinsic.targets
    if lacks or elsewhere:
        needs = (
            ", ".join(sorted(feature.value for feature in lacks))
            or f"one of {', '.join(intrinsic.targets or ())}"
        )
        alternative = _alternative(intrinsic, compilation.target.name)
        remedy = f"use {alternative}" if alternative else f"it needs {needs}"
        raise builder.error(
            codes.TARGET_LACKS,
            node,
            intrinsic=intrinsic.name,
            target=compilation.target.name,
            remedy=remedy,
        )
    if compilation.wave_size not in intrinsic.wave_sizes_on(compilation.target.name):
        raise _wrong_wave_size(builder, intrinsic, node)


def _wrong_wave_size(builder: FunctionBuilder, intrinsic: Intrinsic, node: ast.AST) -> Exception:
    compilation = builder.compilation
    found = intrinsic.wave_sizes_on(compilation.target.name)
    sizes = " and ".join(map(str, found))
    there = [str(size) for size in compilation.target.wave_sizes if size in found]
    # A callable alternative depends on the processor; a string names what does the same for every
    # wave size.
    other = intrinsic.alternative if isinstance(intrinsic.alternative, str) else ""
    remedies = [f"compile with `wave_size={' or '.join(there)}`"] * bool(there) + [
        f"use {other}"
    ] * bool(other)
    return builder.error(
        codes.WAVE_SIZE,
        node,
        intrinsic=intrinsic.name,
        sizes=sizes,
        wave_size=compilation.wave_size,
        remedy=", or ".join(remedies) or f"{compilation.target.name} has no such waves",
    )


def _alternative(intrinsic: Intrinsic, target: str) -> str:
    return (
        intrinsic.alternative
        if isinstance(intrinsic.alternative, str)
        else intrinsic.alternative(target)
    )


def _note_library(builder: FunctionBuilder, intrinsic: Intrinsic, node: ast.AST) -> None:
    """Find the bitcode that defines an intrinsic's function."""
    library = intrinsic.lowering.library if isinstance(intrinsic.lowering, LlvmCall) else None
    if library is None:
        return
    if library == "OCML":
        file, remedy = builder.compilation.device_library, _DEVICE_LIBRARY
    else:
        found = Path(library)
        file, remedy = (found if found.is_file() else None), "write the full path of the file"
    if file is None:
        raise builder.error(
            codes.NO_LIBRARY, node, intrinsic=intrinsic.name, library=library, remedy=remedy
        )
    builder.session.note_library(file)


_DEVICE_LIBRARY = (
    'leave out `f64_math="ocml"`, or install ROCm, Debian\'s `rocm-device-libs` or `pip install '
    "triton`, which includes it; AMDJIT_DEVICE_LIBS can name another folder that contains `ocml.bc`"
)


def signature(intrinsic: Intrinsic) -> str:
    """Return the signature as it is written in source."""
    parameters = (f"{p.name}: {p.immediate or p.type}" for p in intrinsic.parameters)
    return f"{intrinsic.name}({', '.join(parameters)}) -> {intrinsic.result}"


def _bind(
    builder: FunctionBuilder, intrinsic: Intrinsic, arguments: Arguments, node: ast.expr
) -> tuple[Value, ...]:
    names = [parameter.name for parameter in intrinsic.parameters]
    given: dict[str, Value] = dict(zip(names, arguments.positional, strict=False))
    unknown = [name for name in arguments.keywords if name not in names or name in given]
    given |= arguments.keywords
    for parameter in intrinsic.parameters:
        if parameter.name not in given and parameter.has_default:
            given[parameter.name] = CompileTime(parameter.default)
    missing = [name for name in names if name not in given]
    if unknown or missing or len(arguments.positional) > len(names):
        given_count = len(arguments.positional) + len(arguments.keywords)
        raise builder.error(
            codes.ARGUMENT_COUNT,
            node,
            function=intrinsic.name,
            expected=count(len(names), "argument"),
            given=f"`{unknown[0]}` is unknown or given twice"
            if unknown
            else f"{given_count} were given",
            signature=signature(intrinsic),
        )
    return tuple(given[name] for name in names)


def _immediate(
    builder: FunctionBuilder,
    intrinsic: Intrinsic,
    parameter: Parameter,
    value: Value,
    node: ast.expr,
) -> Any:
    expected, value = parameter.immediate, as_python(value)
    constant = value.value if isinstance(value, CompileTime) else None
    if isinstance(expected, Choice):
        fits = isinstance(constant, str) and constant in expected.values
    else:
        assert expected is not None
        expected = expected.on(builder.compilation.target.name)
        fits = constant in expected
    if not fits:
        is_known = isinstance(value, CompileTime)
        found = (
            f"{reprlib.repr(constant)} is not"
            if is_known
            else f"{describe(value)}, known only at run time"
        )
        expected_text = "True or False" if parameter.is_boolean_immediate else str(expected)
        raise builder.error(
            codes.IMMEDIATE,
            node,
            parameter=parameter.name,
            function=intrinsic.name,
            expected=expected_text,
            found=found,
            remedy=_remedy(expected, constant) if is_known else _KNOWN_WHEN_COMPILING,
        )
    return bool(constant) if parameter.is_boolean_immediate else constant


_KNOWN_WHEN_COMPILING = (
    "write a literal, a global constant, or a parameter annotated `amdjit.Const`"
)


def _remedy(expected: Choice | Immediate, constant: object) -> str:
    if isinstance(expected, Choice) and isinstance(constant, str):
        near = difflib.get_close_matches(constant, expected.values, 1)
        if near:
            return f"did you mean {near[0]!r}?"
    return f"choose one of these instead of {reprlib.repr(constant)}"


def _operand(
    builder: FunctionBuilder,
    intrinsic: Intrinsic,
    parameter: Parameter,
    value: Value,
    variables: dict[TypeVariable, Type],
    node: ast.expr,
) -> tree.Expression:
    expected = parameter.type
    assert expected is not None
    if isinstance(expected, PointerPattern):
        if isinstance(value, tree.Expression) and _matches_pointer(value.type, expected, variables):
            return value
        raise _mismatch(
            builder, intrinsic, parameter=parameter, expected=expected, value=value, node=node
        )
    target = _substitute(expected, variables)
    if number_fits(builder, value, target):
        return convert(builder, value, target, node)
    if isinstance(value, CompileTime):
        scalar = target.element if isinstance(target, Vector) else target
        if (
            not isinstance(scalar, Scalar)
            or not value.is_number
            or not _literal_ok(value.value, scalar)
        ):
            raise _mismatch(
                builder, intrinsic, parameter=parameter, expected=target, value=value, node=node
            )
        return convert(builder, value, target, node)
    if isinstance(value, tree.Expression) and _converts(value.type, expected, target):
        return convert(builder, value, target, node)
    raise _mismatch(
        builder, intrinsic, parameter=parameter, expected=target, value=value, node=node
    )


def _converts(source: Type, expected: Type, target: Type) -> bool:
    """Whether a value converts implicitly: without loss, or an integer for a parameter that takes
    any float."""
    if source == target or widens_exactly(source, target):
        return True
    is_integer = isinstance(source, Scalar) and source.is_integer
    return (
        is_integer
        and isinstance(expected, TypeVariable)
        and isinstance(target, Scalar)
        and target.is_float
    )


def _literal_ok(value: object, scalar: Scalar) -> bool:
    return isinstance(value, (bool, int, float)) and literal_fits(value, scalar)


def _mismatch(
    builder: FunctionBuilder,
    intrinsic: Intrinsic,
    parameter: Parameter,
    expected: Type,
    value: Value,
    node: ast.expr,
) -> Exception:
    is_number = (
        isinstance(value, tree.Expression)
        and isinstance(value.type, Scalar)
        and isinstance(expected, Scalar)
    )
    conversion = f"convert it, `{expected}(...)`; " if is_number else ""
    return builder.error(
        codes.ARGUMENT_TYPE,
        node,
        parameter=parameter.name,
        function=intrinsic.name,
        expected=expected,
        found=describe(value),
        remedy=f"{conversion}its signature is {signature(intrinsic)}",
    )


def _matches_pointer(
    type: Type, pattern: PointerPattern, variables: dict[TypeVariable, Type]
) -> bool:
    if not isinstance(type, Pointer) or type.address_space not in pattern.address_spaces:
        return False
    return pattern.element is None or type.element == _substitute(pattern.element, variables)


def _substitute(type: Type, variables: dict[TypeVariable, Type]) -> Type:
    return variables.get(type, type) if isinstance(type, TypeVariable) else type


def _resolve_variables(
    builder: FunctionBuilder,
    intrinsic: Intrinsic,
    values: tuple[Value, ...],
    places: list[ast.expr],
) -> dict[TypeVariable, Type]:
    """Find the type of each type variable in this call: the element type of a pointer, or one that
    holds all arguments."""
    found: dict[TypeVariable, Type] = {}
    fixed: set[TypeVariable] = set()
    for parameter, value, place in zip(intrinsic.parameters, values, places, strict=True):
        if builder.weak.number(value) is not None:
            continue
        variable, type = _variable_and_type(parameter, value)
        if variable is None or type is None:
            continue
        joined = builder.rules.common_type(found[variable], type) if variable in found else type
        chosen = None if joined is None else _constraint(builder, variable, joined)
        if chosen is None or (variable in fixed and chosen != found[variable]):
            expected = (
                parameter.type
                if isinstance(parameter.type, PointerPattern)
                else found.get(variable, variable)
            )
            raise _mismatch(
                builder, intrinsic, parameter=parameter, expected=expected, value=value, node=place
            )
        found[variable] = chosen
        if isinstance(parameter.type, PointerPattern):
            fixed.add(variable)
    for parameter, value, place in zip(intrinsic.parameters, values, places, strict=True):
        variable = parameter.type if isinstance(parameter.type, TypeVariable) else None
        if variable is not None and variable not in found:
            chosen = _constraint_for_literal(builder, variable, sample_of(builder, value))
            if chosen is None:
                raise _mismatch(
                    builder,
                    intrinsic,
                    parameter=parameter,
                    expected=variable,
                    value=value,
                    node=place,
                )
            found[variable] = chosen
    return found


def _variable_and_type(
    parameter: Parameter, value: Value
) -> tuple[TypeVariable | None, Type | None]:
    if not isinstance(value, tree.Expression):
        return None, None
    if isinstance(parameter.type, TypeVariable):
        return parameter.type, value.type
    if not isinstance(parameter.type, PointerPattern) or not isinstance(value.type, Pointer):
        return None, None
    if isinstance(parameter.type.element, TypeVariable):
        return parameter.type.element, value.type.element
    return None, None


def _constraint(builder: FunctionBuilder, variable: TypeVariable, type: Type) -> Type | None:
    """Choose the constraint for an argument: the same type, the narrowest that holds it, or a float
    for an integer."""
    if type in variable.constraints:
        return type
    if isinstance(type, Scalar) and type.is_integer:
        float_type = builder.rules.float_for(type)
        if float_type in variable.constraints and not any(
            isinstance(c, Scalar) and c.is_integer and widens_exactly(type, c)
            for c in variable.constraints
        ):
            return float_type
    return next((c for c in variable.constraints if widens_exactly(type, c)), None)


def _constraint_for_literal(
    builder: FunctionBuilder, variable: TypeVariable, value: bool | int | float | complex | None
) -> Type | None:
    if not isinstance(value, (bool, int, float)):
        return None
    type = builder.rules.default_type(value)
    return None if type is None else _constraint(builder, variable, type)
