"""Where the waves of a launch run: how many workgroups a workgroup processor holds at a time, and on
which SIMD each wave is."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.code_object import Kernel
from amdjit.code_object.resources import waves_by_vgprs, workgroups_by_lds
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
    metadata = kernel.metadata
    waves = -(-workgroup_size // metadata.wave_size)
    wgp_mode = kernel.descriptor.wgp_mode
    halves = 1 if wgp_mode else 2
    simds = target.simds_per_workgroup_processor
    lds = metadata.group_segment_bytes + dynamic_lds
    fitting = waves_by_vgprs(metadata.vgpr_count, metadata.wave_size, target)
    by_vgprs = fitting * (simds // halves) // waves
    resident = min(by_vgprs, workgroups_by_lds(lds, waves, target, wgp_mode)) * halves
    if resident == 0:
        raise NoEstimate(
            f"no workgroup of {workgroup_size} work-items with {metadata.vgpr_count} VGPRs and "
            f"{lds} bytes of LDS fits a workgroup processor of {target}"
        )
    return Placement(resident, waves, simds, wgp_mode)
