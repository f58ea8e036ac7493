"""The reference page of processors: what the table of targets says about each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amdjit.intrinsics.builtins.table import multiplied
from amdjit.intrinsics.builtins.table import rows as builtins
from amdjit.target import TARGETS, Feature, Target, emulated_for

INTRODUCTION = (
    "The processors that amdjit compiles for. The first wavefront size is the default. For "
    "processors without workgroup processors (gfx9, gfx1250, gfx1251), read compute unit. *Matrix "
    "products* lists what instructions multiply, as their builtins spell it. The code for a "
    "[generic processor](../launching.md#generic-processors) runs on every processor that its row "
    "lists; it has the limits of the smallest of them. Code for processors that the emulator does "
    "not run has been compiled and read, but never run."
)
FEATURES = "What intrinsics may need of a processor, and which processors have it."
# Groups of builtins.
_NAMES = {"wmma": "WMMA", "mfma": "MFMA", "swmmac": "sparse", "smfmac": "sparse"}


def products(target: Target) -> str:
    """Return the matrix instructions of a processor by kind, with the types that they multiply."""
    found: dict[str, dict[str, None]] = {}
    for row in builtins().values():
        types = multiplied(row.name)
        if row.group in _NAMES and target.name in row.targets and types:
            found.setdefault(row.group, {})[types.replace("_", " x ")] = None
    return "; ".join(
        f"{name}: {', '.join(sorted(found[group]))}"
        for group, name in _NAMES.items()
        if group in found
    )


_FACTS: dict[str, Callable[[Target], object]] = {
    "runs on": lambda t: ", ".join(t.members),
    "emulated": lambda t: f"`emulator:{found}`" if (found := emulated_for(t)) else "",
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
    "matrix products": products,
}
FACTS_HEAD = ("processor", *_FACTS)
FEATURES_HEAD = ("processor", *(feature.value for feature in Feature))


def fact_rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each processor, with a cell for each fact."""
    for target in TARGETS:
        yield f"`{target}`", *(str(fact(target)) for fact in _FACTS.values())


def feature_rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each processor, with a cell for each feature."""
    for target in TARGETS:
        yield f"`{target}`", *("yes" if f in target.features else "" for f in Feature)
