"""Dataclasses whose methods are compiled when they are first called.

`dataclasses.dataclass` spends up to half a millisecond on a class, most of it on compiling methods
that many programs never call; a compilation loads more than a hundred such classes. Those made here
have the same methods and are dataclasses for `fields`, `replace`, `match`, `copy` and `pickle`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field as field
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field"]

_MISSING = dataclasses.MISSING
_FACTORY: Any = type("_Factory", (), {"__repr__": lambda self: "<factory>"})()
_LATE = {"__init__", "__eq__", "__hash__"}


@dataclasses.dataclass
class _Plain:
    field: int


@dataclasses.dataclass(frozen=True)
class _Frozen:
    field: int


# What `dataclasses` writes down about a class and its fields, for its own functions.
_PLAIN: Any = _Plain
_FROZEN: Any = _Frozen
_FIELD_KIND = _PLAIN.__dataclass_fields__["field"]._field_type


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
    fields = _fields(cls)
    methods = _methods(fields, frozen, eq, repr)
    if frozen and slots:
        methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    # A class without `__hash__` has None there if it defines `__eq__`.
    own = {name for name, value in cls.__dict__.items() if value is not None and callable(value)}
    methods = {name: method for name, method in methods.items() if name not in own}
    methods |= {
        "__match_args__": tuple(each.name for each in fields if each.init),
        "__dataclass_fields__": {each.name: each for each in fields},
        "__dataclass_params__": (_FROZEN if frozen else _PLAIN).__dataclass_params__,
    }
    if slots:
        cls = _with_slots(cls, fields, methods)
    else:
        for name, method in methods.items():
            setattr(cls, name, method)
    for name in methods.keys() & _LATE:
        if methods[name] is not None:
            methods[name].owner = cls
    return cls


def _methods(fields: list[Any], frozen: bool, eq: bool, repr: bool) -> dict[str, Any]:
    """Return the methods of a class that does not define them itself."""
    methods: dict[str, Any] = {"__init__": _late_init(fields, frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= _comparison(fields, frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
    return methods


def _fields(cls: Any) -> list[Any]:
    """Return the fields of a class, those of its bases first."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= getattr(base, "__dataclass_fields__", {})
    for name, annotation in cls.__annotations__.items():
        if "ClassVar" in str(annotation):
            continue
        default = cls.__dict__.get(name, _MISSING)
        is_field = isinstance(default, dataclasses.Field)
        own: Any = default if is_field else dataclasses.field(default=default)
        own.name, own.type, own._field_type, own.kw_only = name, annotation, _FIELD_KIND, False
        if is_field and own.default is _MISSING:
            delattr(cls, name)
        elif is_field:
            setattr(cls, name, own.default)
        found[name] = own
    return list(found.values())


def _with_slots(cls: Any, fields: list[Any], methods: dict[str, Any]) -> Any:
    """Return the class anew, with slots in the place of class attributes."""
    inherited = {slot for base in cls.__mro__[1:-1] for slot in base.__dict__.get("__slots__", ())}
    names = [each.name for each in fields]
    left_out = {*names, "__dict__", "__weakref__"}
    content = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    content |= methods
    content["__slots__"] = tuple(name for name in names if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, content)
    made.__qualname__ = cls.__qualname__
    return made


def _late(name: str, make: Callable[[Any], str], names: dict[str, Any]) -> Callable[..., Any]:
    """Return a method that compiles the class's own at its first call, and calls that.

    make: returns the method's source for the class. names: what the source uses.
    """

    def call(self: Any, *values: Any, **named: Any) -> Any:
        owner = late.owner
        if owner.__dict__[name] is late:
            type.__setattr__(owner, name, _compiled(owner, name, make(owner), names))
        return owner.__dict__[name](self, *values, **named)

    late: Any = call
    late.__name__ = name
    return call


def _compiled(owner: Any, name: str, text: str, names: dict[str, Any]) -> Callable[..., Any]:
    found: dict[str, Any] = {}
    exec(text, names, found)
    made: Any = found[name]
    made.__qualname__, made.__module__ = f"{owner.__qualname__}.{name}", owner.__module__
    if name == "__init__":
        types = {f.name: f.type for f in owner.__dataclass_fields__.values() if f.init}
        made.__annotations__ = types | {"return": None}
    return made  # type: ignore[no-any-return]


def _late_init(fields: list[Any], frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"missing": _FACTORY, "assign": object.__setattr__}
    for each in fields:
        has_factory = each.default_factory is not _MISSING
        names[f"default_{each.name}"] = each.default_factory if has_factory else each.default
    return _late("__init__", lambda owner: _init_text(owner, fields, frozen), names)


def _init_text(owner: Any, fields: list[Any], frozen: bool) -> str:
    parameters, lines = ["self"], []
    for each in fields:
        name, value = each.name, each.name
        has_factory = each.default_factory is not _MISSING
        has_default = has_factory or each.default is not _MISSING
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


def _comparison(fields: list[Any], frozen: bool) -> dict[str, Any]:
    """Return `__eq__` and `__hash__`, which look at the fields that are compared."""
    compared = [each.name for each in fields if each.compare]
    hashed = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
    equal = (
        "def __eq__(self, other):\n"
        " if other.__class__ is not self.__class__:\n  return NotImplemented\n"
        f" return self is other or ({_read('self', compared)}) == ({_read('other', compared)})"
    )
    hashing = f"def __hash__(self):\n return hash(({_read('self', hashed)}))"
    return {
        "__eq__": _late("__eq__", lambda _: equal, {}),
        "__hash__": _late("__hash__", lambda _: hashing, {}) if frozen else None,
    }


def _read(owner: str, names: list[str]) -> str:
    """Return the source of the values of attributes, each followed by a comma."""
    return "".join(f"{owner}.{name}," for name in names)


def _repr(self: Any) -> str:
    shown = [f for f in self.__dataclass_fields__.values() if f.repr]
    texts = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in shown)
    return f"{self.__class__.__qualname__}({texts})"


def _refuse_change(self: Any, name: str, value: object = None) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass
