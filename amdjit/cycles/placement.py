"""Where the waves of a launch run: how many workgroups a workgroup processor holds at a time, and
on which SIMD each wave is."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.code_object import Kernel
from amdjit.code_object.resources import demand_of_launch, resident_workgroups
from amdjit.cycles.errors import NoEstimate
from amdjit.target import Target

__all__ = ["Placement", "place"]


@dataclass(frozen=True, slots=True)
class Placement:
    """How workgroups lie on a workgroup processor.

    resident: workgroups that it holds at a time. waves: of a workgroup. simds: of the processor.
    wgp_mode: whether a workgroup is spread over both of its compute units, not on one of them.
    """

    resident: int
    waves: int
    simds: int
    wgp_mode: bool

    def simd(self, slot: int, wave: int) -> int:
        """Return the SIMD of a wave of the workgroup in a slot.

        Waves go round the SIMDs, where the workgroup before ended: the distribution of the
        hardware's dispatcher is not documented.
        """
        if self.wgp_mode:
            return (slot * self.waves + wave) % self.simds
        half = self.simds // 2
        return slot % 2 * half + (slot // 2 * self.waves + wave) % half


def place(kernel: Kernel, target: Target, workgroup_size: int, dynamic_lds: int) -> Placement:
    """Return how a kernel's workgroups lie on a workgroup processor; NoEstimate if none fits.

    workgroup_size: work-items. dynamic_lds: bytes.
    """
    demand = demand_of_launch(kernel, workgroup_size, dynamic_lds)
    resident = resident_workgroups(kernel, target, workgroup_size, dynamic_lds)
    if resident == 0:
        raise NoEstimate(
            f"no workgroup of {workgroup_size} work-items with {demand.vgprs} VGPRs and "
            f"{demand.lds_bytes} bytes of LDS fits a workgroup processor of {target}"
        )
    simds = target.simds_per_workgroup_processor
    return Placement(resident, demand.waves, simds, demand.wgp_mode)
