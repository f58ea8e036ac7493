"""`help(...)` and a notebook's `?` show what a name of the kernel language means."""

from __future__ import annotations

import ast
import inspect
import pydoc
from collections.abc import Iterator
from types import ModuleType

import pytest

import amdjit
from amdjit.declarations import Coordinates, DeviceFunction, Intrinsic, Property, SpecialForm
from amdjit.intrinsics import (
    arithmetic,
    atomic,
    convert,
    lanes,
    math,
    matrix,
    memory,
    sync,
    wave,
    workitem,
)
from amdjit.types import Scalar, Vector

NAMESPACES = (
    amdjit,
    arithmetic,
    atomic,
    convert,
    lanes,
    math,
    matrix,
    memory,
    sync,
    wave,
    workitem,
)
DECLARED = (Coordinates, DeviceFunction, Intrinsic, Property, SpecialForm)


def declared(namespace: ModuleType) -> Iterator[tuple[str, object]]:
    for name, value in vars(namespace).items():
        if isinstance(value, DECLARED) and not name.startswith("_"):
            yield name, value


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda each: each.__name__)
def test_help_shows_call_meaning_and_example(namespace: ModuleType) -> None:
    for name, value in declared(namespace):
        text = pydoc.plain(pydoc.render_doc(value))
        lines = [line.strip() for line in text.splitlines()]
        assert "typed anew for each combination" not in text
        assert "exactly one lowering" not in text
        assert "Example, in a kernel:" in lines, (name, text)
        example = "\n".join(lines[lines.index("Example, in a kernel:") + 1 :])
        ast.parse(example)
        meaning = value.__doc__ or ""
        assert len(meaning.split("\n\n")) >= 3, (name, meaning)


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda each: each.__name__)
def test_signatures_are_those_of_the_declaration(namespace: ModuleType) -> None:
    for name, value in declared(namespace):
        if isinstance(value, DeviceFunction):
            assert inspect.signature(value) == inspect.signature(value.function), name
        elif isinstance(value, Intrinsic):
            parameters = inspect.signature(value).parameters
            assert tuple(parameters) == tuple(each.name for each in value.parameters), name
            for each in value.parameters:
                assert f"{each.name}: " in (value.__doc__ or "").partition("\n\n")[0]


@pytest.mark.parametrize("name", ["f32", "fp8", "boolean", "f16x8", "shared", "local"])
def test_types_and_namespaces_describe_themselves(name: str) -> None:
    value = getattr(amdjit, name)
    assert value.__doc__ != type(value).__doc__
    assert name in value.__doc__
    if isinstance(value, (Scalar, Vector)):
        assert "Example, in a kernel:" in value.__doc__
    else:
        assert "array(shape, dtype)" in value.__doc__


def test_classes_keep_their_own_text() -> None:
    for kind in (*DECLARED, Scalar, Vector):
        assert isinstance(kind.__doc__, str)
        assert "class" in pydoc.plain(pydoc.render_doc(kind))
        inspect.signature(kind)


def test_a_users_function_shows_its_own_documentation() -> None:
    @amdjit.device_function
    def squared(x: float, *, twice: bool = False) -> float:
        """Return the square."""
        return x * x

    text = squared.__doc__ or ""
    assert text.endswith("squared(x: float, *, twice: bool = False) -> float\n\nReturn the square.")
