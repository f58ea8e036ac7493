"""A kernel's parameters: its arguments taken apart, and the numbers that the launch computes."""

from __future__ import annotations

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.names.scope import value_of_object
from amdjit.frontend.values.dependencies import OutsideArray
from amdjit.frontend.values.kinds import Binding, CompileTime, Marked, TupleValue, Undefined, Value
from amdjit.language.launch_numbers import LaunchNumber, LaunchUse, PythonNumber
from amdjit.tree import nodes as tree
from amdjit.types import Known, Tuple, Type


def kernel_parameters(
    builder: FunctionBuilder, names: list[str], arguments: tuple[Type | CompileTime, ...]
) -> tuple[tree.Variable | LaunchNumber, ...]:
    """Bind a kernel's parameters to the types or values of its arguments; return those that are
    passed at run time."""
    parameters: list[tree.Variable | LaunchNumber] = []
    for name, argument in zip(names, arguments, strict=True):
        if isinstance(argument, CompileTime):
            node = builder.source.node
            builder.names[name] = value_of_object(builder, argument.value, name, node)
            continue
        builder.names[name] = _parameter(builder, name, argument, parameters)
    return tuple(parameters)


def _parameter(
    builder: FunctionBuilder, name: str, type: Type, parameters: list[tree.Variable | LaunchNumber]
) -> Binding:
    """Make a kernel's parameter; every value of a tuple or record is a parameter of its own."""
    if isinstance(type, Known):
        return CompileTime(type.value)
    if isinstance(type, PythonNumber):
        number = LaunchNumber(name, type.kind)
        parameters.append(number)
        return builder.launch_parameters.weak(number, builder.source.name_span)
    if not isinstance(type, Tuple):
        variable = builder.variable(name, type)
        parameters.append(variable)
        return variable
    fields = (
        type.structure.fields if type.structure is not None else map(str, range(len(type.elements)))
    )
    items: list[Value] = []
    for part, element in zip(fields, type.elements, strict=True):
        item = _parameter(builder, f"{name}.{part}", element, parameters)
        assert not isinstance(item, (Undefined, Marked))
        if isinstance(item, tree.Variable):
            item = tree.Read(builder.source.name_span, element, item)
        items.append(item)
    return TupleValue(tuple(items), type.structure)


def with_launch_parameters(
    parameters: tuple[tree.Variable | LaunchNumber, ...],
    used: dict[LaunchUse | OutsideArray, tree.Variable],
) -> dict[tree.Variable, LaunchUse | OutsideArray | None]:
    """Return the parameters with those that the launch computes, each at the place of the first
    argument that it depends on, and arrays from outside at the end."""
    passed_on: dict[tree.Variable, LaunchUse | OutsideArray | None] = {}
    for parameter in parameters:
        if isinstance(parameter, tree.Variable):
            passed_on[parameter] = None
            continue
        here = {
            variable: use
            for use, variable in used.items()
            if isinstance(use, LaunchUse) and parameter.text in use.number.parameters
        }
        passed_on |= {variable: use for variable, use in here.items() if variable not in passed_on}
    passed_on |= {variable: use for use, variable in used.items() if isinstance(use, OutsideArray)}
    return passed_on
