"""The resources that a kernel needs, and how many waves a SIMD can therefore hold."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.code_object.code_object import CodeObject, Kernel
from amdjit.target import Target

__all__ = ["Resources", "read_resources", "waves_by_lds", "waves_by_vgprs", "workgroups_by_lds"]

# A workgroup processor has 32 workgroup barriers in WGP mode, a CU 16; a workgroup of one wave
# needs none (LLVM: AMDGPU::IsaInfo::getMaxWorkGroupsPerCU).
_BARRIERS_PER_SIMD, _BARRIERS_PER_SIMD_OF_CU = 8, 4


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel needs, from its metadata and descriptor.

    vgprs, sgprs: registers of a wave. vgpr_spills, sgpr_spills: registers spilled. lds_bytes:
    static LDS of a workgroup. scratch_bytes: private memory of a work-item. code_bytes: machine
    code. instructions: machine instructions. waves_per_simd: the most waves of this kernel that one
    SIMD can hold. limiter: what keeps a SIMD from holding more: "vgprs", "lds", "workgroup size",
    or "none" if all wave slots are filled.
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
    limits = _wave_limits(entry, target)
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
    workgroups = workgroups_by_lds(lds_bytes, waves_per_workgroup, target, wgp_mode)
    simds = _share(target, wgp_mode)[0]
    return min(target.max_waves, -(-workgroups * waves_per_workgroup // simds))


def workgroups_by_lds(
    lds_bytes: int, waves_per_workgroup: int, target: Target, wgp_mode: bool = True
) -> int:
    """Return how many workgroups a workgroup processor holds (in CU mode, a compute unit) if only
    LDS, wave slots and barriers limit them."""
    simds, lds = _share(target, wgp_mode)
    allocated = -(-lds_bytes // target.lds_granule) * target.lds_granule
    if lds_bytes > target.lds_per_workgroup:
        return 0
    workgroups = target.max_waves * simds // waves_per_workgroup
    if waves_per_workgroup > 1:
        barriers = (
            _BARRIERS_PER_SIMD if target.has_workgroup_processors else _BARRIERS_PER_SIMD_OF_CU
        )
        workgroups = min(workgroups, barriers * simds)
    if allocated:
        workgroups = min(workgroups, lds // allocated)
    return workgroups


def _share(target: Target, wgp_mode: bool) -> tuple[int, int]:
    """Return the SIMDs and the bytes of LDS that a workgroup can be on."""
    # In CU mode a workgroup has one CU: half of the workgroup processor's SIMDs and LDS.
    share = 1 if wgp_mode or not target.has_workgroup_processors else 2
    simds = target.simds_per_workgroup_processor // share
    return simds, target.lds_per_workgroup_processor // share


def _wave_limits(kernel: Kernel, target: Target) -> dict[str, int]:
    """Return the waves of a SIMD by what limits them; the first of equal limits is named."""
    metadata = kernel.metadata
    waves = max(1, -(-metadata.max_flat_workgroup_size // metadata.wave_size))
    wgp_mode = kernel.descriptor.wgp_mode
    return {
        "none": target.max_waves,
        "workgroup size": waves_by_lds(0, waves, target, wgp_mode),
        "vgprs": waves_by_vgprs(metadata.vgpr_count, metadata.wave_size, target),
        "lds": waves_by_lds(metadata.group_segment_bytes, waves, target, wgp_mode),
    }
