"""Dataclasses whose methods are compiled when they are first called.

`dataclasses.dataclass` takes half a millisecond for a frozen class, nearly all of it to compile six
methods. A first compilation loads two hundred such classes and makes instances of sixty: with plain
dataclasses, it and the import take a third more processor time, and from the cache two thirds more.
Here `dataclasses` sees to the fields and the slots, which takes a tenth of that, and each method is
compiled when it is needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field as field
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
    params = cls.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = True, repr, eq, frozen
    methods: dict[str, Any] = {"__init__": _late(cls, "__init__", _init_text)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _late(cls, "__eq__", _equality_text)
        methods["__hash__"] = _late(cls, "__hash__", _hash_text) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
    if frozen and slots:
        methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    for name in methods.keys() - own:
        setattr(cls, name, methods[name])
    return cls


def _late(owner: Any, name: str, make: Callable[[Any], str]) -> Callable[..., Any]:
    """Return a method that compiles the class's own at its first call, and calls that.

    make: returns the method's source for the class.
    """

    def late(self: Any, *values: Any, **named: Any) -> Any:
        if owner.__dict__[name] is late:
            type.__setattr__(owner, name, _compiled(owner, name, make(owner)))
        return owner.__dict__[name](self, *values, **named)

    late.__name__ = name
    return late


def _compiled(owner: Any, name: str, text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"missing": _FACTORY, "assign": object.__setattr__}
    found: dict[str, Any] = {}
    fields = dataclasses.fields(owner)
    for each in fields:
        has_factory = each.default_factory is not dataclasses.MISSING
        names[f"default_{each.name}"] = each.default_factory if has_factory else each.default
    exec(text, names, found)
    made: Any = found[name]
    made.__qualname__, made.__module__ = f"{owner.__qualname__}.{name}", owner.__module__
    if name == "__init__":
        made.__annotations__ = {f.name: f.type for f in fields if f.init} | {"return": None}
    return made  # type: ignore[no-any-return]


def _init_text(owner: Any) -> str:
    parameters, lines = ["self"], []
    frozen = owner.__dataclass_params__.frozen
    for each in dataclasses.fields(owner):
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


def _equality_text(owner: Any) -> str:
    compared = [each.name for each in dataclasses.fields(owner) if each.compare]
    return (
        "def __eq__(self, other):\n"
        " if other.__class__ is not self.__class__:\n  return NotImplemented\n"
        f" return self is other or ({_read('self', compared)}) == ({_read('other', compared)})"
    )


def _hash_text(owner: Any) -> str:
    fields = dataclasses.fields(owner)
    hashed = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
    return f"def __hash__(self):\n return hash(({_read('self', hashed)}))"


def _read(instance: str, names: list[str]) -> str:
    """Return the source of the values of attributes, each followed by a comma."""
    return "".join(f"{instance}.{name}," for name in names)


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
