"""Values as error messages describe them."""

from __future__ import annotations

import reprlib

from amdjit.declarations import Coordinates
from amdjit.frontend.values.kinds import FunctionValue, Method, SliceValue, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.types import Void


def count(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def describe(value: Value) -> str:
    """Return the name of a value's type, or what the value is if it has no type."""
    if isinstance(value, tree.Expression):
        return "nothing" if isinstance(value.type, Void) else str(value.type)
    if isinstance(value, TupleValue):
        return _describe_tuple(value)
    if isinstance(value, Method):
        return f"the method `{value.name}`"
    if isinstance(value, FunctionValue):
        return f"the function `{getattr(value.function, 'name', 'partial')}`"
    if isinstance(value, SliceValue):
        return "a slice"
    if value.is_number or isinstance(value.value, str):
        return f"the constant {reprlib.repr(value.value)}"
    if value.value is None:
        return "None"
    if isinstance(value.value, Coordinates):
        return "three coordinates"
    name = getattr(value.value, "__name__", None) or getattr(value.value, "name", None)
    return f"`{name}`" if isinstance(name, str) else f"a {type(value.value).__name__}"


def _describe_tuple(value: TupleValue) -> str:
    fields = () if value.structure is None else value.structure.fields
    title = "" if value.structure is None else value.structure.name
    if fields == ("real", "imag"):
        return title
    if fields == ("ticks", "unit"):
        return f"{title.lower()}[{getattr(value.items[1], 'value', '?')}]"
    return f"{title}({', '.join(describe(item) for item in value.items)})"
