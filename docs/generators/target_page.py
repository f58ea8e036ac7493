"""The reference page of processors: what the table of targets says about each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amdjit.target import TARGETS, Feature

HEAD = ("", *(f"`{target.name}`" for target in TARGETS))
INTRODUCTION = (
    "The processors that amdjit compiles for, and their features. The first wavefront size is the "
    "default. For processors without workgroup processors (gfx9, gfx1250), read compute unit. "
    "Code for processors that the emulator does not run has been compiled and read, but never "
    "run."
)


def rows() -> list[tuple[str, ...]]:
    """Return a row for each fact, with a cell for each processor."""
    facts: dict[str, Callable[[Any], object]] = {
        "wavefront sizes": lambda t: ", ".join(map(str, t.wave_sizes)),
        "registers of a SIMD a lane": lambda t: t.vgpr_file,
        "handed out by": lambda t: t.vgpr_granule,
        "VGPRs of a wave, at most": lambda t: t.vgpr_limit,
        "waves of a SIMD, at most": lambda t: t.max_waves,
        "work-items of a workgroup, at most": lambda t: t.max_workgroup_size,
        "LDS of a workgroup, bytes": lambda t: t.lds_per_workgroup,
        "LDS of a workgroup processor, bytes": lambda t: t.lds_per_workgroup_processor,
        "SIMDs of a workgroup processor": lambda t: t.simds_per_workgroup_processor,
        "settings of a target id": lambda t: ", ".join(t.id_features),
        "run by the emulator": lambda t: "yes" if t.is_emulated else "",
    }
    found = [(name, *(str(fact(target)) for target in TARGETS)) for name, fact in facts.items()]
    return found + [
        (f.value, *("yes" if f in target.features else "" for target in TARGETS)) for f in Feature
    ]
