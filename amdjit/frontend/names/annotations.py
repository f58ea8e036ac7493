"""Annotations of parameters and variables."""

from __future__ import annotations

import ast
import typing

import numpy as np

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.numbers.conversion import complex_type
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.frontend.values.structures import field_types, record_class
from amdjit.language.complex_types import ComplexElement
from amdjit.types import SCALARS, Const, Tuple, Type, f32, f64

_PYTHON_TYPES = "Python's own int and float have no width"


def annotated_type(builder: FunctionBuilder, value: Value, name: str, node: ast.AST) -> Type:
    """Return the type that an evaluated annotation names."""
    if isinstance(value, CompileTime) and isinstance(value.value, ComplexElement):
        return complex_type(value.value.part)
    if isinstance(value, CompileTime) and isinstance(value.value, Type):
        return value.value
    if (
        isinstance(value, CompileTime)
        and isinstance(value.value, type)
        and issubclass(value.value, np.generic)
    ):
        return _numpys(builder, value, name, node)
    if isinstance(value, CompileTime) and typing.get_origin(value.value) is tuple:
        items = typing.get_args(value.value)
        return Tuple(
            tuple(annotated_type(builder, CompileTime(item), name, node) for item in items)
        )
    record = record_class(value)
    if record is not None and record.python is not None:
        known = field_types(record.python)
        missing = [field for field in record.fields if field not in known]
        if not missing:
            return Tuple(tuple(known[field] for field in record.fields), record)
        found = f"field `{missing[0]}` of {record.name} is not annotated with a kernel type"
        raise builder.error(codes.ANNOTATION, node, name=name, found=found)
    is_python = isinstance(value, CompileTime) and value.value in (int, float, bool)
    found = _PYTHON_TYPES if is_python else describe(value)
    raise builder.error(codes.ANNOTATION, node, name=name, found=found)


def _numpys(builder: FunctionBuilder, value: CompileTime, name: str, node: ast.AST) -> Type:
    """NumPy's scalar types name the corresponding types of amdjit."""
    if value.value in (np.complex64, np.complex128):
        return complex_type(f32 if value.value is np.complex64 else f64)
    scalar = next((scalar for scalar in SCALARS if scalar.dtype.type is value.value), None)
    if scalar is None:
        raise builder.error(codes.ANNOTATION, node, name=name, found=describe(value))
    return scalar


def is_const(value: Value) -> bool:
    """Whether an annotation is `amdjit.Const`."""
    return isinstance(value, CompileTime) and value.value is Const


def written_annotation(
    builder: FunctionBuilder, node: ast.expr | None, of_kernel: bool = False
) -> Value | None:
    """Evaluate the annotation of a parameter or result; None if there is none, or it is
    `typing.Any`, which type checkers want where the types come from the call.

    With Numba's typing, annotations other than `Const` say nothing, except those of a kernel's
    parameters (of_kernel).
    """
    if not builder.rules.has_annotations and not of_kernel:
        return _const_or_nothing(builder, node)
    value = None if node is None else annotation_value(builder, node)
    return None if isinstance(value, CompileTime) and value.value is typing.Any else value


def _const_or_nothing(builder: FunctionBuilder, node: ast.expr | None) -> Value | None:
    try:
        value = None if node is None else annotation_value(builder, node)
    except CompileError:
        return None
    return value if value is not None and is_const(value) else None


def annotation_value(builder: FunctionBuilder, node: ast.expr) -> Value:
    """Evaluate an annotation; a string is parsed as code."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            inner = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return CompileTime(node.value)
        return builder.evaluate(_relocated(inner, node))
    return builder.evaluate(node)


def _relocated(expression: ast.expr, place: ast.expr) -> ast.expr:
    for node in ast.walk(expression):
        ast.copy_location(node, place)
    return expression
