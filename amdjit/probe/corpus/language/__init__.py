"""Random programs of the kernel language. Python has computed their results, so a chip's results
are compared with Python's as well as with the emulator's.

`programs.json.xz` holds the source of the programs, their inputs and digests of the expected
results; `python tests/fuzz/write_probe_programs.py` writes it. Each batch is a few kernels, and
each kernel runs several programs.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import linecache
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, partial
from importlib import resources
from typing import Any

import ml_dtypes
import numpy as np
import xxhash
from numpy.typing import NDArray

import amdjit
from amdjit.probe.case import Batch, Case, Group, Results
from amdjit.target import Target

__all__ = ["FILE", "TYPES", "batches", "corpus", "digest"]

_KERNELS = 3  # of a batch


class _Member(IntEnum):
    """An enumeration outside of the programs."""

    THREE = 3


# The names that programs may use. Plain functions that they define become device functions.
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
    """Return whether each program of a kernel wrote what Python would write, and what it wrote."""
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
    """Return a function that calls a kernel's programs one after the other, with one row of the
    results for each."""
    kernel = corpus().kernels[number]
    names = {name: getattr(amdjit, name) for name in _NAMES} | {
        "complex64": np.complex64, "complex128": np.complex128, "replace": dataclasses.replace,
        "record": dataclasses.dataclass(frozen=True),
        "LAST": np.int64(-1), "TWO": np.int16(2), "THREE": _Member.THREE,
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
    """Run source in such a way that its lines can be found for error messages."""
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


# The programs as they are stored: source, inputs, and digests of the results that Python
# computed.

FILE = "programs.json.xz"
# Each program reads and writes one array of each of these types.
TYPES: dict[str, Any] = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "u32": np.uint32,
    "i64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """Programs that run one after the other in a kernel."""

    sources: tuple[str, ...]
    """The sources of the programs; each defines a function `program`."""
    digests: tuple[str, ...]
    """Digests of what each program writes."""
    level: int
    """The optimisation level of the kernel."""
    wave_size: int
    guarded: bool
    """Whether the workgroup is larger, and only its first lanes run the programs."""


@dataclass(frozen=True)
class Corpus:
    """All kernels."""

    kernels: tuple[Kernel, ...]
    lanes: int
    """Work-items that run each program."""
    slots: int
    """Results of a lane in each array."""
    uniform: int
    """The argument that is the same in all lanes."""
    numbers: dict[str, int | float]
    """Python's own numbers that are passed, by name."""
    inputs: dict[str, NDArray[Any]]
    """An array of each type."""

    @property
    def items(self) -> int:
        """The number of elements of an input."""
        return len(self.inputs["i8"])

    @property
    def tables(self) -> dict[str, NDArray[Any]]:
        """Global arrays that the programs read, by name."""
        return {f"T_{kind}": np.roll(each[::-1], 5) for kind, each in self.inputs.items()}


@cache
def corpus() -> Corpus:
    """Read the stored programs."""
    packed = resources.files(__name__).joinpath(FILE).read_bytes()
    held = json.loads(lzma.decompress(packed))
    inputs = {
        kind: np.frombuffer(base64.b64decode(text), dtype).copy()
        for (kind, dtype), text in zip(TYPES.items(), held["inputs"], strict=True)
    }
    kernels = tuple(
        Kernel(
            tuple(each["sources"]), tuple(each["digests"]), each["level"], each["wave_size"],
            each["guarded"],
        )
        for each in held["kernels"]
    )  # fmt: skip
    return Corpus(
        kernels,
        held["lanes"],
        slots=held["slots"],
        uniform=held["uniform"],
        numbers=held["numbers"],
        inputs=inputs,
    )


def without_payloads(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in which all NaNs have the same bits, because Python does not define which
    ones they have."""
    if array.dtype.kind in "iu":
        return array
    return np.where(np.isnan(array), array.dtype.type(np.nan), array).astype(array.dtype)


def digest(outputs: list[NDArray[Any]]) -> str:
    """Return a digest of what a program writes: an array of each type."""
    found = xxhash.xxh3_64()
    for each in outputs:
        found.update(without_payloads(np.ascontiguousarray(each)).tobytes())
    return found.hexdigest()
