"""How many waves of a kernel a SIMD holds, and what more of them would need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amdjit.code_object.resources import (
    Demand,
    lds_for_workgroups,
    vgprs_for_waves,
    waves_of_workgroups,
    workgroups_by_limit,
)
from amdjit.inspection.facts import Occupancy, OccupancyStep
from amdjit.target import Target

__all__ = ["occupancy_of"]


def occupancy_of(demand: Demand, target: Target) -> Occupancy:
    """Return the occupancy of a kernel whose workgroups take `demand`."""
    limits = _limits(demand, target)
    limiter = min(limits, key=lambda name: limits[name])
    return Occupancy(limits[limiter], limiter, limits, tuple(_steps(demand, target)))


def _limits(demand: Demand, target: Target) -> dict[str, int]:
    workgroups = workgroups_by_limit(demand, target)
    return {name: waves_of_workgroups(count, demand, target) for name, count in workgroups.items()}


def _steps(demand: Demand, target: Target) -> Iterator[OccupancyStep]:
    """Yield the higher occupancies that fewer registers or less LDS allow, each with the fewest
    workgroups that make it."""
    possible = workgroups_by_limit(demand, target)
    workgroups = min(possible.values())
    now = reached = waves_of_workgroups(workgroups, demand, target)
    for more in range(workgroups + 1, possible["workgroup size"] + 1):
        waves = waves_of_workgroups(more, demand, target)
        if waves > reached:
            vgprs = min(demand.vgprs, vgprs_for_waves(waves, demand.wave_size, target))
            lds = min(demand.lds_bytes, lds_for_workgroups(more, demand, target))
            less = replace(demand, vgprs=vgprs, lds_bytes=lds)
            # Registers come in units: so few may allow more waves still.
            reached = min(_limits(less, target).values())
            yield _step(demand, less, now, reached)


def _step(demand: Demand, less: Demand, now: int, waves: int) -> OccupancyStep:
    vgprs, lds = demand.vgprs - less.vgprs, demand.lds_bytes - less.lds_bytes
    fewer = [f"{vgprs} VGPR{'s' * (vgprs > 1)}"] * (vgprs > 0)
    fewer += [f"{lds:,} bytes of LDS"] * (lds > 0)
    return OccupancyStep(
        waves,
        less.vgprs if vgprs else None,
        less.lds_bytes if lds else None,
        f"{' and '.join(fewer)} fewer: {now} -> {waves} waves",
    )
