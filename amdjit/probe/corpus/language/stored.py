"""The programs as they are stored: source, inputs, and digests of the results that Python
computed."""

from __future__ import annotations

import base64
import json
import lzma
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import ml_dtypes
import numpy as np
import xxhash
from numpy.typing import NDArray

__all__ = ["FILE", "TYPES", "Corpus", "Kernel", "corpus", "digest", "without_payloads"]

FILE = "programs.json.xz"
# The types of which each program reads one array and writes one.
TYPES: dict[str, Any] = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "u32": np.uint32,
    "i64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """Programs that run one after the other in a kernel. sources: each defines a function
    `program`; digests: of what each writes; level, wave_size, guarded: how it is compiled, and
    whether only the first lanes of a larger workgroup run the programs."""

    sources: tuple[str, ...]
    digests: tuple[str, ...]
    level: int
    wave_size: int
    guarded: bool


@dataclass(frozen=True)
class Corpus:
    """All kernels. lanes: work-items that run each program; slots: results of a lane in each array;
    uniform: the argument that is the same in all lanes; numbers: Python's own, by their names;
    inputs: an array of each type."""

    kernels: tuple[Kernel, ...]
    lanes: int
    slots: int
    uniform: int
    numbers: dict[str, int | float]
    inputs: dict[str, NDArray[Any]]

    @property
    def items(self) -> int:
        """Elements of an input."""
        return len(self.inputs["i8"])

    @property
    def tables(self) -> dict[str, NDArray[Any]]:
        """Arrays outside of the programs, by their names."""
        return {f"T_{kind}": np.roll(each[::-1], 5) for kind, each in self.inputs.items()}


@cache
def corpus() -> Corpus:
    """Read the stored programs."""
    packed = resources.files(__name__.rpartition(".")[0]).joinpath(FILE).read_bytes()
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
    return Corpus(kernels, held["lanes"], held["slots"], held["uniform"], held["numbers"], inputs)


def without_payloads(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose NaN all have the same bits: which ones, Python does not say."""
    if array.dtype.kind in "iu":
        return array
    return np.where(np.isnan(array), array.dtype.type(np.nan), array).astype(array.dtype)


def digest(outputs: list[NDArray[Any]]) -> str:
    """Return a digest of what a program writes, an array of each type."""
    found = xxhash.xxh3_64()
    for each in outputs:
        found.update(without_payloads(np.ascontiguousarray(each)).tobytes())
    return found.hexdigest()
