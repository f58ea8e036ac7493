"""The batches of the language: a kernel of several programs each."""

from __future__ import annotations

import dataclasses
import linecache
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import amdjit
from amdjit.probe.case import Batch, Case, Group, Results
from amdjit.probe.corpus.language.stored import (
    TYPES,
    Kernel,
    corpus,
    digest,
    without_payloads,
)
from amdjit.target import Target

__all__ = ["batches"]

_KERNELS = 3  # of a batch
# What programs may name; plain functions of theirs are device functions.
_NAMES = (
    "bf16", "boolean", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    "f32x4", "i32x2", "f16x2", "u8x4", "f64x2", "i16x8", "bf16x4", "bitcast", "shuffle", "local",
    "shared", "static_range", "device_function",
)  # fmt: skip


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the batches of random programs."""
    count = len(corpus().kernels)
    return tuple(
        Batch(
            f"language/{first // _KERNELS + 1}", Group.LANGUAGE, seconds=240.0,
            is_quick=first == 0, expected=5.0,
            cases=partial(_cases, range(first, min(first + _KERNELS, count))),
        )
        for first in range(0, count, _KERNELS)
    )  # fmt: skip


def _cases(numbers: range, target: Target) -> Iterator[Case]:
    for number in numbers:
        yield Case(
            f"programs {number}", f"programs {number}", partial(_run, number, target),
            partial(_inputs, number),
        )  # fmt: skip


def _run(number: int, target: Target) -> Results:
    """Return whether each program wrote what Python says, and what it wrote."""
    whole, kernel = corpus(), corpus().kernels[number]
    shape = (len(kernel.sources), whole.items * whole.slots)
    outputs = [np.zeros(shape, dtype) for dtype in TYPES.values()]
    size = kernel.wave_size if kernel.wave_size in target.wave_sizes else target.wave_size
    lanes = size if kernel.guarded else whole.lanes
    launched = amdjit.kernel(opt_level=kernel.level, wave_size=size, warnings=False)(
        _launcher(number)
    )
    launched[1, lanes](
        np.int32(whole.uniform), *whole.inputs.values(), *outputs, *whole.numbers.values()
    )
    agrees = [
        digest([each[row] for each in outputs]) == expected
        for row, expected in enumerate(kernel.digests)
    ]
    return (np.array(agrees, np.uint8), *(without_payloads(each) for each in outputs))


@cache
def _launcher(number: int) -> Any:
    """Return a function that calls a kernel's programs one after the other, each with a row of the
    results."""
    kernel = corpus().kernels[number]
    names = {name: getattr(amdjit, name) for name in _NAMES} | {
        "complex64": np.complex64, "complex128": np.complex128, "replace": dataclasses.replace,
        "record": dataclasses.dataclass(frozen=True),
    }  # fmt: skip
    found = {
        f"program_{row}": _define(source, f"{number} {row}", {**names, **corpus().tables})[
            "program"
        ]
        for row, source in enumerate(kernel.sources)
    }
    text = _launcher_text(kernel)
    return _define(text, f"{number}", {"grid": amdjit.grid, **found})["run"]


def _launcher_text(kernel: Kernel) -> str:
    whole = corpus()
    inputs, outputs = (", ".join(f"{side}_{kind}" for kind in TYPES) for side in "ao")
    numbers = ", ".join(whole.numbers)
    condition = f"i < {whole.lanes}" if kernel.guarded else "True"
    lines = [
        f"def run(u, {inputs}, {outputs}, {numbers}):",
        "    i = grid(1)",
        f"    if {condition}:",
    ]
    for row in range(len(kernel.sources)):
        rows = ", ".join(f"o_{kind}[{row}]" for kind in TYPES)
        first = row * whole.lanes % whole.items
        lines.append(f"        program_{row}(i + {first}, u, {inputs}, {rows}, {numbers})")
    return "\n".join(lines) + "\n"


def _define(source: str, name: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run source whose lines can be read back."""
    file = f"<probe program {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found = {"__name__": "probe_programs", **names}
    exec(compile(source, file, "exec", dont_inherit=True), found)
    return found


def _inputs(number: int, result: int, element: int) -> str:
    whole = corpus()
    sources = corpus().kernels[number].sources
    if result == 0:
        return f"program {element} does not write what Python does:\n{sources[element]}"
    row, place = divmod(element, whole.items * whole.slots)
    lane, slot = divmod(place, whole.slots)
    kind = list(TYPES)[result - 1]
    return f"program {row}: o_{kind}[{place}], slot {slot} of i = {lane}\n{sources[row]}"
