"""What the compilation of a kernel knows beside its source: the target, and what its options say of
the code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from amdjit.target import Target

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the compilation knows of its target: processor, lanes of a wave, the compiled-in
    workgroup shape.

    asserts, bounds_check: whether `assert` and `raise`, and tests of indices, are compiled.
    device_library: the bitcode of OCML, if it is installed.
    flushes_denormals, approximates_functions: of `amdjit.language.compile_time.Compilation`.
    """

    target: Target
    wave_size: int
    block: tuple[int, int, int] | None = None
    asserts: bool = True
    bounds_check: bool = False
    device_library: Path | None = None
    flushes_denormals: bool = False
    approximates_functions: bool = False
