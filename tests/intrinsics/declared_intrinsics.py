"""All intrinsics that amdjit declares, found where users find them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import amdjit.intrinsics
from amdjit.declarations import Coordinates, Intrinsic, Property


def declared() -> dict[str, Intrinsic]:
    """Return every declaration by module and name, each object once."""
    found: dict[int, tuple[str, Intrinsic]] = {}
    for name in _module_names():
        module = importlib.import_module(f"amdjit.intrinsics.{name}")
        for attribute, value in vars(module).items():
            for label, intrinsic in _intrinsics(f"{name}.{attribute}", value):
                found.setdefault(id(intrinsic), (label, intrinsic))
    return dict(found.values())


def _module_names() -> Iterator[str]:
    """Yield namespaces before their parts, so that a declaration has the name that users call."""
    paths, package = amdjit.intrinsics.__path__, "amdjit.intrinsics."
    yield from (info.name for info in pkgutil.iter_modules(paths))
    for info in pkgutil.walk_packages(paths, package):
        yield info.name.removeprefix(package)


def _intrinsics(label: str, value: object) -> Iterator[tuple[str, Intrinsic]]:
    if isinstance(value, Intrinsic):
        yield label, value
    elif isinstance(value, Property) and isinstance(value.getter, Intrinsic):
        yield label, value.getter
    elif isinstance(value, Coordinates):
        for axis in "xyz":
            yield from _intrinsics(f"{label}.{axis}", getattr(value, axis))
