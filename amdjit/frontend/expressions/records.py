"""Records in kernels: their construction, fields and methods."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import types

from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.names.scope import value_of_object
from amdjit.frontend.numbers.conversion import assign_to, is_complex
from amdjit.frontend.values.kinds import CompileTime, Method, TupleValue, Value
from amdjit.frontend.values.structures import field_types, structure_of
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.late_methods import dataclass
from amdjit.types import Structure, Tuple, Type


@dataclass(frozen=True, slots=True)
class Getter:
    """A property of a record: the function that computes it."""

    function: DeviceFunction


def record_attribute(
    builder: FunctionBuilder, owner: TupleValue, structure: Structure, node: ast.Attribute
) -> Value | Getter:
    """Type `record.name`: a field, a method, a property or an attribute of the class."""
    if node.attr in structure.fields:
        return owner.items[structure.fields.index(node.attr)]
    if (
        node.attr == "_replace"
        and structure.python is not None
        and issubclass(structure.python, tuple)
    ):
        return Method(owner, node.attr)
    if node.attr == "conjugate" and is_complex(owner):
        return Method(owner, node.attr)
    missing = object()
    found = (
        missing
        if structure.python is None
        else inspect.getattr_static(structure.python, node.attr, missing)
    )
    if isinstance(found, DeviceFunction):
        return Method(owner, node.attr, found)
    if isinstance(found, types.FunctionType):
        return Method(owner, node.attr, DeviceFunction(found))
    if isinstance(found, property) and found.fget is not None:
        return Getter(DeviceFunction(found.fget))
    if isinstance(found, staticmethod):
        return CompileTime(found.__func__)
    if isinstance(found, classmethod):
        return Method(CompileTime(structure.python), node.attr, as_device_function(found.__func__))
    if found is missing or isinstance(found, property):
        names = ", ".join(structure.fields)
        raise builder.error(
            codes.NO_ATTRIBUTE,
            node,
            type=describe(owner),
            attribute=node.attr,
            remedy=f"{structure.name} has the fields {names}, and its methods and properties can "
            "be used too",
        )
    builder.session.note_read(structure.python, node.attr, found)
    return value_of_object(builder, found, node.attr, node)


def as_device_function(function: object) -> DeviceFunction:
    """Return a function as a device function, whether it was declared as one or not."""
    if isinstance(function, DeviceFunction):
        return function
    assert callable(function)
    return DeviceFunction(function)


def construct(
    builder: FunctionBuilder, python: type, arguments: Arguments, node: ast.Call
) -> Value | None:
    """Make a record; None if the class is not a record class."""
    structure = structure_of(python)
    if structure is None:
        if dataclasses.is_dataclass(python):
            raise builder.error(
                codes.NOT_CALLABLE,
                node.func,
                what=f"the dataclass `{python.__name__}`",
                remedy="records are immutable in a kernel: write `@dataclass(frozen=True)`",
            )
        return None
    _check_constructor(builder, python, node)
    values = _bound(builder, python, structure, arguments, node)
    known = field_types(python)
    items: list[Value] = []
    for name in structure.fields:
        value, target = values[name], known.get(name)
        if (
            target is None
            or _is_none(value)
            or (isinstance(target, Tuple) and target not in (COMPLEX64, COMPLEX128))
        ):
            items.append(value)
        else:
            made = assign_to(builder, value, target, node)
            items.append(builder.hold(made, name, node) if isinstance(target, Tuple) else made)
    return TupleValue(tuple(builder.in_order(items, node)), structure)


def _is_none(value: Value) -> bool:
    return isinstance(value, CompileTime) and value.value is None


def _check_constructor(builder: FunctionBuilder, python: type, node: ast.Call) -> None:
    """Refuse a class with its own constructor: only generated ones are known to do nothing but fill
    the fields."""
    if issubclass(python, tuple):
        is_generated = python.__new__.__code__.co_filename.startswith("<")
        own = [] if is_generated else ["__new__"]
    else:
        own = _own_construction(python)
    if own:
        raise builder.error(
            codes.NOT_CALLABLE,
            node.func,
            what=f"`{python.__name__}`, which has {own[0]},",
            remedy="make it on the host and pass it as an argument, or let a function compute the "
            "fields",
        )


def _own_construction(python: type) -> list[str]:
    """Return the hooks of a dataclass that do more than fill its fields."""
    own = [
        name
        for name in ("__post_init__", "__new__")
        if getattr(python, name, None) is not getattr(object, name, None)
    ]
    if not python.__dataclass_params__.init or "__init__" not in vars(python):  # type: ignore[attr-defined]
        own.append("__init__")
    if any(not field.init for field in dataclasses.fields(python)):
        own.append("a field with init=False")
    return own


def _bound(
    builder: FunctionBuilder,
    python: type,
    structure: Structure,
    arguments: Arguments,
    node: ast.Call,
) -> dict[str, Value]:
    signature = inspect.signature(python)
    fields = tuple(signature.parameters.values())
    try:
        bound = signature.bind(*arguments.positional, **arguments.keywords)
    except TypeError as problem:
        raise builder.error(
            codes.ARGUMENT_COUNT,
            node,
            function=structure.name,
            expected=count(len(structure.fields), "argument"),
            given=_problem(str(problem)),
            signature=f"{structure.name}({', '.join(map(_field, fields))})",
        ) from None
    values = dict(bound.arguments)
    for name, parameter in signature.parameters.items():
        if name not in values:
            values[name] = value_of_object(builder, parameter.default, name, node)
    return values


def _problem(text: str) -> str:
    """Rephrase Python's message about arguments that do not fit like the messages of other
    calls."""
    missing = re.fullmatch(r"missing a required (?:keyword-only )?argument: '(\w+)'", text)
    if missing is not None:
        return f"`{missing[1]}` is missing"
    unknown = re.fullmatch(r"got an unexpected keyword argument '(\w+)'", text)
    if unknown is not None:
        return f"it has no parameter `{unknown[1]}`"
    return "more were given" if text.startswith("too many") else text


def _field(parameter: inspect.Parameter) -> str:
    """Return a field as it is written in source; types of the kernel language are not Python's."""
    kind = parameter.annotation
    typed = f"{parameter.name}: {kind}" if isinstance(kind, (Type, str)) else parameter.name
    return typed if parameter.default is parameter.empty else f"{typed} = {parameter.default!r}"


def replaced(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    """`dataclasses.replace(record, field=value)`, and `record._replace(field=value)` of named
    tuples."""
    record = arguments.positional[0] if len(arguments.positional) == 1 else None
    if not isinstance(record, TupleValue) or record.structure is None:
        raise builder.error(
            codes.ARGUMENT_TYPE,
            node,
            parameter="obj",
            function="replace",
            expected="a record",
            found=describe(record) if record is not None else "nothing",
            remedy="write `replace(record, field=value)`",
        )
    fields = dict(zip(record.structure.fields, record.items, strict=True))
    unknown = [name for name in arguments.keywords if name not in fields]
    if unknown:
        raise builder.error(
            codes.NO_ATTRIBUTE,
            node,
            type=describe(record),
            attribute=unknown[0],
            remedy=f"{record.structure.name} has the fields {', '.join(fields)}",
        )
    return record.with_items((fields | arguments.keywords).values())
