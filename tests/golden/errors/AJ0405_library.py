"""What is refused: a function of a library that is not there."""

from pathlib import Path

import amdjit
from amdjit import LlvmCall, f32


@amdjit.intrinsic(LlvmCall("twice", library=Path("missing/twice.bc")))
def twice(x: f32) -> f32:
    """Return x * 2."""
    return x * 2


@amdjit.kernel
def doubled(a: f32[:]):
    i = amdjit.grid(1)
    a[i] = twice(a[i])


def run():
    doubled.compile()
