"""The kernel descriptor: 64 bytes that tell the packet processor how to start a wave.

Bit positions are those of the LLVM AMDGPU guide, "Kernel Descriptor", columns GFX10 to GFX12.
"""

from __future__ import annotations

import struct

from amdjit.code_object.bytes_reader import MalformedCodeObject, unpack_at
from amdjit.late_methods import dataclass

__all__ = ["DESCRIPTOR_SIZE", "KernelDescriptor", "UserSgpr", "read_descriptor"]

_LAYOUT = struct.Struct("<3I4xq20x3I2H4x")
DESCRIPTOR_SIZE = _LAYOUT.size

# GFX10 and later count VGPRs of a wave32 by 8, of a wave64 by 4 (GRANULATED_WORKITEM_VGPR_COUNT).
_VGPR_ENCODING_GRANULE = {32: 8, 64: 4}

# Name, dwords and bit in KERNEL_CODE_PROPERTIES, in the order in which the hardware loads them
# ("Initial Kernel Execution State", table "SGPR Register Set Up Order").
_USER_SGPRS = (
    ("private_segment_buffer", 4, 0),
    ("dispatch_ptr", 2, 1),
    ("queue_ptr", 2, 2),
    ("kernarg_segment_ptr", 2, 3),
    ("dispatch_id", 2, 4),
    ("flat_scratch_init", 2, 5),
    ("private_segment_size", 1, 6),
)


