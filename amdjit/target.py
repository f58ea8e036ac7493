"""The table of processors. A new processor is a new row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Feature(Enum):
    """What an intrinsic may need of a processor."""

    WAVE32 = "wave32"
    WAVE64 = "wave64"
    WMMA_GFX11 = "gfx11 WMMA"
    WMMA_GFX12 = "gfx12 WMMA"
    MFMA = "MFMA"
    PACKED_FP16 = "packed f16"
    GLOBAL_F32_ATOMIC_ADD = "global f32 atomic add"
    SPLIT_BARRIER = "split barrier"


@dataclass(frozen=True, slots=True)
class Target:
    """One AMDGPU processor.

    name: LLVM's -mcpu. isa: (major, minor, stepping). wavefront_sizes: the default one first.
    elf_machine_flags: EF_AMDGPU_MACH of the ELF header (LLVM AMDGPU guide, "ELF Header").
    vgpr_file: 32-bit registers a SIMD has for one lane; vgpr_granule: how they are handed out in wave32
    (wave64: half); vgpr_limit: the most a wave may have. max_waves: a SIMD's wave slots.
    lds_per_workgroup, lds_per_workgroup_processor: bytes; lds_granule: bytes.
    simds_per_workgroup_processor: SIMDs that share one LDS in workgroup-processor mode.
    """

    name: str
    isa: tuple[int, int, int]
    wavefront_sizes: tuple[int, ...]
    features: frozenset[Feature]
    elf_machine_flags: int
    vgpr_file: int
    vgpr_granule: int
    vgpr_limit: int
    max_waves: int
    lds_per_workgroup: int
    lds_per_workgroup_processor: int
    lds_granule: int
    simds_per_workgroup_processor: int
    max_workgroup_size: int = 1024

    @property
    def wavefront_size(self) -> int:
        """Lanes of a wave unless the kernel asks otherwise."""
        return self.wavefront_sizes[0]

    def __str__(self) -> str:
        return self.name


_GFX12_FEATURES = frozenset(
    {
        Feature.WAVE32,
        Feature.WAVE64,
        Feature.WMMA_GFX12,
        Feature.PACKED_FP16,
        Feature.GLOBAL_F32_ATOMIC_ADD,
        Feature.SPLIT_BARRIER,
    }
)


def _gfx12(name: str, stepping: int, machine: int) -> Target:
    # LLVM: GCNSubtarget::getTotalNumVGPRs and AMDGPUBaseInfo's allocation granules for gfx12 ("1536 VGPRs").
    return Target(
        name=name,
        isa=(12, 0, stepping),
        wavefront_sizes=(32, 64),
        features=_GFX12_FEATURES,
        elf_machine_flags=machine,
        vgpr_file=1536,
        vgpr_granule=24,
        vgpr_limit=256,
        max_waves=16,
        lds_per_workgroup=64 * 1024,
        lds_per_workgroup_processor=128 * 1024,
        lds_granule=1024,
        simds_per_workgroup_processor=4,
    )


TARGETS: tuple[Target, ...] = (
    _gfx12("gfx1200", 0, 0x48),
    _gfx12("gfx1201", 1, 0x4E),
)

DEFAULT_TARGET = "gfx1201"


def find_target(name: str) -> Target | None:
    """Return the row of that name, or None. Feature suffixes of a HIP name (`gfx1201:xnack-`) are ignored."""
    base = name.split(":", 1)[0]
    return next((target for target in TARGETS if target.name == base), None)
