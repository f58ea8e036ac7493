"""The kernarg segment and the dispatch packet of a launch, and the SGPRs that point to them."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import Kernel
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.layout import (
    PRIVATE_APERTURE_HIGH,
    SCALAR_SLOTS,
    SCRATCH_BASE,
    SHARED_APERTURE_HIGH,
    UNUSED_SLOT,
    Launch,
)
from amdjit.isa.instruction_set import InstructionSet, ScratchSetup
from amdjit.isa.register_numbers import FLAT_SCRATCH_HI, FLAT_SCRATCH_LO, TTMP9
from amdjit.late_methods import dataclass

# The sizes of the AQL kernel dispatch packet and of amd_queue_t (HSA specification; LLVM AMDGPU
# guide, "Kernel Dispatch"), to which SGPRs may point.
PACKET_BYTES = 64
_QUEUE_BYTES = 256
# The barrier of a cooperative launch's grid, `struct mg_info` of ROCm's device library: no other
# grids (a null pointer, this one's number, how many there are), the work-items of those before and
# of all, two words that count arrivals, and the workgroups of this grid.
_GRID_BARRIER = struct.Struct("<QIIQQIII20x")
GRID_BARRIER_BYTES = _GRID_BARRIER.size
# RDNA 4 ISA, 3.3: SGPRs 0 to 105 are free for all uses.
_SGPRS = 106
# Fields of dword 3 of gfx9's buffer resource (CDNA 3 ISA, "Buffer Resource Descriptor").
ADDS_LANE = 1 << 23
_STRIDE_64, _DWORD_ELEMENTS, _FORMAT_32, _UNSIGNED = 3 << 21, 1 << 19, 4 << 15, 4 << 12
_AXES = "xyz"
_PLACE = (Launch.X_SLOT, Launch.Y_SLOT, Launch.Z_SLOT, Launch.WAVE_OFFSET_SLOT)


@dataclass(frozen=True, slots=True)
class Hidden:
    """The addresses of what hidden arguments point to, 0 for what a launch does not have.

    hostcall_buffer, printf_buffer, heap_v1: where a kernel asks the host for something, puts text,
    and allocates memory.
    """

    hostcall_buffer: int = 0
    printf_buffer: int = 0
    heap_v1: int = 0


NOTHING_HIDDEN = Hidden()


def hidden_value(kind: str, geometry: LaunchShape, hidden: Hidden, meeting: int) -> int:
    """Return what a hidden argument holds (LLVM AMDGPU guide, code object V5 "Kernel Argument
    Metadata").

    meeting: where workgroups meet. There are no queues here: their pointers are null.
    """
    name = kind.removeprefix("hidden_")
    if name[-2:-1] == "_" and name[-1] in _AXES:
        axis = _AXES.index(name[-1])
        by_axis = {"block_count": geometry.grid[axis], "group_size": geometry.block[axis]}
        return by_axis.get(name[:-2], 0)
    values = {
        "grid_dims": geometry.dimensions,
        "dynamic_lds_size": geometry.dynamic_lds,
        "private_base": PRIVATE_APERTURE_HIGH,
        "shared_base": SHARED_APERTURE_HIGH,
        "multigrid_sync_arg": meeting if geometry.cooperative else 0,
        "hostcall_buffer": hidden.hostcall_buffer,
        "printf_buffer": hidden.printf_buffer,
        "heap_v1": hidden.heap_v1,
    }
    return values.get(name, 0)


def segment_size(kernel: Kernel) -> int:
    """Return how many bytes hold the kernarg segment, the packet, the queue and, at the end, the
    barrier of the grid, which kernels write.

    The kernarg segment is padded, because loads of whole vectors may read beyond its end.
    """
    return _padded(kernel) + PACKET_BYTES + _QUEUE_BYTES + GRID_BARRIER_BYTES


def explicit_size(kernel: Kernel) -> int:
    """Return how many bytes of the segment the explicit arguments take."""
    return max(
        (argument.offset + argument.size for argument in kernel.metadata.explicit_arguments),
        default=0,
    )


def _padded(kernel: Kernel) -> int:
    size = max(kernel.metadata.kernarg_size, kernel.descriptor.kernarg_size)
    return -(-size // 64) * 64 + 64


def build_segment(
    kernel: Kernel,
    geometry: LaunchShape,
    explicit: bytes,
    address: int,
    hidden: Hidden = NOTHING_HIDDEN,
) -> bytearray:
    """Return the bytes of the kernarg segment at `address`, and of what follows it.

    LaunchError if `explicit` does not cover the kernel's arguments.
    """
    data = bytearray(segment_size(kernel))
    meeting = len(data) - GRID_BARRIER_BYTES
    needed = explicit_size(kernel)
    if not needed <= len(explicit) <= max(needed, kernel.metadata.kernarg_size):
        raise LaunchError(
            f"{kernel.name}: {len(explicit)} bytes of arguments were given, it takes {needed}"
        )
    data[: len(explicit)] = explicit
    for argument in kernel.metadata.arguments:
        if argument.is_hidden:
            value = hidden_value(argument.value_kind, geometry, hidden, address + meeting)
            place = slice(argument.offset, argument.offset + argument.size)
            data[place] = value.to_bytes(argument.size, "little")
    start = _padded(kernel)
    data[start : start + PACKET_BYTES] = _packet(kernel, geometry, address)
    data[meeting:] = grid_barrier_state(geometry)
    return data


def grid_barrier_state(geometry: LaunchShape) -> bytes:
    """Return the grid barrier as it is before a launch: no workgroup has arrived."""
    workgroups = geometry.workgroups
    return _GRID_BARRIER.pack(0, 0, 0, 0, workgroups * geometry.items, 0, 0, workgroups)


def _packet(kernel: Kernel, geometry: LaunchShape, kernarg: int) -> bytes:
    """The AQL kernel dispatch packet (HSA platform specification 1.2, 2.9.6)."""
    sizes = [geometry.grid[axis] * geometry.block[axis] for axis in range(3)]
    head = struct.pack("<HH3HH3I", 2, 3, *geometry.block, 0, *(size & 0xFFFFFFFF for size in sizes))
    lds = kernel.descriptor.group_segment_bytes + geometry.dynamic_lds
    body = struct.pack("<IIQQQQ", kernel.descriptor.private_segment_bytes, lds, 0, kernarg, 0, 0)
    return (head + body).ljust(PACKET_BYTES, b"\0")


def user_sgprs(
    kernel: Kernel, segment: bytes | memoryview, address: int, dispatch_id: int
) -> list[tuple[int, int]]:
    """Return the user SGPRs as (SGPR, value); `segment` is at `address`. LaunchError if one is not
    emulated."""
    packet = address + _padded(kernel)
    values = {
        "dispatch_ptr": packet,
        "queue_ptr": packet + PACKET_BYTES,
        "kernarg_segment_ptr": address,
        "dispatch_id": dispatch_id,
        "private_segment_buffer": _private_segment_buffer(),
        "flat_scratch_init": SCRATCH_BASE,
        "private_segment_size": kernel.descriptor.private_segment_bytes,
    }
    pairs = []
    end = 0
    for sgpr in kernel.descriptor.user_sgprs:
        if sgpr.name not in values:
            raise LaunchError(f"{kernel.name}: the emulator does not set up {sgpr.name}")
        for part in range(sgpr.dwords):
            pairs.append((sgpr.first + part, values[sgpr.name] >> 32 * part & 0xFFFFFFFF))
        end = sgpr.first + sgpr.dwords
    return pairs + _preloaded(kernel, segment, end)


def _private_segment_buffer() -> int:
    """Return a resource for scratch memory: without bounds, swizzled, with dwords of 64 lanes side
    by side, and the number of the lane added (LLVM AMDGPU guide, "Private Segment Buffer")."""
    swizzled, records = 1 << 31, 0xFFFFFFFF
    word3 = ADDS_LANE | _STRIDE_64 | _DWORD_ELEMENTS | _FORMAT_32 | _UNSIGNED
    return SCRATCH_BASE | swizzled << 32 | records << 64 | word3 << 96


def place_slots(kernel: Kernel, instruction_set: InstructionSet) -> dict[Launch, int]:
    """Return the slots of the scalar state for the x, y and z of a workgroup, and for the wave's
    offset.

    gfx12 has x in TTMP9, and the others where `workgroup_begin` puts them; other families have
    those that are asked for in SGPRs after the user SGPRs (LLVM AMDGPU guide, "SGPR Register Set Up
    Order"). On gfx9 the wave's offset in scratch memory follows, unless FLAT_SCRATCH begins with
    the address.
    """
    descriptor = kernel.descriptor
    if descriptor.is_gfx12:
        return dict(zip(_PLACE, (TTMP9, *[UNUSED_SLOT] * 3), strict=True))
    following = descriptor.user_sgpr_count
    slots = []
    for is_enabled in descriptor.enable_workgroup_id:
        slots.append(following if is_enabled else UNUSED_SLOT)
        following += is_enabled
    if descriptor.enable_workgroup_info or following > _SGPRS:
        raise LaunchError(
            f"{kernel.name}: the emulator does not set up the workgroup's information"
        )
    offset = UNUSED_SLOT
    if instruction_set.scratch is ScratchSetup.ARCHITECTED:
        offset = FLAT_SCRATCH_LO
    elif instruction_set.scratch is ScratchSetup.BY_CODE and descriptor.enable_private_segment:
        offset = following
    return dict(zip(_PLACE, [*slots, offset], strict=True))


def first_scalars(instruction_set: InstructionSet) -> NDArray[np.uint32]:
    """Return what the scalar state begins with on all launches: the upper dword of the address in
    FLAT_SCRATCH, whose lower dword is the wave's offset."""
    scalars: NDArray[np.uint32] = np.zeros(SCALAR_SLOTS, np.uint32)
    if instruction_set.scratch is ScratchSetup.ARCHITECTED:
        scalars[FLAT_SCRATCH_HI] = SCRATCH_BASE >> 32
    return scalars


def _preloaded(kernel: Kernel, segment: bytes | memoryview, first: int) -> list[tuple[int, int]]:
    descriptor = kernel.descriptor
    start = 4 * descriptor.kernarg_preload_offset
    count = descriptor.kernarg_preload_dwords
    if start + 4 * count > _padded(kernel) or first + count > _SGPRS:
        raise LaunchError(
            f"{kernel.name}: {count} dwords of arguments from byte {start} on cannot be put in "
            "registers"
        )
    dwords = struct.unpack_from(f"<{count}I", segment, start)
    return [(first + index, value) for index, value in enumerate(dwords)]
