"""The table of processors. A new processor is a new row."""

from __future__ import annotations

from enum import Enum

from amdjit.late_methods import dataclass

TRIPLE = "amdgcn-amd-amdhsa"
"""LLVM's name of the platform: every processor here under HSA."""


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

    name: LLVM's -mcpu. isa: (major, minor, stepping). wave_sizes: the default one first.
    elf_machine_flags: EF_AMDGPU_MACH of the ELF header (LLVM AMDGPU guide, "ELF Header").
    vgpr_file: 32-bit registers that a SIMD has for one lane; vgpr_granule: the unit in which a
    wave32 gets them (a wave64: half of it); vgpr_limit: the most that a wave may have. max_waves:
    wave slots of a SIMD. lds_per_workgroup, lds_per_workgroup_processor, lds_granule: bytes.
    simds_per_workgroup_processor: SIMDs that share one LDS, in workgroup-processor mode if the
    processor has it. has_workgroup_processors: whether a workgroup may span two compute units that
    share their LDS. is_emulated: whether the emulator runs its machine code. multiprocessors:
    workgroup processors of the largest product, or compute units where there are none; 0 where
    only a GPU has to know.
    """

    name: str
    isa: tuple[int, int, int]
    wave_sizes: tuple[int, ...]
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
    has_workgroup_processors: bool = True
    is_emulated: bool = False
    multiprocessors: int = 0

    @property
    def wave_size(self) -> int:
        """Lanes of a wave unless the kernel's options say otherwise."""
        return self.wave_sizes[0]

    def __str__(self) -> str:
        return self.name


_RDNA = frozenset({Feature.WAVE32, Feature.WAVE64, Feature.PACKED_FP16})
_GFX11 = _RDNA | {Feature.WMMA_GFX11, Feature.GLOBAL_F32_ATOMIC_ADD}
_GFX12 = _RDNA | {Feature.WMMA_GFX12, Feature.GLOBAL_F32_ATOMIC_ADD, Feature.SPLIT_BARRIER}
_CDNA = frozenset(
    {Feature.WAVE64, Feature.MFMA, Feature.PACKED_FP16, Feature.GLOBAL_F32_ATOMIC_ADD}
)


def _cdna(name: str, isa: tuple[int, int, int], machine: int, lds: int, lds_granule: int) -> Target:
    # A compute unit has 4 SIMDs and an LDS of its own. A wave64 has 512 registers, VGPRs and AGPRs
    # together.
    return Target(
        name=name,
        isa=isa,
        wave_sizes=(64,),
        features=_CDNA,
        elf_machine_flags=machine,
        vgpr_file=1024,
        vgpr_granule=16,
        vgpr_limit=512,
        max_waves=8,
        lds_per_workgroup=lds,
        lds_per_workgroup_processor=lds,
        lds_granule=lds_granule,
        simds_per_workgroup_processor=4,
        has_workgroup_processors=False,
    )


# MI100: VGPRs and AGPRs are two files of 256 registers each, and a wave gets as many of one as of
# the other; waves and granules are those of gfx9. f32 is added in memory only without a result.
_GFX908 = Target(
    name="gfx908",
    isa=(9, 0, 8),
    wave_sizes=(64,),
    features=_CDNA - {Feature.GLOBAL_F32_ATOMIC_ADD},
    elf_machine_flags=0x30,
    vgpr_file=512,
    vgpr_granule=8,
    vgpr_limit=256,
    max_waves=10,
    lds_per_workgroup=64 * 1024,
    lds_per_workgroup_processor=64 * 1024,
    lds_granule=512,
    simds_per_workgroup_processor=4,
    has_workgroup_processors=False,
)


def _rdna(
    name: str,
    isa: tuple[int, int, int],
    machine: int,
    features: frozenset[Feature],
    vgpr_file: int,
    vgpr_granule: int,
    multiprocessors: int = 0,
) -> Target:
    return Target(
        name=name,
        isa=isa,
        wave_sizes=(32, 64),
        features=features,
        elf_machine_flags=machine,
        vgpr_file=vgpr_file,
        vgpr_granule=vgpr_granule,
        vgpr_limit=256,
        max_waves=16,
        lds_per_workgroup=64 * 1024,
        lds_per_workgroup_processor=128 * 1024,
        lds_granule=1024,
        simds_per_workgroup_processor=4,
        is_emulated=multiprocessors > 0,
        multiprocessors=multiprocessors,
    )


_GFX1250 = Target(
    name="gfx1250",
    isa=(12, 5, 0),
    wave_sizes=(32,),
    features=frozenset(
        {Feature.WAVE32, Feature.PACKED_FP16, Feature.GLOBAL_F32_ATOMIC_ADD, Feature.SPLIT_BARRIER}
    ),
    elf_machine_flags=0x49,
    vgpr_file=1024,
    vgpr_granule=16,
    vgpr_limit=1024,
    max_waves=16,
    lds_per_workgroup=320 * 1024,
    lds_per_workgroup_processor=320 * 1024,
    lds_granule=2048,
    simds_per_workgroup_processor=4,
    has_workgroup_processors=False,
)

# LLVM: GCNSubtarget::getTotalNumVGPRs, AMDGPUBaseInfo's IsaInfo (allocation granules, waves a
# SIMD), GCNProcessors.td; the AMDGPU guide, "ELF Header", for the machine flags.
TARGETS: tuple[Target, ...] = (
    _GFX908,
    _cdna("gfx90a", (9, 0, 10), 0x3F, 64 * 1024, 512),
    _cdna("gfx942", (9, 4, 2), 0x4C, 64 * 1024, 512),
    _cdna("gfx950", (9, 5, 0), 0x4F, 160 * 1024, 1280),
    _rdna("gfx1030", (10, 3, 0), 0x36, _RDNA, 1024, 16),
    # AMD's product page of the RX 7900 XTX: 96 compute units.
    _rdna("gfx1100", (11, 0, 0), 0x41, _GFX11, 1536, 24, multiprocessors=48),
    # AMD's product pages of the RX 9060 XT and the RX 9070 XT: 32 and 64 compute units.
    _rdna("gfx1200", (12, 0, 0), 0x48, _GFX12, 1536, 24, multiprocessors=16),
    _rdna("gfx1201", (12, 0, 1), 0x4E, _GFX12, 1536, 24, multiprocessors=32),
    _GFX1250,
)
"""Every processor that amdjit compiles for."""

EMULATED: tuple[Target, ...] = tuple(target for target in TARGETS if target.is_emulated)

DEFAULT_TARGET = "gfx1201"


def find_target(name: str) -> Target | None:
    """Return the target of this name, or None.

    Features in a name of HIP's (`gfx1201:xnack-`) are ignored.
    """
    base = name.split(":", 1)[0]
    return next((target for target in TARGETS if target.name == base), None)
