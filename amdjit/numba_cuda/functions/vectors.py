"""CUDA's short vectors as Numba has them: `float32x4(x, y, z, w)`, also `float4`.

They are named tuples of numbers: `v.x` reads a component, and a vector is made from numbers and
shorter vectors with the right number of components in total. amdjit's own `f32x4` also has
operators and wide loads and stores.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from amdjit.declarations import DeviceFunction, device_function
from amdjit.numba_cuda import types

__all__ = ["VectorType", "vector_types"]

_AXES = "xyzw"
_ALIASES = {
    "int8": ("char",),
    "int16": ("short",),
    "int32": ("int",),
    "int64": ("long", "longlong"),
    "uint8": ("uchar",),
    "uint16": ("ushort",),
    "uint32": ("uint",),
    "uint64": ("ulong", "ulonglong"),
    "float32": ("float",),
    "float64": ("double",),
}


@dataclass(frozen=True)
class VectorType:
    """A vector type."""

    name: str
    base_type: Any
    num_elements: int
    aliases: tuple[str, ...]
    user_facing_object: DeviceFunction
    """The function that makes vectors in a kernel."""


@device_function
def _components(value):
    return tuple(value) if isinstance(value, tuple) else (value,)


@dataclass(frozen=True, slots=True, repr=False)
class VectorMaker(DeviceFunction):
    """The function that makes vectors of a type in a kernel."""

    aliases: tuple[str, ...] = ()
    """The other names of the type."""


def _maker(record: Any, number: Any, count: int, aliases: tuple[str, ...]) -> DeviceFunction:
    def make(a, b=None, c=None, d=None):
        parts = (
            *_components(a),
            *(() if b is None else _components(b)),
            *(() if c is None else _components(c)),
            *(() if d is None else _components(d)),
        )
        assert len(parts) == count, "as many components as the type has"
        return record(*tuple(number(part) for part in parts))

    make.__name__ = make.__qualname__ = record.__name__
    made = device_function(make)
    return VectorMaker(made.function, made.inline, made.signatures, aliases)


def _types() -> Mapping[str, VectorType]:
    found = {}
    for base, names in _ALIASES.items():
        number = getattr(types, base)
        for count in range(1, 5):
            name = f"{base}x{count}"
            record = namedtuple(name, tuple(_AXES[:count]))  # type: ignore[misc]
            aliases = tuple(f"{alias}{count}" for alias in names)
            made = _maker(record, number, count, aliases)
            found[name] = VectorType(name, number, count, aliases, made)
    return MappingProxyType(found)


vector_types = _types()
"""All vector types, by name."""


def constructor(name: str) -> DeviceFunction | None:
    """Return the function that makes vectors of this name or alias; None if there is none."""
    for each in vector_types.values():
        if name == each.name or name in each.aliases:
            return each.user_facing_object
    return None
