"""Ids, lane exchange, barriers and scheduling under clang's builtin names: same arguments, order and types.

Public as `amdjit.intrinsics.amdgcn`. Sources: clang's AMDGPU builtins; LLVM AMDGPU guide, "LLVM IR Intrinsics";
RDNA4 ISA, 16 "Instructions".
"""

from __future__ import annotations

from typing import Annotated

from amdjit.declarations import As, LlvmCall, intrinsic
from amdjit.target import Feature
from amdjit.types import VOID, Immediate, boolean, i16, i32, u32, u64

Flag = Annotated[bool, Immediate(0, 1)]


@intrinsic(LlvmCall("llvm.amdgcn.workitem.id.x"))
def workitem_id_x() -> u32:
    """Return the work-item's index in its workgroup along x."""


@intrinsic(LlvmCall("llvm.amdgcn.workitem.id.y"))
def workitem_id_y() -> u32:
    """Return the work-item's index in its workgroup along y."""


@intrinsic(LlvmCall("llvm.amdgcn.workitem.id.z"))
def workitem_id_z() -> u32:
    """Return the work-item's index in its workgroup along z."""


@intrinsic(LlvmCall("llvm.amdgcn.workgroup.id.x"))
def workgroup_id_x() -> u32:
    """Return the workgroup's index in the grid along x."""


@intrinsic(LlvmCall("llvm.amdgcn.workgroup.id.y"))
def workgroup_id_y() -> u32:
    """Return the workgroup's index in the grid along y."""


@intrinsic(LlvmCall("llvm.amdgcn.workgroup.id.z"))
def workgroup_id_z() -> u32:
    """Return the workgroup's index in the grid along z."""


@intrinsic(LlvmCall("llvm.amdgcn.mbcnt.lo"), isa="v_mbcnt_lo_u32_b32")
def mbcnt_lo(mask: u32, base: u32) -> u32:
    """Return base + the bits of the mask below this lane's, of lanes 0..31."""


@intrinsic(LlvmCall("llvm.amdgcn.mbcnt.hi"))
def mbcnt_hi(mask: u32, base: u32) -> u32:
    """Return base + the bits of the mask below this lane's, of lanes 32..63 (wave32 has none: base itself)."""


@intrinsic(LlvmCall("llvm.amdgcn.readlane.i32"), isa="v_readlane_b32")
def readlane(value: i32, lane: i32) -> i32:
    """Return one lane's value in all lanes."""


@intrinsic(LlvmCall("llvm.amdgcn.readfirstlane.i32"), isa="v_readfirstlane_b32")
def readfirstlane(value: i32) -> i32:
    """Return the first active lane's value in all lanes."""


@intrinsic(LlvmCall("llvm.amdgcn.ds.bpermute"), isa="ds_bpermute_b32")
def ds_bpermute(address: i32, value: i32) -> i32:
    """Return the value of lane address / 4."""


@intrinsic(LlvmCall("llvm.amdgcn.ds.permute"), isa="ds_permute_b32")
def ds_permute(address: i32, value: i32) -> i32:
    """Send the value to lane address / 4."""


@intrinsic(LlvmCall("llvm.amdgcn.ds.swizzle"), isa="ds_swizzle_b32")
def ds_swizzle(value: i32, pattern: Annotated[int, Immediate(0, 0xFFFF)]) -> i32:
    """Exchange values by a compile-time pattern."""


@intrinsic(LlvmCall("llvm.amdgcn.permlane16.i32"), isa="v_permlane16_b32")
def permlane16(old: u32, value: u32, low: u32, high: u32, fetch_inactive: Flag, bound_control: Flag) -> u32:
    """Permute within rows of 16 lanes by 4-bit selectors."""


@intrinsic(LlvmCall("llvm.amdgcn.permlanex16.i32"), isa="v_permlanex16_b32")
def permlanex16(old: u32, value: u32, low: u32, high: u32, fetch_inactive: Flag, bound_control: Flag) -> u32:
    """Permute from the other row of 16 lanes by 4-bit selectors."""


@intrinsic(LlvmCall("llvm.amdgcn.mov.dpp8.i32"), isa="v_mov_b32_dpp")
def mov_dpp8(value: u32, selectors: Annotated[int, Immediate(0, 0xFFFFFF)]) -> u32:
    """Permute within groups of 8 lanes by 3-bit selectors."""


@intrinsic(LlvmCall("llvm.amdgcn.ballot.i32"), isa="v_cmp", wave_sizes=(32,), alternative="amdgcn.ballot_w64")
def ballot_w32(predicate: boolean) -> u32:
    """Return a bit a lane: set where the lane is active and the predicate true."""


@intrinsic(LlvmCall("llvm.amdgcn.ballot.i64"), isa="v_cmp")
def ballot_w64(predicate: boolean) -> u64:
    """Return a bit a lane; wave32 leaves the upper half 0."""


@intrinsic(LlvmCall("llvm.amdgcn.wave.barrier"))
def wave_barrier() -> VOID:
    """Keep the compiler from moving memory accesses across."""


@intrinsic(LlvmCall("llvm.amdgcn.s.barrier"), isa="s_barrier_wait")
def s_barrier() -> VOID:
    """Wait for all waves of the workgroup, without a fence."""


@intrinsic(
    LlvmCall("llvm.amdgcn.s.barrier.signal"), isa="s_barrier_signal", features=frozenset({Feature.SPLIT_BARRIER})
)
def s_barrier_signal(barrier: Annotated[int, Immediate(-1, -1)]) -> VOID:
    """Say that this wave has reached the workgroup's barrier (-1)."""


@intrinsic(
    LlvmCall("llvm.amdgcn.s.barrier.wait", (As("barrier", i16),)),
    isa="s_barrier_wait",
    features=frozenset({Feature.SPLIT_BARRIER}),
)
def s_barrier_wait(barrier: Annotated[int, Immediate(-1, -1)]) -> VOID:
    """Wait until all waves have signalled the workgroup's barrier (-1)."""


@intrinsic(LlvmCall("llvm.amdgcn.sched.barrier"))
def sched_barrier(mask: Annotated[int, Immediate(0, 0x7FF)]) -> VOID:
    """Keep the scheduler from moving instructions across, but for the kinds in the mask."""


@intrinsic(LlvmCall("llvm.amdgcn.sched.group.barrier"))
def sched_group_barrier(
    mask: Annotated[int, Immediate(0, 0x7FF)],
    size: Annotated[int, Immediate(0, 255)],
    group: Annotated[int, Immediate(0, 255)],
) -> VOID:
    """Ask the scheduler for a group of `size` instructions of the kinds in the mask."""


@intrinsic(LlvmCall("llvm.amdgcn.s.sleep"), isa="s_sleep")
def s_sleep(duration: Annotated[int, Immediate(0, 127)]) -> VOID:
    """Sleep for about 64 clocks times the duration."""


@intrinsic(LlvmCall("llvm.amdgcn.s.setprio", (As("priority", i16),)), isa="s_setprio")
def s_setprio(priority: Annotated[int, Immediate(0, 3)]) -> VOID:
    """Set the wave's priority."""
