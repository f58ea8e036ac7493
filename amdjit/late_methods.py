"""Dataclasses whose fields are described, and whose methods are compiled, when they are first used.

`dataclasses.dataclass` takes half a millisecond for a frozen class, nearly all of it to compile six
methods, and a tenth of a millisecond for the fields. A first launch loads two hundred such classes
and makes instances of sixty. Here a class costs what making its slots costs; each method is
compiled when it is needed, and `dataclasses.fields` and its like find the fields of the standard
library.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import field as field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field"]

_FACTORY: Any = type("_Factory", (), {"__repr__": lambda self: "<factory>"})()
_FIELDS, _PARAMS = "__dataclass_fields__", "__dataclass_params__"
_IS_NO_FIELD = ("ClassVar[", "typing.ClassVar[")


class _LateFields:
    """Stands in the place of a class's fields until somebody reads them."""

    def __init__(self, own: dict[str, Any], kw_only: bool) -> None:
        self._own, self._kw_only = own, kw_only
        self.owner: Any = None

    def __get__(self, instance: object, asking: object) -> dict[str, Any]:
        owner = self.owner
        found: dict[str, Any] = {}
        for base in _dataclass_bases(owner):
            found |= getattr(base, _FIELDS)
        for name, kind in owner.__annotations__.items():
            if name in self._own:
                found[name] = self._described(name, kind)
        type.__setattr__(owner, _FIELDS, found)
        return found

    def _described(self, name: str, kind: object) -> Any:
        """Return the standard library's description of a field."""
        given = self._own[name]
        made: Any = given
        if not isinstance(given, dataclasses.Field):
            made = field() if given is dataclasses.MISSING else field(default=given)
        made.name, made.type, made._field_type = name, kind, dataclasses._FIELD  # type: ignore[attr-defined]
        if made.kw_only is dataclasses.MISSING:
            made.kw_only = self._kw_only
        return made


def _dataclass(
    cls: Any = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,
    kw_only: bool = False,
) -> Any:
    """Return a dataclass. Options and fields mean what they mean for `dataclasses.dataclass`;
    annotations must be text, as with `from __future__ import annotations`."""
    if cls is None:
        given = {"frozen": frozen, "slots": slots, "eq": eq, "repr": repr, "kw_only": kw_only}
        return lambda cls: _dataclass(cls, **given)
    # A class without `__hash__` has None there if it defines `__eq__`.
    own = {name for name, value in cls.__dict__.items() if value is not None and callable(value)}
    if any(getattr(base, _PARAMS).frozen != frozen for base in _dataclass_bases(cls)):
        raise TypeError(f"{cls.__name__} and its base are not both frozen")
    fields = _LateFields(dict(_take_fields(cls)), kw_only)
    setattr(cls, _FIELDS, fields)
    options = {"init": True, "repr": repr, "eq": eq, "order": False, "frozen": frozen}
    setattr(cls, _PARAMS, SimpleNamespace(**options, unsafe_hash=False))
    names = [name for base in _dataclass_bases(cls) for name in getattr(base, _FIELDS)]
    names = list(dict.fromkeys((*names, *fields._own)))
    cls = fields.owner = _with_slots(cls, names) if slots else cls
    methods: dict[str, Any] = {"__init__": _late(cls, "__init__", _init_text)}
    if "__match_args__" not in cls.__dict__:
        setattr(cls, "__match_args__", _LateMatch(cls))  # noqa: B010 (type checkers refuse it)
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
    return abc.update_abstractmethods(cls)


class _LateMatch:
    """Stands in the place of the names of a class's fields in patterns until a pattern asks."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __get__(self, instance: object, asking: object) -> tuple[str, ...]:
        fields = dataclasses.fields(self._owner)
        found = tuple(each.name for each in fields if each.init and not each.kw_only)
        type.__setattr__(self._owner, "__match_args__", found)
        return found


def _dataclass_bases(cls: Any) -> list[Any]:
    """Return the dataclasses that a class inherits from, the most general first."""
    return [base for base in cls.__mro__[:0:-1] if _PARAMS in base.__dict__]


def _take_fields(cls: Any) -> Iterator[tuple[str, Any]]:
    """Yield a class's own fields with their defaults or descriptions, MISSING for none. The class
    keeps the defaults alone."""
    for name, kind in cls.__annotations__.items():
        if kind.startswith(_IS_NO_FIELD) or kind == "ClassVar":
            continue
        given = cls.__dict__.get(name, dataclasses.MISSING)
        default = given.default if isinstance(given, dataclasses.Field) else given
        if default.__class__.__hash__ is None:
            raise ValueError(
                f"mutable default {type(default)} for field {name}: a factory makes it"
            )
        if default is not given:
            if default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default)
        yield name, given


def _with_slots(cls: Any, names: list[str]) -> Any:
    """Return the class made again, with slots for these fields."""
    bases = [base.__dict__.get("__slots__", ()) for base in cls.__mro__[1:-1]]
    known = {*itertools.chain.from_iterable([b] if isinstance(b, str) else b for b in bases)}
    dropped = {*names, "__dict__", "__weakref__"}
    content = {name: value for name, value in cls.__dict__.items() if name not in dropped}
    content["__slots__"] = tuple(name for name in names if name not in known)
    made = type(cls)(cls.__name__, cls.__bases__, content)
    made.__qualname__ = cls.__qualname__
    return made


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
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}  # by whether named only
    lines = []
    frozen = owner.__dataclass_params__.frozen
    for each in dataclasses.fields(owner):
        name, value = each.name, each.name
        has_factory = each.default_factory is not dataclasses.MISSING
        has_default = has_factory or each.default is not dataclasses.MISSING
        if each.init:
            default = "missing" if has_factory else f"default_{name}"
            parameters[bool(each.kw_only)].append(f"{name}={default}" if has_default else name)
            if has_factory:
                value = f"default_{name}() if {name} is missing else {name}"
        elif has_default:
            value = f"default_{name}()" if has_factory else f"default_{name}"
        else:
            continue  # `__post_init__` sets it
        lines.append(f" assign(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append(" self.__post_init__()")
    positional, named = parameters[False], parameters[True]
    head = ", ".join([*positional, "*", *named] if named else positional)
    return "\n".join((f"def __init__({head}):", *lines, " return None"))


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
