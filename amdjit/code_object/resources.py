"""The resources that a kernel needs, and how many waves a SIMD can therefore hold."""

from __future__ import annotations

from amdjit.code_object.code_object import CodeObject, Kernel
from amdjit.late_methods import dataclass
from amdjit.target import Target

__all__ = [
    "Demand",
    "Resources",
    "demand_of_launch",
    "lds_for_workgroups",
    "read_demand",
    "read_resources",
    "resident_workgroups",
    "vgprs_for_waves",
    "waves_by_lds",
    "waves_by_vgprs",
    "waves_of_workgroups",
    "workgroups_by_limit",
]

# A workgroup processor has 32 workgroup barriers in WGP mode, a CU 16; a workgroup of one wave
# needs none (LLVM: AMDGPU::IsaInfo::getMaxWorkGroupsPerCU).
_BARRIERS_PER_SIMD, _BARRIERS_PER_SIMD_OF_CU = 8, 4


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel needs, from its metadata and descriptor.

    vgprs, sgprs: registers of a wave. vgpr_spills, sgpr_spills: registers spilled. lds_bytes:
    static LDS of a workgroup. scratch_bytes: private memory of a work-item. code_bytes: machine
    code. instructions: machine instructions. waves_per_simd: the most waves of this kernel that one
    SIMD can hold, in whole workgroups. limiter: what keeps a SIMD from holding more: "vgprs",
    "lds", "workgroup size", or "none" if all wave slots are filled.
    """

    vgprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds_bytes: int
    scratch_bytes: int
    code_bytes: int
    instructions: int
    waves_per_simd: int
    limiter: str


def read_resources(
    code_object: CodeObject, kernel: Kernel | str, target: Target, instructions: int
) -> Resources:
    """Return the resources of the kernel of this name; KeyError if there is none.

    instructions: passed in, because counting them needs a decoder. Occupancy is that of the largest
    workgroup that the kernel allows, with static LDS only: dynamic LDS can lower it.
    """
    entry = code_object.kernels[kernel] if isinstance(kernel, str) else kernel
    metadata = entry.metadata
    demand = read_demand(entry)
    limits = {
        name: waves_of_workgroups(count, demand, target)
        for name, count in workgroups_by_limit(demand, target).items()
    }
    limiter = min(limits, key=lambda name: limits[name])
    return Resources(
        vgprs=metadata.vgpr_count,
        sgprs=metadata.sgpr_count,
        vgpr_spills=metadata.vgpr_spills,
        sgpr_spills=metadata.sgpr_spills,
        lds_bytes=metadata.group_segment_bytes,
        scratch_bytes=metadata.private_segment_bytes,
        code_bytes=entry.code_size,
        instructions=instructions,
        waves_per_simd=limits[limiter],
        limiter=limiter,
    )


def waves_by_vgprs(vgprs: int, wave_size: int, target: Target) -> int:
    """Return how many waves with this many VGPRs fit the register file of a SIMD."""
    # A wave64 takes two rows of the file for each register, in units of half as many registers.
    rows = wave_size // 32
    granule = target.vgpr_granule // rows
    allocated = max(1, -(-vgprs // granule)) * granule
    if vgprs > target.vgpr_limit:
        return 0
    return min(target.max_waves, target.vgpr_file // rows // allocated)


def waves_by_lds(
    lds_bytes: int, waves_per_workgroup: int, target: Target, wgp_mode: bool = True
) -> int:
    """Return how many waves a SIMD holds if only LDS, wave slots and barriers limit the
    workgroups."""
    demand = Demand(0, lds_bytes, waves_per_workgroup, target.wave_size, wgp_mode)
    limits = workgroups_by_limit(demand, target)
    return waves_of_workgroups(min(limits["lds"], limits["workgroup size"]), demand, target)


@dataclass(frozen=True, slots=True)
class Demand:
    """What one workgroup takes.

    vgprs: of a wave. lds_bytes: of the workgroup, static and dynamic. waves: of the workgroup.
    wave_size: lanes. wgp_mode: the workgroup has a whole workgroup processor, not one compute unit
    of it; without meaning where there are no workgroup processors.
    """

    vgprs: int
    lds_bytes: int
    waves: int
    wave_size: int
    wgp_mode: bool


def read_demand(kernel: Kernel) -> Demand:
    """Return what the largest workgroup takes that a kernel allows, with static LDS only."""
    metadata = kernel.metadata
    return Demand(
        metadata.vgpr_count,
        metadata.group_segment_bytes,
        max(1, -(-metadata.max_flat_workgroup_size // metadata.wave_size)),
        metadata.wave_size,
        kernel.descriptor.wgp_mode,
    )


def workgroups_by_limit(demand: Demand, target: Target) -> dict[str, int]:
    """Return how many workgroups share SIMDs and an LDS, if they are limited by nothing but the
    number of waves ("none"), by slots for whole workgroups and barriers ("workgroup size"), by
    registers ("vgprs") or by LDS ("lds").

    The first of equal limits is the one to name.
    """
    simds, lds = _share(demand, target)
    all_slots = -(-target.max_waves * simds // demand.waves)
    by_slots = target.max_waves * simds // demand.waves
    if demand.waves > 1:
        barriers = (
            _BARRIERS_PER_SIMD if target.has_workgroup_processors else _BARRIERS_PER_SIMD_OF_CU
        )
        by_slots = min(by_slots, barriers * simds)
    by_vgprs = waves_by_vgprs(demand.vgprs, demand.wave_size, target) * simds // demand.waves
    by_lds = all_slots
    if demand.lds_bytes:
        allocated = -(-demand.lds_bytes // target.lds_granule) * target.lds_granule
        by_lds = lds // allocated if demand.lds_bytes <= target.lds_per_workgroup else 0
    return {
        "none": all_slots,
        "workgroup size": by_slots,
        "vgprs": by_vgprs,
        "lds": by_lds,
    }


def resident_workgroups(
    kernel: Kernel, target: Target, work_items: int, dynamic_lds: int = 0
) -> int:
    """Return how many workgroups of a kernel a workgroup processor holds at a time, or a compute
    unit where there are no workgroup processors.

    work_items: of a workgroup. dynamic_lds: bytes.
    """
    demand = demand_of_launch(kernel, work_items, dynamic_lds)
    halves = 1 if demand.wgp_mode or not target.has_workgroup_processors else 2
    return min(workgroups_by_limit(demand, target).values()) * halves


def demand_of_launch(kernel: Kernel, work_items: int, dynamic_lds: int) -> Demand:
    """Return what a workgroup with that many work-items and bytes of dynamic LDS takes."""
    metadata = kernel.metadata
    return Demand(
        vgprs=metadata.vgpr_count,
        lds_bytes=metadata.group_segment_bytes + dynamic_lds,
        waves=-(-work_items // metadata.wave_size),
        wave_size=metadata.wave_size,
        wgp_mode=kernel.descriptor.wgp_mode,
    )


def waves_of_workgroups(workgroups: int, demand: Demand, target: Target) -> int:
    """Return how many waves the fullest SIMD holds of workgroups that share an LDS."""
    simds, _ = _share(demand, target)
    return min(target.max_waves, -(-workgroups * demand.waves // simds))


def vgprs_for_waves(waves: int, wave_size: int, target: Target) -> int:
    """Return the most VGPRs with which a SIMD holds as many waves: of `waves_by_vgprs`, the other
    way round."""
    rows = wave_size // 32
    granule = target.vgpr_granule // rows
    return min(target.vgpr_limit, target.vgpr_file // rows // waves // granule * granule)


def lds_for_workgroups(workgroups: int, demand: Demand, target: Target) -> int:
    """Return the most bytes with which as many workgroups share an LDS."""
    _, lds = _share(demand, target)
    return min(
        target.lds_per_workgroup, lds // workgroups // target.lds_granule * target.lds_granule
    )


def _share(demand: Demand, target: Target) -> tuple[int, int]:
    """Return the SIMDs and the bytes of LDS that workgroups share: in CU mode half of a workgroup
    processor's."""
    share = 1 if demand.wgp_mode or not target.has_workgroup_processors else 2
    simds = target.simds_per_workgroup_processor // share
    return simds, target.lds_per_workgroup_processor // share
