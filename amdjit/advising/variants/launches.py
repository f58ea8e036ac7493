"""Options of the compiler, and the size of workgroups."""

from __future__ import annotations

import math
from collections.abc import Iterator

from amdjit.advising.subject import Subject, Variant

__all__ = ["blocks", "launch_bounds", "less_restricted", "more_waves"]

_BLOCKS = (64, 128, 256, 512)
_MOST_STEPS = 2


def less_restricted(subject: Subject) -> Iterator[Variant]:
    """Yield the kernel without options that keep it from using registers, or from optimising."""
    given = subject.call.kernel.options_given
    inspection = subject.inspection
    if inspection.vgpr_spills or inspection.scratch_bytes or inspection.sgpr_spills:
        for name in ("max_registers", "waves_per_eu"):
            if given.get(name) is not None:
                yield Variant(
                    "registers",
                    f"leave out `{name}={given[name]}`: {inspection.vgpr_spills} registers are "
                    "spilled to memory",
                    options={name: None},
                )
    if given.get("opt_level", 3) < 3:
        yield Variant("optimisation", "leave out `opt_level=`", options={"opt_level": 3})


def launch_bounds(subject: Subject) -> Iterator[Variant]:
    """Yield the kernel compiled for the block that it is launched with."""
    block, given = subject.call.shape.block, subject.call.kernel.options_given
    if given.get("block") is not None:
        return
    size = block if block[1:] != (1, 1) else block[0]
    text = f"say the size of the workgroups, `@amdjit.kernel(block={size})`"
    spilled = subject.inspection.vgpr_spills
    if spilled:
        text += f": more registers are allowed then, and {spilled} need not be spilled"
    yield Variant("block", text, options={"block": size})
    if size != block:
        yield Variant("block", text, options={"block": block})


def more_waves(subject: Subject) -> Iterator[Variant]:
    """Yield the kernel with fewer registers, so that a SIMD holds more waves."""
    found = subject.inspection.occupancy_at(
        subject.call.shape.block, subject.call.shape.dynamic_lds
    )
    if found.limited_by != "vgprs":
        return
    for step in found.steps[:_MOST_STEPS]:
        yield Variant(
            "registers",
            f"ask for {step.waves} waves of a SIMD, `@amdjit.kernel(waves_per_eu={step.waves})`: "
            f"there are {found.waves_per_simd}, limited by registers",
            options={"waves_per_eu": step.waves},
        )


def blocks(subject: Subject) -> Iterator[Variant]:
    """Yield other sizes of workgroups, over the same work-items."""
    shape, given = subject.call.shape, subject.call.kernel.options_given.get("block")
    if shape.block[1:] != (1, 1) or shape.grid[1:] != (1, 1) or isinstance(given, tuple):
        return
    items = shape.grid[0] * shape.block[0]
    for size in _BLOCKS:
        if size == shape.block[0] or items % size:
            continue
        most = given if isinstance(given, int) else math.inf
        options = {} if size <= most else {"block": size}
        yield Variant(
            "workgroups",
            f"launch workgroups of {size} work-items in place of {shape.block[0]}",
            options=options,
            shape=shape._replace(grid=(items // size, 1, 1), block=(size, 1, 1)),
        )
