"""Code objects to read: made from the IR in `tests/backend/ir`, once a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from amdjit.backend import emit_object, find_linker, link, optimise
from amdjit.options import CompileOptions, Environment, named_target

IR = Path(__file__).parents[1] / "backend" / "ir"


@cache
def _build(name: str, wave_size: int, dwarf: int) -> bytes:
    target = named_target("gfx1201")
    options = CompileOptions(target, wave_size=wave_size)
    text = (
        (IR / f"{name}.ll")
        .read_text()
        .replace('!"Dwarf Version", i32 5', f'!"Dwarf Version", i32 {dwarf}')
    )
    return link(
        emit_object(optimise(text, target, options), target, options), find_linker(Environment())
    )


@pytest.fixture(scope="session")
def build() -> Callable[..., bytes]:
    """Return a function that makes the linked code object of one IR file."""

    def build(name: str, wave_size: int = 32, dwarf: int = 5) -> bytes:
        return _build(name, wave_size, dwarf)

    return build
