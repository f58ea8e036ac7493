"""Random programs, run by Python on the documented meaning of operators and compiled for the emulator: equal bits."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from documented_meaning import NAMES, Items, MakeVector, of
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from programs import ITEMS, PARAMETERS, programs

import amdjit
from amdjit.types import i32

_COUNTER = itertools.count()
_KERNEL_NAMES = {name: getattr(amdjit, name, None) for name in (*NAMES, "f32x4")}
_PYTHON_NAMES = {**NAMES, "f32x4": MakeVector(amdjit.f32x4)}


def define(source: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Run source whose lines can be read back."""
    file = f"<program {next(_COUNTER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found = {name: value for name, value in names.items() if value is not None}
    exec(compile(source, file, "exec"), found)
    return found


def inputs() -> list[np.ndarray[Any, Any]]:
    """Return an array of each type, with ordinary numbers and edges."""
    random = np.random.default_rng(3)
    arrays = []
    for type in PARAMETERS:
        small = random.integers(-20 if type.is_float or type.is_signed else 0, 20, ITEMS)
        if type.is_float:
            array = (small * random.choice([0.25, 1, 3.1], ITEMS)).astype(type.dtype)
            array[:6] = [np.inf, -np.inf, np.nan, 0.0, -0.0, type.dtype.type(1e-7)]
        else:
            array = small.astype(type.dtype)
            array[:3] = np.array([type.minimum, type.maximum, type.maximum // 3], type.dtype)
        arrays.append(random.permutation(array))
    return arrays


INPUTS = inputs()


def as_python(source: str) -> list[np.ndarray[Any, Any]]:
    program = define(source, _PYTHON_NAMES)["program"]
    outputs = [np.zeros_like(array) for array in INPUTS]
    arrays = [Items(type, array) for type, array in zip(PARAMETERS * 2, [*INPUTS, *outputs], strict=True)]
    with np.errstate(all="ignore"):
        for lane in range(ITEMS):
            program(of(i32, lane), *arrays)
    return outputs


_LAUNCHER = "def run({0}):\n    i = grid(1)\n    if i < {1}:\n        program(i, {0})\n"


def as_kernel(source: str, level: int = 3) -> list[np.ndarray[Any, Any]]:
    parameters = ", ".join(f"{kind}_{type}" for kind in "ao" for type in PARAMETERS)
    names = {**_KERNEL_NAMES, "grid": amdjit.grid}
    run = define(source + _LAUNCHER.format(parameters, ITEMS), names)["run"]
    assert isinstance(run, FunctionType)
    outputs = [np.zeros_like(array) for array in INPUTS]
    with amdjit.use("emulator:gfx1201"):
        amdjit.kernel(opt_level=level)(run)[1, ITEMS](*INPUTS, *outputs)
    return outputs


def check(source: str, level: int = 3) -> None:
    note(source)
    for type, found, expected in zip(PARAMETERS, as_kernel(source, level), as_python(source), strict=True):
        bits = f"u{type.nbytes}"
        wrong = found.view(bits) != expected.view(bits)
        if type.is_float:
            wrong &= ~(np.isnan(found) & np.isnan(expected))
        lanes = np.flatnonzero(wrong)
        assert not lanes.size, f"o_{type}, lane {lanes[0]}: {found[lanes[0]]!r}, Python says {expected[lanes[0]]!r}"


_SETTINGS = settings(
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@settings(_SETTINGS, max_examples=100)
@given(programs())
def test_random_programs(source: str) -> None:
    check(source)


@pytest.mark.exhaustive
@settings(_SETTINGS, max_examples=4000, derandomize=False)
@given(programs(), st.sampled_from([0, 1, 2, 3]))
def test_thousands_of_random_programs(source: str, level: int) -> None:
    check(source, level)
