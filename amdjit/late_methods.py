"""Dataclasses whose methods are compiled when they are first called.

`dataclasses.dataclass` takes half a millisecond for a frozen class, nearly all of it to compile six
methods. A first compilation loads two hundred such classes and makes instances of sixty: with plain
dataclasses, it and the import take a third more processor time, and from the cache two thirds more.
Here `dataclasses` sees to the fields and the slots, which takes a tenth of that, and each method is
compiled, or made of closures, when it is needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field as field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field"]

_FACTORY: Any = type("_Factory", (), {"__repr__": lambda self: "<factory>"})()


def _dataclass(
    cls: Any = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,
) -> Any:
    """Return a dataclass. Options and fields mean what they mean for `dataclasses.dataclass`."""
    if cls is None:
        return lambda cls: _dataclass(cls, frozen=frozen, slots=slots, eq=eq, repr=repr)
    # A class without `__hash__` has None there if it defines `__eq__`.
    own = {name for name, value in cls.__dict__.items() if value is not None and callable(value)}
    # `dataclasses` has to know this only where a class inherits from a frozen one: for each class
    # that it freezes it compiles two methods.
    inherits = any(map(dataclasses.is_dataclass, cls.__bases__))
    make = dataclasses.dataclass(
        init=False, repr=False, eq=False, slots=slots, frozen=frozen and inherits
    )
    cls = make(cls)
    cls.__dataclass_params__.frozen = frozen
    methods: dict[str, Any] = {"__init__": _late_init(cls, frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= _comparison(cls, frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
    if frozen and slots:
        methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    for name in methods.keys() - own:
        setattr(cls, name, methods[name])
    return cls


def _late_init(owner: Any, frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that compiles the class's own at its first call, and calls that."""

    def late(self: Any, *values: Any, **named: Any) -> None:
        if owner.__dict__["__init__"] is late:
            type.__setattr__(owner, "__init__", _compiled_init(owner, frozen))
        owner.__dict__["__init__"](self, *values, **named)

    late.__name__ = "__init__"
    return late


def _compiled_init(owner: Any, frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"missing": _FACTORY, "assign": object.__setattr__}
    found: dict[str, Any] = {}
    fields = dataclasses.fields(owner)
    for each in fields:
        has_factory = each.default_factory is not dataclasses.MISSING
        names[f"default_{each.name}"] = each.default_factory if has_factory else each.default
    exec(_init_text(owner, fields, frozen), names, found)
    made: Any = found["__init__"]
    made.__qualname__, made.__module__ = f"{owner.__qualname__}.__init__", owner.__module__
    made.__annotations__ = {f.name: f.type for f in fields if f.init} | {"return": None}
    return made  # type: ignore[no-any-return]


def _init_text(owner: Any, fields: tuple[dataclasses.Field[Any], ...], frozen: bool) -> str:
    parameters, lines = ["self"], []
    for each in fields:
        name, value = each.name, each.name
        has_factory = each.default_factory is not dataclasses.MISSING
        has_default = has_factory or each.default is not dataclasses.MISSING
        if each.init:
            default = "missing" if has_factory else f"default_{name}"
            parameters.append(f"{name}={default}" if has_default else name)
            if has_factory:
                value = f"default_{name}() if {name} is missing else {name}"
        elif has_default:
            value = f"default_{name}()" if has_factory else f"default_{name}"
        else:
            continue  # `__post_init__` sets it
        lines.append(f" assign(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append(" self.__post_init__()")
    return "\n".join((f"def __init__({', '.join(parameters)}):", *lines, " return None"))


def _comparison(owner: Any, frozen: bool) -> dict[str, Any]:
    """Return `__eq__` and `__hash__`, which look at the fields that are compared."""
    fields = dataclasses.fields(owner)
    compared = _reader([each.name for each in fields if each.compare])
    hashed = _reader([f.name for f in fields if (f.compare if f.hash is None else f.hash)])

    def equal(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self is other or compared(self) == compared(other)

    return {"__eq__": equal, "__hash__": (lambda self: hash(hashed(self))) if frozen else None}


def _reader(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda owner: tuple(getattr(owner, name) for name in names)


def _repr(self: Any) -> str:
    shown = [each for each in dataclasses.fields(self) if each.repr]
    texts = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in shown)
    return f"{self.__class__.__qualname__}({texts})"


def _refuse_change(self: Any, name: str, value: object = None) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass
