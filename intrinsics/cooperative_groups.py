"""CUDA's cooperative groups, as numba-cuda names them: `cooperative_groups.this_grid().sync()`.

A kernel that asks for the grid's group is launched cooperatively: all its workgroups run at the
same time. docs/cooperative.md says how large its grids may be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics import sync
from amdjit.intrinsics.workitem import blockDim, blockIdx, flat_work_item_id, gridDim
from amdjit.types import VOID, i64

__all__ = ["GridGroup", "ThreadBlock", "this_grid", "this_thread_block"]


def _emit_nothing(context: EmitContext) -> None:
    pass


@intrinsic(Emit(_emit_nothing), name="cooperative_groups.this_grid", meets=True)
def _belong_to_grid() -> VOID:
    """Make launches of the kernel cooperative; emit no instruction."""


class GridGroup(NamedTuple):
    """All work-items of the grid."""

    def sync(self) -> Any:
        """Wait for all work-items of the grid: `sync.grid()`."""
        sync.grid()

    def thread_rank(self) -> Any:
        """Return the work-item's number in the grid, an i64: along x first, workgroup by
        workgroup."""
        row = i64(blockIdx.y) + i64(gridDim.y) * blockIdx.z
        block = i64(blockIdx.x) + i64(gridDim.x) * row
        return block * (blockDim.x * blockDim.y * blockDim.z) + flat_work_item_id()

    def size(self) -> Any:
        """Return the number of work-items in the grid, an i64."""
        blocks = i64(gridDim.x) * gridDim.y * gridDim.z
        return blocks * (blockDim.x * blockDim.y * blockDim.z)


class ThreadBlock(NamedTuple):
    """All work-items of the workgroup."""

    def sync(self) -> Any:
        """Wait for all work-items of the workgroup: `syncthreads()`."""
        sync.syncthreads()

    def thread_rank(self) -> Any:
        """Return the work-item's number in its workgroup, an i32: along x first."""
        return flat_work_item_id()

    def size(self) -> Any:
        """Return the number of work-items in the workgroup, an i32."""
        return blockDim.x * blockDim.y * blockDim.z


@device_function
def this_grid():
    """Return the group of all work-items of the grid."""
    _belong_to_grid()
    return GridGroup()


@device_function
def this_thread_block():
    """Return the group of all work-items of the workgroup."""
    return ThreadBlock()
