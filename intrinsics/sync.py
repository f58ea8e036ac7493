"""Barriers and fences.

Sources: LLVM AMDGPU guide, "Memory Model GFX12" and "Memory Scopes"; RDNA4 ISA, `s_barrier_signal`, `s_barrier_wait`.
"""

from __future__ import annotations

from typing import Annotated

from amdjit.declarations import Emit, EmitContext, LlvmCall, device_function, intrinsic
from amdjit.types import VOID, Choice

# How the public scope names are called in LLVM: AMDGPU guide, "Memory Scopes".
SYNC_SCOPES = {"system": "", "agent": "agent", "workgroup": "workgroup", "wavefront": "wavefront"}
ORDERINGS = {
    "relaxed": "monotonic",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "seq_cst": "seq_cst",
}
MEMORIES: dict[str, tuple[str, ...]] = {"all": (), "global": ("global",), "lds": ("local",)}

Scope = Annotated[str, Choice(*SYNC_SCOPES)]
Order = Annotated[str, Choice(*ORDERINGS)]
FenceOrder = Annotated[str, Choice(*(name for name in ORDERINGS if name != "relaxed"))]
Memory = Annotated[str, Choice(*MEMORIES)]


def _emit_fence(context: EmitContext, order: str, scope: str, memory: str) -> None:
    context.fence(ORDERINGS[order], SYNC_SCOPES[scope], MEMORIES[memory])


@intrinsic(Emit(_emit_fence))
def fence(order: FenceOrder, scope: Scope, memory: Memory) -> VOID:
    """Order this work-item's accesses to a memory for all observers in a scope (LLVM `fence syncscope(...)`)."""


@intrinsic(LlvmCall("llvm.amdgcn.s.barrier"), isa="s_barrier_wait")
def workgroup_barrier() -> VOID:
    """Wait for all waves of the workgroup, without any fence (`__builtin_amdgcn_s_barrier`)."""


@intrinsic(LlvmCall("llvm.amdgcn.wave.barrier"))
def wave_barrier() -> VOID:
    """Keep the compiler from moving memory accesses across; no instruction (`__builtin_amdgcn_wave_barrier`)."""


@device_function
def syncthreads():
    """Wait for all work-items of the workgroup; what each wrote before, to LDS or global memory, all see after.

    CUDA's `__syncthreads()`. All work-items of the workgroup must reach the same call.
    """
    fence("release", "workgroup", "all")
    workgroup_barrier()
    fence("acquire", "workgroup", "all")


@device_function
def lds_barrier():
    """Like `syncthreads`, for LDS only: loads and stores of global memory stay in flight across it, which is faster."""
    fence("release", "workgroup", "lds")
    workgroup_barrier()
    fence("acquire", "workgroup", "lds")


@device_function
def threadfence():
    """Order this work-item's writes before it for the whole device (CUDA's `__threadfence()`)."""
    fence("acq_rel", "agent", "all")


@device_function
def threadfence_block():
    """Order this work-item's writes before it for its workgroup (CUDA's `__threadfence_block()`)."""
    fence("acq_rel", "workgroup", "all")


@device_function
def threadfence_system():
    """Order this work-item's writes before it for host and other devices (CUDA's `__threadfence_system()`)."""
    fence("acq_rel", "system", "all")
