"""The positions of work-items, barriers and fences: amdjit's own, which have Numba's names."""

from amdjit.intrinsics.sync import (
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    threadfence,
    threadfence_block,
    threadfence_system,
)
from amdjit.intrinsics.workitem import blockDim, blockIdx, grid, gridDim, gridsize, threadIdx

__all__ = [
    "blockDim",
    "blockIdx",
    "grid",
    "gridDim",
    "gridsize",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
]
