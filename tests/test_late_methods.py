"""Dataclasses whose methods come late behave as those of the standard library, which is asked."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from amdjit import late_methods

KINDS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "eq": False, "repr": False},
]

PARAMETERS = ("init", "repr", "eq", "frozen")


def classes(dataclass: Callable[..., Any], options: dict[str, bool]) -> tuple[Any, Any, Any]:
    """Return a class, one that inherits from it, and one without fields of its own."""

    @dataclass(**options)
    class Point:
        """A point."""

        kind: ClassVar[str] = "point"
        x: int
        y: int = 2
        names: list[str] = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=5, repr=False, compare=False)

        @property
        def sum(self) -> int:
            return self.x + self.y

    @dataclass(**options)
    class Named(Point):
        name: str = "p"
        length: int = dataclasses.field(init=False, default=0)

        def __post_init__(self) -> None:
            object.__setattr__(self, "length", len(self.name))

        def __str__(self) -> str:
            return self.name

    @dataclass(**options)
    class Other(Named):
        pass

    return Point, Named, Other


Pickled = late_methods.dataclass(frozen=True, slots=True)(
    type("Pickled", (), {"__annotations__": {"x": "int"}, "__module__": __name__})
)


def outcome(action: Callable[[], Any]) -> Any:
    """Return what an action returns, or the kind of error."""
    try:
        return action()
    except Exception as error:
        return type(error)


def actions(kinds: tuple[Any, Any, Any], options: dict[str, bool]) -> dict[str, Any]:
    """Return what happens with instances of the classes."""
    point, named, other = kinds
    one, same, more = point(1, 3, ["a"], 6), point(1, 3, ["a"], 7), named(1, 3, ["a"], 6, "long")
    found: dict[str, Any] = {
        "reprs": options.get("repr", True) and [repr(each) for each in (one, more, other(4))],
        "equal": [one == same, one == more, one == 1, one != same, more == named(1, 3, ["a"], 6)],
        "hashes": [outcome(lambda each=each: type(hash(each))) for each in (one, more)],
        "text": str(more),
        "length": [more.length, other(1, name="four").length],
        "sum": one.sum,
        "kind": more.kind,
        "lists": point(1).names is not point(1).names,
        "fields": [(f.name, f.init, f.compare, f.repr) for f in dataclasses.fields(other)],
        "replaced": dataclasses.replace(one, x=9).x,
        "as dict": dataclasses.asdict(more),
        "copied": copy.copy(more).name,
        "match": [point.__match_args__, named.__match_args__],
        "set": outcome(lambda: setattr(one, "x", 5)),
        "deleted": outcome(lambda: delattr(one, "x")),
        # The standard library's own refusal fails with a TypeError in classes with slots.
        "new": isinstance(outcome(lambda: setattr(one, "unknown", 5)), type),
        "wrong": [outcome(lambda: point()), outcome(lambda: point(1, 2, [], 3, 4))],
        "unknown": outcome(lambda: point(1, z=3)),
        "slots": [hasattr(one, "__dict__"), getattr(named, "__slots__", None)],
        "parameters": [getattr(point.__dataclass_params__, each) for each in PARAMETERS],
        "signature": list(inspect.signature(named).parameters),
    }
    if options.get("frozen") and options.get("eq", True):
        same_hash = point(1, 3, (), 6), point(1, 3, (), 7)
        found["same hash"] = len({*map(hash, same_hash)})
    return found


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_they_do_what_those_of_the_standard_library_do(options: dict[str, bool]) -> None:
    ours = actions(classes(late_methods.dataclass, options), options)
    theirs = actions(classes(dataclasses.dataclass, options), options)
    assert ours == theirs


def test_methods_are_compiled_at_their_first_call() -> None:
    point, named, _ = classes(late_methods.dataclass, {"frozen": True, "slots": True})
    late = named.__init__
    one = named(1)
    assert named.__init__ is not late
    compiled = named.__init__
    assert compiled.__annotations__["x"] == "int"
    assert named(1) == one
    assert named.__init__ is compiled
    # The base's is another, and still to be compiled.
    assert point.__init__ is not compiled
    assert point(1).x == 1
    # A thread that got the late one before calls it after it was replaced.
    again = object.__new__(named)
    late(again, 1)
    assert again == one


def test_instances_travel_to_other_processes() -> None:
    one = Pickled(7)
    assert pickle.loads(pickle.dumps(one)) == one


def test_fields_that_must_be_named_stand_behind_the_others() -> None:
    def made(dataclass: Callable[..., Any]) -> Any:
        @dataclass(frozen=True, slots=True, kw_only=True)
        class Options:
            level: int = 3
            name: str

        return Options

    for kind in (made(late_methods.dataclass), made(dataclasses.dataclass)):
        assert (kind(name="a").level, kind(name="a").name) == (3, "a")
        assert kind.__match_args__ == ()
        assert outcome(lambda kind=kind: kind(3, "a")) is TypeError


def test_fields_are_described_when_they_are_asked_for() -> None:
    point, named, other = classes(late_methods.dataclass, {"frozen": True, "slots": True})
    described = [vars(kind)["__dataclass_fields__"] for kind in (point, named, other)]
    assert not isinstance(described[2], dict)
    assert [each.name for each in dataclasses.fields(other)][:2] == ["x", "y"]
    assert isinstance(vars(other)["__dataclass_fields__"], dict)
    assert dataclasses.fields(other)[0] is dataclasses.fields(point)[0]
    assert dataclasses.is_dataclass(named)


def test_a_default_that_instances_would_share_is_refused() -> None:
    def made(dataclass: Callable[..., Any]) -> Any:
        @dataclass
        class Shared:
            names: list[str] = []  # noqa: RUF012

        return Shared

    for dataclass in (late_methods.dataclass, dataclasses.dataclass):
        with pytest.raises(ValueError, match="mutable default <class 'list'> for field names"):
            made(dataclass)


def test_a_class_and_its_base_are_both_frozen() -> None:
    point, _, _ = classes(late_methods.dataclass, {"frozen": True})
    for dataclass in (late_methods.dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError, match="frozen"):
            dataclass(type("Loose", (point,), {"__annotations__": {"z": "int"}}))


def test_methods_that_a_class_defines_stay() -> None:
    @late_methods.dataclass(frozen=True, slots=True)
    class Modulo:
        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Modulo) and self.value % 7 == other.value % 7

        def __hash__(self) -> int:
            return hash(self.value % 7)

        def __repr__(self) -> str:
            return "modulo"

    assert Modulo(1) == Modulo(8)
    assert len({Modulo(1), Modulo(8), Modulo(2)}) == 2
    assert repr(Modulo(1)) == "modulo"
