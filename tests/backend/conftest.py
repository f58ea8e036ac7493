"""IR to compile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from amdjit.backend import Linker, OwnLinker, find_linker
from amdjit.options import CompileOptions, Environment, named_target
from amdjit.target import Target


@pytest.fixture(scope="session")
def ir() -> Callable[[str], str]:
    """Return a function that reads one file of `ir/`."""
    folder = Path(__file__).parent / "ir"
    return lambda name: (folder / f"{name}.ll").read_text()


@pytest.fixture(scope="session")
def target() -> Target:
    return named_target("gfx1201")


@pytest.fixture(scope="session")
def options(target: Target) -> CompileOptions:
    return CompileOptions(target)


@pytest.fixture(scope="session")
def linker() -> OwnLinker:
    """Return amdjit's own linker, as kernels are linked."""
    return OwnLinker()


@pytest.fixture(scope="session")
def lld() -> Linker:
    """Return the lld of the ziglang package."""
    found = find_linker(Environment(), "zig")
    assert isinstance(found, Linker)
    return found