@dataclass(frozen=True, slots=True)
class UserSgpr:
    """`dwords` SGPRs from `first` on that hold `name` when a wave starts."""

    name: str
    first: int
    dwords: int


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """The decoded descriptor of one kernel.

    group_segment_bytes: static LDS; private_segment_bytes: scratch of one work-item; kernarg_size:
    bytes. entry_offset: bytes from the descriptor's address to the first instruction. vgpr_count:
    allocated as encoded, a multiple of 8 (wave32) or 4 (wave64). float_round_mode_*: 0 nearest
    even, 1 up, 2 down, 3 towards zero. float_denorm_mode_*: bit 0 keeps denormal sources, bit 1
    keeps denormal results. user_sgpr_count: SGPRs loaded before the system ones.
    workitem_id_components: 1 x, 2 x and y, 3 all. wgp_mode: a workgroup's waves spread over both
    CUs of a workgroup processor. ieee_mode, dx10_clamp: None on processors without such a bit
    (GFX12). kernarg_preload_dwords, kernarg_preload_offset: dwords of kernarg that are loaded into
    SGPRs after the user SGPRs.
    """

    group_segment_bytes: int
    private_segment_bytes: int
    kernarg_size: int
    entry_offset: int
    compute_pgm_rsrc1: int
    compute_pgm_rsrc2: int
    compute_pgm_rsrc3: int
    kernel_code_properties: int
    kernarg_preload: int
    is_gfx12: bool

    @property
    def wave_size(self) -> int:
        """Lanes of a wave: 32 or 64."""
        return 32 if self.kernel_code_properties >> 10 & 1 else 64

    @property
    def uses_dynamic_stack(self) -> bool:
        """Whether scratch may grow beyond `private_segment_bytes`."""
        return bool(self.kernel_code_properties >> 11 & 1)

    @property
    def user_sgprs(self) -> tuple[UserSgpr, ...]:
        """The user SGPRs that are enabled, each with its place; kernarg preload follows them."""
        placed: list[UserSgpr] = []
        first = 0
        for name, dwords, bit in _USER_SGPRS:
            if self.kernel_code_properties >> bit & 1:
                placed.append(UserSgpr(name, first, dwords))
                first += dwords
        return tuple(placed)

    @property
    def kernarg_preload_dwords(self) -> int:
        """Dwords of kernel arguments that a wave begins with in user SGPRs
        (KERNARG_PRELOAD_SPEC_LENGTH)."""
        return self.kernarg_preload & 0x7F

    @property
    def kernarg_preload_offset(self) -> int:
        """Which dword of the kernel arguments is the first of these
        (KERNARG_PRELOAD_SPEC_OFFSET)."""
        return self.kernarg_preload >> 7

    @property
    def vgpr_count(self) -> int:
        """VGPRs of a wave, rounded up to the unit of allocation
        (GRANULATED_WORKITEM_VGPR_COUNT)."""
        return ((self.compute_pgm_rsrc1 & 0x3F) + 1) * _VGPR_ENCODING_GRANULE[self.wave_size]

    @property
    def float_round_mode_32(self) -> int:
        """How f32 rounds when a wave begins: 0 to nearest even, 1 up, 2 down, 3 to zero."""
        return self.compute_pgm_rsrc1 >> 12 & 3

    @property
    def float_round_mode_16_64(self) -> int:
        """The same of f16 and f64."""
        return self.compute_pgm_rsrc1 >> 14 & 3

    @property
    def float_denorm_mode_32(self) -> int:
        """Which denormals of f32 become 0: 0 operands and results, 1 results, 2 operands, 3
        none."""
        return self.compute_pgm_rsrc1 >> 16 & 3

    @property
    def float_denorm_mode_16_64(self) -> int:
        """The same of f16 and f64."""
        return self.compute_pgm_rsrc1 >> 18 & 3

    @property
    def dx10_clamp(self) -> bool | None:
        """Whether a clamped NaN is 0 (ENABLE_DX10_CLAMP); None on GFX12, which has no such bit."""
        return None if self.is_gfx12 else bool(self.compute_pgm_rsrc1 >> 21 & 1)

    @property
    def ieee_mode(self) -> bool | None:
        """Whether signalling NaNs are quieted (ENABLE_IEEE_MODE); None on GFX12, which has no such
        bit."""
        return None if self.is_gfx12 else bool(self.compute_pgm_rsrc1 >> 23 & 1)

    @property
    def fp16_overflow(self) -> bool:
        """Whether f16 results that overflow are clamped to the largest finite number."""
        return bool(self.compute_pgm_rsrc1 >> 26 & 1)

    @property
    def wgp_mode(self) -> bool:
        """Whether the waves of a workgroup may be on both CUs of a WGP (WGP_MODE)."""
        return bool(self.compute_pgm_rsrc1 >> 29 & 1)

    @property
    def memory_ordered(self) -> bool:
        """Whether loads return in order (MEM_ORDERED)."""
        return bool(self.compute_pgm_rsrc1 >> 30 & 1)

    @property
    def forward_progress(self) -> bool:
        """Whether waves take turns so that each goes on, instead of the oldest first
        (FWD_PROGRESS)."""
        return bool(self.compute_pgm_rsrc1 >> 31 & 1)

    @property
    def enable_private_segment(self) -> bool:
        """Whether the kernel has private memory (ENABLE_PRIVATE_SEGMENT)."""
        return bool(self.compute_pgm_rsrc2 & 1)

    @property
    def user_sgpr_count(self) -> int:
        """User SGPRs that are enabled (USER_SGPR_COUNT)."""
        return self.compute_pgm_rsrc2 >> 1 & 0x1F

    @property
    def enable_workgroup_id(self) -> tuple[bool, bool, bool]:
        """Whether the workgroup's x, y, z ids are asked for."""
        bits = self.compute_pgm_rsrc2
        return bool(bits >> 7 & 1), bool(bits >> 8 & 1), bool(bits >> 9 & 1)

    @property
    def enable_workgroup_info(self) -> bool:
        """Whether the workgroup's information is asked for (ENABLE_SGPR_WORKGROUP_INFO)."""
        return bool(self.compute_pgm_rsrc2 >> 10 & 1)

    @property
    def workitem_id_components(self) -> int:
        """How many of the work-item's x, y, z are asked for: 1 to 3 (ENABLE_VGPR_WORKITEM_ID)."""
        return (self.compute_pgm_rsrc2 >> 11 & 3) + 1

    @property
    def inst_pref_size(self) -> int | None:
        """Instruction prefetch in 128-byte lines (bits 11:4 of rsrc3); None before GFX12."""
        return self.compute_pgm_rsrc3 >> 4 & 0xFF if self.is_gfx12 else None


def read_descriptor(data: bytes, is_gfx12: bool) -> KernelDescriptor:
    """Decode the 64 bytes of a `.kd` symbol; MalformedCodeObject if they are not a sound
    descriptor."""
    group, private, kernarg, entry, rsrc3, rsrc1, rsrc2, properties, preload = unpack_at(
        _LAYOUT, data, 0, "kernel descriptor"
    )
    descriptor = KernelDescriptor(
        group,
        private,
        kernarg_size=kernarg,
        entry_offset=entry,
        compute_pgm_rsrc1=rsrc1,
        compute_pgm_rsrc2=rsrc2,
        compute_pgm_rsrc3=rsrc3,
        kernel_code_properties=properties,
        kernarg_preload=preload,
        is_gfx12=is_gfx12,
    )
    if descriptor.workitem_id_components == 4:
        raise MalformedCodeObject(
            "kernel descriptor: ENABLE_VGPR_WORKITEM_ID is 3, which is undefined"
        )
    return descriptor
