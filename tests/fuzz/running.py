"""Run programs by Python on the documented meaning, and compiled on the emulator, many in one
kernel."""

from __future__ import annotations

import dataclasses
import itertools
import linecache
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

import amdjit
from amdjit.types import i32
from tests.fuzz.documented_composites import NAMES, Array
from tests.fuzz.documented_meaning import of
from tests.fuzz.fuzzed_device import emulator, has_wide_waves
from tests.fuzz.program_types import (
    CONSTANTS,
    ITEMS,
    PARAMETERS,
    PYTHON_NUMBERS,
    SLOTS,
    UNIFORM,
    VECTORS,
)
from tests.fuzz.programs import program

LANES = 8
"""Lanes that run each program: they take different ways through it."""

_COUNTER = itertools.count()
KERNEL_NAMES = {
    **{name: getattr(amdjit, name) for name in NAMES if hasattr(amdjit, name)},
    **{str(type): type for type in VECTORS},
    "complex64": np.complex64,
    "complex128": np.complex128,
    "replace": dataclasses.replace,
    "record": dataclasses.dataclass(frozen=True),
    **CONSTANTS,
}


def define(source: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Run source whose lines can be read back."""
    file = f"<program {next(_COUNTER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found = {"__name__": __name__, **names}
    exec(compile(source, file, "exec", dont_inherit=True), found)
    return found


def inputs() -> list[np.ndarray[Any, Any]]:
    """Return an array of each type, with ordinary numbers and edges among the first lanes."""
    random = np.random.default_rng(3)
    arrays = []
    for type in PARAMETERS:
        small = random.integers(-20 if type.is_float or type.is_signed else 0, 20, ITEMS)
        if type.is_float:
            array = (small * random.choice([0.25, 1, 3.1], ITEMS)).astype(type.dtype)
            array[:8] = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 0.0, -0.0, 1e-7]).astype(
                type.dtype
            )
        else:
            array = small.astype(type.dtype)
            array[:3] = np.array([type.minimum, type.maximum, type.maximum // 3], type.dtype)
        arrays.append(random.permutation(array))
    return arrays


INPUTS = inputs()
TABLES = {
    f"T_{type}": np.roll(array[::-1], 5) for type, array in zip(PARAMETERS, INPUTS, strict=True)
}


def first_lane(number: int) -> int:
    """Return where the lanes of a program lie among the inputs."""
    return number * LANES % ITEMS


def as_python(source: str, number: int = 0) -> list[np.ndarray[Any, Any]]:
    """Return what a program writes if Python runs it. number: its place in the kernel."""
    # Vectors are values in a kernel: an element is assigned in a new one.
    source = re.sub(
        r"^( *)(x\d+)\[(.*)\] = (.*)$", r"\1\2 = put(\2, \3, \4)", source, flags=re.MULTILINE
    )
    tables = {
        name: Array(type, table)
        for type, (name, table) in zip(PARAMETERS, TABLES.items(), strict=True)
    }
    run = define(source, {**NAMES, **tables})["program"]
    outputs = [np.zeros(ITEMS * SLOTS, type.dtype) for type in PARAMETERS]
    arrays = [
        Array(type, array) for type, array in zip(PARAMETERS * 2, [*INPUTS, *outputs], strict=True)
    ]
    with np.errstate(all="ignore"):
        for lane in range(LANES):
            run(
                of(i32, first_lane(number) + lane),
                of(i32, UNIFORM),
                *arrays,
                *PYTHON_NUMBERS.values(),
            )
    return outputs


@dataclass(frozen=True)
class Build:
    """How a kernel of programs is compiled. guarded: only some lanes of a larger workgroup run the
    programs."""

    level: int = 3
    bounds_check: bool = False
    wave_size: int = 32
    guarded: bool = True


def launcher(count: int, guarded: bool) -> str:
    """Write the kernel that calls programs one after the other, each with a row of the results."""
    inputs = ", ".join(f"a_{type}" for type in PARAMETERS)
    outputs = ", ".join(f"o_{type}" for type in PARAMETERS)
    numbers = ", ".join(PYTHON_NUMBERS)
    lines = [
        f"def run(u, {inputs}, {outputs}, {numbers}):",
        "    i = grid(1)",
        f"    if {f'i < {LANES}' if guarded else True}:",
    ]
    for k in range(count):
        rows = ", ".join(f"o_{type}[{k}]" for type in PARAMETERS)
        lines.append(f"        program_{k}(i + {first_lane(k)}, u, {inputs}, {rows}, {numbers})")
    return "\n".join(lines) + "\n"


def as_kernel(sources: Sequence[str], build: Build) -> list[np.ndarray[Any, Any]]:
    """Return what programs write on the emulator, a row for each."""
    found = {
        f"program_{k}": define(source, {**KERNEL_NAMES, **TABLES})["program"]
        for k, source in enumerate(sources)
    }
    run = define(launcher(len(sources), build.guarded), {"grid": amdjit.grid, **found})["run"]
    assert isinstance(run, FunctionType)
    outputs = [np.zeros((len(sources), ITEMS * SLOTS), type.dtype) for type in PARAMETERS]
    size = 64 if has_wide_waves() else build.wave_size
    options = {
        "opt_level": build.level,
        "bounds_check": build.bounds_check,
        "wave_size": size,
    }
    lanes = size if build.guarded else LANES
    with emulator():
        amdjit.kernel(**options, warnings=False)(run)[1, lanes](
            np.int32(UNIFORM), *INPUTS, *outputs, *PYTHON_NUMBERS.values()
        )
    return outputs


def difference(sources: Sequence[str], build: Build = Build()) -> tuple[int, str] | None:
    """Return the first program whose results differ from Python's, and how."""
    found = as_kernel(sources, build)
    for number, source in enumerate(sources):
        for type, rows, expected in zip(PARAMETERS, found, as_python(source, number), strict=True):
            bits = f"u{type.nbytes}"
            wrong = rows[number].view(bits) != expected.view(bits)
            if type.is_float:
                wrong &= ~(np.isnan(rows[number]) & np.isnan(expected))
            places = np.flatnonzero(wrong)
            if places.size:
                at = int(places[0])
                return (
                    number,
                    f"o_{type}[{at}] is {rows[number][at]!r}, Python says {expected[at]!r}",
                )
    return None


def fails(data: bytes, build: Build) -> bool:
    """Whether a program alone gives other results than Python, or none."""
    try:
        return difference([program(data)], build) is not None
    except Exception:
        return True
