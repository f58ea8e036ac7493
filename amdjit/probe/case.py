"""The vocabulary of the probe: batches of cases, whose results are compared bit by bit, and of
measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models import vector_arithmetic
from amdjit.target import Target

__all__ = [
    "Batch",
    "Case",
    "Difference",
    "Group",
    "Measurement",
    "Results",
    "bits_of",
    "certainty_of",
]

# The arrays that a case returns. They are compared bit by bit.
Results = tuple[NDArray[Any], ...]


class Group(Enum):
    """The kinds of batches, in the order in which they run."""

    EXAMPLES = "examples"
    INSTRUCTIONS = "instructions"
    MATRIX = "matrix"
    APPROXIMATE = "approximate"
    MEMORY = "memory"
    LANGUAGE = "language"
    TIMING = "timing"


@dataclass(frozen=True)
class Case:
    """A computation that gives the same results on every device with the same arithmetic."""

    name: str
    """Unique within the batch and the same in every run, such as "v_add_f32 neg"."""
    subject: str
    """What a difference is reported under: a mnemonic, a matrix row, an example, a program."""
    run: Callable[[], Results]
    """Launches on the current device and returns the results; it takes its inputs from fixed seeds.
    Their dtypes say how a difference is put into words: floats in units of the last place."""
    inputs: Callable[[int, int], str] = lambda result, element: f"element {element}"
    """Says what made an element, by the number of the result and the element's flat index."""
    rule: str = "documented"
    """What the emulator follows here, "measured", "rule", "model" or "documented" (see
    `matrix.certainty` and `arithmetic.certainty`)."""
    keeps: bool = False
    """Whether the file stores the results themselves, and not only where they differ from the
    emulator's."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured figure."""

    name: str
    """Unique in the corpus, such as "latency v_add_f32"."""
    value: float
    """The median of `samples`."""
    unit: str
    """"cycles", "ns", "GB/s", "TFLOPS", ..."""
    samples: tuple[float, ...]
    parameter: str = ""
    """The cycle model's parameter or `Timing` class that it is about, empty if there is none."""
    expected: float | None = None
    """What the cycle model says for the same kernel, None if it says nothing."""


@dataclass(frozen=True)
class Batch:
    """The cases or the measurements that one process runs on a device."""

    name: str
    """Unique, such as "instructions/VOP2 1"."""
    group: Group
    seconds: float = 60.0
    """Seconds after which it counts as hung."""
    is_quick: bool = False
    """Whether `--quick` runs it."""
    cases: Callable[[Target], Iterable[Case]] | None = None
    """Makes the cases, in the process that runs them; a batch has cases or measurements."""
    measurements: Callable[[Target], Iterable[Measurement]] | None = None
    """Makes the measurements, in the process that takes them."""
    expected: float = 3.0
    """Seconds that it takes on a GPU."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An element in which a device and the emulator differ."""

    result: int
    """The number of the array in the case's results."""
    element: int
    """The flat index of the element in that array."""
    inputs: str
    """The inputs of the element, in words."""
    chip: int
    """The bits that the chip computed, as an unsigned integer."""
    emulator: int
    """The bits that the emulator computed, as an unsigned integer."""


def bits_of(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array's elements as unsigned integers of their size."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.dtype(f"u{flat.dtype.itemsize}"))


def certainty_of(mnemonic: str, target: Target) -> str:
    """Return how well an instruction's results are known, as `Case.rule` has it."""
    with suppress(ValueError):
        return vector_arithmetic.certainty(mnemonic, target.name)
    return "documented"
