"""Compiling pauses Python's garbage collector, and leaves it as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import amdjit
from amdjit import CompileError, f32
from amdjit.garbage import collector_paused


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


@amdjit.kernel
def copy(x, out):
    out[0] = x[0]


@amdjit.kernel
def wrong(x):
    x[0] = unknown  # noqa: F821


def test_it_pauses_inside_only() -> None:
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_behind_an_error() -> None:
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with collector_paused():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_compiling_leaves_it_on_also_where_the_kernel_is_refused() -> None:
    copy.compile(f32[:], f32[:], target="gfx1201")
    assert gc.isenabled()
    with pytest.raises(CompileError):
        wrong.compile(f32[:], target="gfx1201")
    assert gc.isenabled()


def test_nothing_is_collected_while_a_kernel_is_typed_and_lowered() -> None:
    rounds: list[str] = []
    seen = gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(note := lambda phase, info: rounds.append(phase))
    try:
        with collector_paused():
            kept = [[number] for number in range(1000)]
            assert not rounds
        assert len([[item] for item in kept]) == 1000
        assert rounds
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*seen)
