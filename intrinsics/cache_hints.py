"""Loads and stores with CUDA's cache hints, under numba-cuda's names.

An access of a CUDA GPU is told which caches to use; on AMD GPUs the same is said by the scope of an
access, which decides in which cache it may be answered, and by its temporal hint, which decides how
long data stay there. On gfx12:

| function | CUDA | here |
|---|---|---|
| `ldca` | cache at all levels | an ordinary load |
| `ldcg` | cache in L2 only | scope of the device: passes by the workgroup processor's L0 |
| `ldcs` | streaming | `TH:TH_LOAD_NT` |
| `ldlu` | last use | `TH:TH_LOAD_LU` |
| `ldcv` | do not cache, fetch again | scope of the system |
| `stwb` | write back at all levels | an ordinary store |
| `stcg` | cache in L2 only | scope of the device |
| `stcs` | streaming | `TH:TH_STORE_NT` |
| `stwt` | write through | scope of the system |

`index` is an integer, or a tuple with one for each axis.

Sources: PTX ISA, "Cache Operators"; RDNA4 ISA, 4.1.1 "Memory Scopes" and "Temporal Hints"; LLVM
AMDGPU guide, "Memory Model GFX12".
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics import atomic, memory

__all__ = ["ldca", "ldcg", "ldcs", "ldcv", "ldlu", "stcg", "stcs", "stwb", "stwt"]


@device_function
def ldca(array, index):
    """Return an element; it is kept in all caches."""
    return memory.load(array, index, "temporal")


@device_function
def ldcg(array, index):
    """Return an element as the L2 cache has it, which all workgroups share."""
    return atomic.load(array, index, "relaxed", "agent")


@device_function
def ldcs(array, index):
    """Return an element that will not be used again soon."""
    return memory.load(array, index, "non_temporal")


@device_function
def ldlu(array, index):
    """Return an element that will not be used again."""
    return memory.load(array, index, "last_use")


@device_function
def ldcv(array, index):
    """Return an element as memory has it, which the host and other devices may have written."""
    return atomic.load(array, index, "relaxed", "system")


@device_function
def stwb(array, index, value):
    """Write an element; it is kept in the caches."""
    memory.store(array, index, value, "temporal")


@device_function
def stcg(array, index, value):
    """Write an element to the L2 cache, which all workgroups share."""
    atomic.store(array, index, array.dtype(value), "relaxed", "agent")


@device_function
def stcs(array, index, value):
    """Write an element that will not be used again soon."""
    memory.store(array, index, value, "non_temporal")


@device_function
def stwt(array, index, value):
    """Write an element through to memory, where the host and other devices see it."""
    atomic.store(array, index, array.dtype(value), "relaxed", "system")
