"""Ids, lane exchange, barriers and scheduling under clang's builtin names: same arguments, order
and types.

Public as `amdjit.intrinsics.amdgcn`. Sources: clang's AMDGPU builtins; LLVM AMDGPU guide, "LLVM IR
Intrinsics"; RDNA4 ISA, 16 "Instructions".
"""

from __future__ import annotations

from typing import Annotated

from amdjit.declarations import As, Emit, LlvmCall
from amdjit.intrinsics.builtins.irregular import moved_of_eight
from amdjit.intrinsics.builtins.table import builtin
from amdjit.types import VOID, Immediate, boolean, i16, i32, u32, u64

Flag = Annotated[bool, Immediate(0, 1)]


@builtin(LlvmCall("llvm.amdgcn.workitem.id.x"))
def workitem_id_x() -> u32:
    """Return the work-item's index in its workgroup along x."""


@builtin(LlvmCall("llvm.amdgcn.workitem.id.y"))
def workitem_id_y() -> u32:
    """Return the work-item's index in its workgroup along y."""


@builtin(LlvmCall("llvm.amdgcn.workitem.id.z"))
def workitem_id_z() -> u32:
    """Return the work-item's index in its workgroup along z."""


@builtin(LlvmCall("llvm.amdgcn.workgroup.id.x"))
def workgroup_id_x() -> u32:
    """Return the workgroup's index in the grid along x."""


@builtin(LlvmCall("llvm.amdgcn.workgroup.id.y"))
def workgroup_id_y() -> u32:
    """Return the workgroup's index in the grid along y."""


@builtin(LlvmCall("llvm.amdgcn.workgroup.id.z"))
def workgroup_id_z() -> u32:
    """Return the workgroup's index in the grid along z."""


@builtin(LlvmCall("llvm.amdgcn.mbcnt.lo"))
def mbcnt_lo(mask: u32, base: u32) -> u32:
    """Return base + the bits of the mask below this lane's, of lanes 0..31."""


@builtin(LlvmCall("llvm.amdgcn.mbcnt.hi"))
def mbcnt_hi(mask: u32, base: u32) -> u32:
    """Return base + the bits of the mask below this lane's, of lanes 32..63 (wave32 has none and
    returns base)."""


@builtin(LlvmCall("llvm.amdgcn.readlane.i32"))
def readlane(value: i32, lane: i32) -> i32:
    """Return one lane's value in all lanes."""


@builtin(LlvmCall("llvm.amdgcn.readfirstlane.i32"))
def readfirstlane(value: i32) -> i32:
    """Return the first active lane's value in all lanes."""


@builtin(LlvmCall("llvm.amdgcn.ds.bpermute"))
def ds_bpermute(address: i32, value: i32) -> i32:
    """Return the value of lane address / 4."""


@builtin(LlvmCall("llvm.amdgcn.ds.permute"))
def ds_permute(address: i32, value: i32) -> i32:
    """Send the value to lane address / 4."""


@builtin(LlvmCall("llvm.amdgcn.ds.swizzle"))
def ds_swizzle(value: i32, pattern: Annotated[int, Immediate(0, 0xFFFF)]) -> i32:
    """Exchange values by a compile-time pattern."""


@builtin(LlvmCall("llvm.amdgcn.permlane16.i32"))
def permlane16(
    old: u32, value: u32, low: u32, high: u32, fetch_inactive: Flag, bound_control: Flag
) -> u32:
    """Permute within rows of 16 lanes by 4-bit selectors."""


@builtin(LlvmCall("llvm.amdgcn.permlanex16.i32"))
def permlanex16(
    old: u32, value: u32, low: u32, high: u32, fetch_inactive: Flag, bound_control: Flag
) -> u32:
    """Permute from the other row of 16 lanes by 4-bit selectors."""


@builtin(Emit(moved_of_eight))
def mov_dpp8(value: u32, selectors: Annotated[int, Immediate(0, 0xFFFFFF)]) -> u32:
    """Permute within groups of 8 lanes by 3-bit selectors."""


@builtin(LlvmCall("llvm.amdgcn.ballot.i32"))
def ballot_w32(predicate: boolean) -> u32:
    """Return one bit per lane, set where the lane is active and the predicate true."""


@builtin(LlvmCall("llvm.amdgcn.ballot.i64"))
def ballot_w64(predicate: boolean) -> u64:
    """Return one bit per lane; wave32 leaves the upper half 0."""


@builtin(LlvmCall("llvm.amdgcn.wave.barrier"))
def wave_barrier() -> VOID:
    """Keep the compiler from moving other operations of the whole wave across; `sync.wave_barrier`
    orders memory."""


@builtin(LlvmCall("llvm.amdgcn.s.barrier"))
def s_barrier() -> VOID:
    """Wait for all waves of the workgroup, without a fence."""


@builtin(LlvmCall("llvm.amdgcn.s.barrier.signal"))
def s_barrier_signal(barrier: Annotated[int, Immediate(-1, -1)]) -> VOID:
    """Say that this wave has reached the workgroup's barrier (-1)."""


@builtin(
    LlvmCall("llvm.amdgcn.s.barrier.wait", (As("barrier", i16),)),
)
def s_barrier_wait(barrier: Annotated[int, Immediate(-1, -1)]) -> VOID:
    """Wait until all waves have signalled the workgroup's barrier (-1)."""


@builtin(LlvmCall("llvm.amdgcn.sched.barrier"))
def sched_barrier(mask: Annotated[int, Immediate(0, 0x7FF)]) -> VOID:
    """Keep the scheduler from moving instructions across, except the kinds in the mask."""


@builtin(LlvmCall("llvm.amdgcn.sched.group.barrier"))
def sched_group_barrier(
    mask: Annotated[int, Immediate(0, 0x7FF)],
    size: Annotated[int, Immediate(0, 255)],
    group: Annotated[int, Immediate(0, 255)],
) -> VOID:
    """Ask the scheduler for a group of `size` instructions of the kinds in the mask."""


@builtin(LlvmCall("llvm.amdgcn.s.sleep"))
def s_sleep(duration: Annotated[int, Immediate(0, 127)]) -> VOID:
    """Sleep for about 64 clocks times the duration."""


@builtin(LlvmCall("llvm.amdgcn.s.setprio", (As("priority", i16),)))
def s_setprio(priority: Annotated[int, Immediate(0, 3)]) -> VOID:
    """Set the wave's priority."""
