"""Barriers and fences.

Sources: LLVM AMDGPU guide, "Memory Model GFX12" and "Memory Scopes"; RDNA4 ISA, `s_barrier_signal`,
`s_barrier_wait`.
"""

from __future__ import annotations

from typing import Annotated, Any

import amdjit.intrinsics as modules
from amdjit.declarations import As, Emit, EmitContext, LlvmCall, device_function, intrinsic
from amdjit.intrinsics.atomics.on_arrays import (
    ORDERINGS,
    SYNC_SCOPES,
    Scope,
    arrive,
    begin_round,
    end_wave,
    has_failed,
    round_of_grid,
)
from amdjit.intrinsics.lds import address_of, shared
from amdjit.intrinsics.numbers.integers import popcount
from amdjit.intrinsics.workitem import (
    MAX_WORKGROUP_SIZE,
    blockDim,
    gridDim,
    lane_id,
    threadIdx,
    wave_id,
    wavefront_size,
)
from amdjit.target import with_builtins_of
from amdjit.types import VOID, AddressSpace, Choice, Immediate, Pointer, boolean, i16, i32

MEMORIES: dict[str, tuple[str, ...]] = {"all": (), "global": ("global",), "lds": ("local",)}

# Split barriers and a counter for each kind of memory are gfx12's: RDNA4 ISA, "S_BARRIER_SIGNAL",
# "S_WAIT_LOADCNT".
_GFX12 = with_builtins_of("gfx1200", "gfx1201", "gfx1250")
_WHOLE = "sync.syncthreads"
_MOST_WAVES = MAX_WORKGROUP_SIZE // 32

FenceOrder = Annotated[str, Choice(*(name for name in ORDERINGS if name != "relaxed"))]
Memory = Annotated[str, Choice(*MEMORIES)]


def _emit_fence(context: EmitContext, order: str, scope: str, memory: str) -> None:
    context.fence(ORDERINGS[order], SYNC_SCOPES[scope], MEMORIES[memory])


@intrinsic(Emit(_emit_fence))
def fence(order: FenceOrder, scope: Scope, memory: Memory = "all") -> VOID:
    """Order this work-item's accesses to a memory for all observers in a scope (LLVM `fence
    syncscope(...)`)."""


@intrinsic(LlvmCall("llvm.amdgcn.s.barrier"), isa="s_barrier_wait")
def workgroup_barrier() -> VOID:
    """Wait for all waves of the workgroup, without any fence (`__builtin_amdgcn_s_barrier`)."""


@intrinsic(LlvmCall("llvm.amdgcn.wave.barrier"), name="wave_barrier")
def _keep_wave_together() -> VOID:
    """Keep the compiler from moving operations of the whole wave across, except memory accesses."""


@device_function
def wave_barrier():
    """Order the wave's memory accesses: after it, all lanes see what any of them wrote before, to
    LDS or global memory.

    CUDA's `__syncwarp()`. It is no instruction, because the lanes of a wave run in step and memory
    keeps the order of one wave's accesses. It keeps the compiler from moving accesses across it and
    from reusing values read before.
    """
    fence("release", "wavefront", "all")
    _keep_wave_together()
    fence("acquire", "wavefront", "all")


@intrinsic(
    LlvmCall("llvm.amdgcn.s.barrier.signal", (-1,)),
    isa="s_barrier_signal",
    targets=_GFX12,
    alternative=_WHOLE,
)
def _signal() -> VOID:
    """Signal that this wave has reached the workgroup's barrier, without any fence."""


@intrinsic(
    LlvmCall("llvm.amdgcn.s.barrier.wait", (As("barrier", i16),)),
    isa="s_barrier_wait",
    targets=_GFX12,
    alternative=_WHOLE,
)
def _wait(barrier: Annotated[int, Immediate(-1, -1)] = -1) -> VOID:
    """Wait until all waves have signalled the workgroup's barrier, without any fence."""


@device_function
def barrier_signal():
    """Signal the workgroup's barrier without waiting: `barrier_wait()` waits, and work in between
    hides the latency.

    All waves see after their wait what this wave wrote before its signal. Each wave does both,
    once, in this order.
    """
    fence("release", "workgroup", "all")
    _signal()


@device_function
def barrier_wait():
    """Wait until all waves of the workgroup have called `barrier_signal()`; their earlier writes
    are then visible."""
    _wait()
    fence("acquire", "workgroup", "all")


@intrinsic(
    LlvmCall("llvm.amdgcn.s.barrier.signal.isfirst", (-1,)),
    isa="s_barrier_signal_isfirst",
    targets=_GFX12,
    alternative=_WHOLE,
)
def _signal_isfirst() -> boolean:
    """Signal that this wave has reached the workgroup's barrier, without any fence; return whether
    it is the first."""


@device_function
def barrier_signal_isfirst():
    """Do `barrier_signal()` and return True in the first wave of the workgroup to arrive: for work
    that any one wave may do for all. `barrier_wait()` waits."""
    fence("release", "workgroup", "all")
    return _signal_isfirst()


@intrinsic(LlvmCall("llvm.amdgcn.s.sleep"), isa="s_sleep")
def sleep(duration: Annotated[int, Immediate(0, 127)]) -> VOID:
    """Sleep for about 64 clocks times the duration (`__builtin_amdgcn_s_sleep`): for loops that
    wait."""


@intrinsic(LlvmCall("llvm.amdgcn.s.setprio", (As("priority", i16),)), isa="s_setprio")
def setprio(priority: Annotated[int, Immediate(0, 3)]) -> VOID:
    """Set the wave's priority among those of its SIMD; waves start with 0
    (`__builtin_amdgcn_s_setprio`)."""


@intrinsic(LlvmCall("llvm.amdgcn.sched.barrier"))
def sched_barrier(mask: Annotated[int, Immediate(0, 0x7FF)] = 0) -> VOID:
    """Keep the scheduler from moving instructions across, except kinds in the mask; emits no
    instruction.

    mask: 1 everything but memory, 2 VALU, 4 SALU, 8 matrix, 16 VMEM, 32 VMEM loads, 64 VMEM stores,
    128 LDS, 256 LDS loads, 512 LDS stores, 1024 transcendental.
    """


@intrinsic(LlvmCall("llvm.amdgcn.sched.group.barrier"))
def sched_group_barrier(
    mask: Annotated[int, Immediate(0, 0x7FF)],
    size: Annotated[int, Immediate(0, 255)],
    group: Annotated[int, Immediate(0, 255)] = 0,
) -> VOID:
    """Ask the scheduler to place `size` instructions of the kinds in the mask next (see
    `sched_barrier`); emits no instruction.

    Calls with the same `group` in a block define the order of the pipeline.
    """


@intrinsic(
    LlvmCall("llvm.amdgcn.s.wait.loadcnt", (As("count", i16),)),
    isa="s_wait_loadcnt",
    targets=_GFX12,
)
def wait_loads(count: Annotated[int, Immediate(0, 63)] = 0) -> VOID:
    """Wait until at most `count` of the wave's loads from global memory are in flight
    (`s_wait_loadcnt`).

    The compiler inserts the waits that correctness needs; this one is for timing.
    """


@intrinsic(
    LlvmCall("llvm.amdgcn.s.wait.storecnt", (As("count", i16),)),
    isa="s_wait_storecnt",
    targets=_GFX12,
)
def wait_stores(count: Annotated[int, Immediate(0, 63)] = 0) -> VOID:
    """Wait until at most `count` of the wave's stores to global memory are in flight
    (`s_wait_storecnt`)."""


@intrinsic(
    LlvmCall("llvm.amdgcn.s.wait.kmcnt", (As("count", i16),)), isa="s_wait_kmcnt", targets=_GFX12
)
def wait_scalars(count: Annotated[int, Immediate(0, 31)] = 0) -> VOID:
    """Wait until at most `count` of the wave's scalar loads and messages are in flight
    (`s_wait_kmcnt`)."""


@intrinsic(
    LlvmCall("llvm.amdgcn.s.wait.dscnt", (As("count", i16),)), isa="s_wait_dscnt", targets=_GFX12
)
def wait_lds(count: Annotated[int, Immediate(0, 63)] = 0) -> VOID:
    """Wait until at most `count` of the wave's LDS operations are in flight (`s_wait_dscnt`)."""


@device_function
def syncthreads():
    """Wait for all work-items of the workgroup; all then see what any of them wrote before, to LDS
    or global memory.

    CUDA's `__syncthreads()`. All work-items of the workgroup must reach the same call.
    """
    fence("release", "workgroup", "all")
    workgroup_barrier()
    fence("acquire", "workgroup", "all")


@device_function
def syncthreads_count(predicate):
    """Do `syncthreads()`; return for how many work-items of the workgroup the predicate is true."""
    counts = shared.array(_MOST_WAVES, i32)
    true = i32(popcount(modules.wave.ballot64(bool(predicate))))
    if lane_id() == 0:
        counts[wave_id()] = true
    syncthreads()
    total = 0
    for wave in range(
        (blockDim.x * blockDim.y * blockDim.z + wavefront_size - 1) // wavefront_size
    ):
        total += counts[wave]
    # The next call writes where others may still read.
    syncthreads()
    return total


@device_function
def syncthreads_and(predicate):
    """Do `syncthreads()`; return whether the predicate is true for all work-items of the
    workgroup."""
    return syncthreads_count(predicate) == blockDim.x * blockDim.y * blockDim.z


@device_function
def syncthreads_or(predicate):
    """Do `syncthreads()`; return whether the predicate is true for any work-item of the
    workgroup."""
    return syncthreads_count(predicate) != 0


@device_function
def lds_barrier():
    """Like `syncthreads()`, for LDS only: accesses to global memory stay in flight across it, which
    is faster."""
    fence("release", "workgroup", "lds")
    workgroup_barrier()
    fence("acquire", "workgroup", "lds")


@device_function
def threadfence():
    """Order this work-item's writes before it for the whole device (CUDA's `__threadfence()`)."""
    fence("acq_rel", "agent", "all")


@device_function
def threadfence_block():
    """Order this work-item's writes before it for its workgroup (CUDA's
    `__threadfence_block()`)."""
    fence("acq_rel", "workgroup", "all")


@device_function
def threadfence_system():
    """Order this work-item's writes before it for host and other devices (CUDA's
    `__threadfence_system()`)."""
    fence("acq_rel", "system", "all")


@device_function
def _meet():
    """Arrive at the grid's barrier for a workgroup, and wait for all others."""
    round = round_of_grid()
    if arrive() == gridDim.x * gridDim.y * gridDim.z - 1:
        begin_round(round + 1)
    else:
        while round_of_grid() == round:
            # A workgroup whose waves have ended at an assertion never arrives.
            if has_failed():
                end_wave()
            sleep(2)


@device_function
def grid():
    """Wait for all work-items of the grid; all then see what any of them wrote before.

    CUDA's `this_grid().sync()`. All work-items of the grid must reach it equally often. It needs
    all workgroups at the same time, so the kernel's launches are cooperative: grids of at most
    `kernel.max_cooperative_grid(block)` workgroups.
    """
    fence("release", "agent", "all")
    workgroup_barrier()
    if threadIdx.x + threadIdx.y + threadIdx.z == 0:
        _meet()
        fence("acq_rel", "agent", "all")
    workgroup_barrier()
    if has_failed():
        end_wave()
    fence("acquire", "agent", "all")


# Barriers for some waves of a workgroup. Hardware has such objects only from GFX12.5 on (LLVM,
# "AMDGPU Execution Synchronization", "s_barrier IDs GFX12"), so these barriers are counters in LDS,
# which all processors have: how many waves have arrived since the barrier was made. Each round of a
# barrier is `waves` arrivals.
_COUNTER = Pointer(i32, AddressSpace.LDS)


def _emit_arrival(context: EmitContext, counter: Any, arrivals: Any) -> Any:
    return context.atomic_update("add", counter, arrivals, "monotonic", "workgroup")


def _emit_arrivals(context: EmitContext, counter: Any) -> Any:
    return context.atomic_load(i32, counter, "monotonic", "workgroup")


@intrinsic(Emit(_emit_arrival), isa="ds_add_rtn_u32")
def _count(counter: _COUNTER, arrivals: i32) -> i32:
    """Add to a counter in LDS; return the old value."""


@intrinsic(Emit(_emit_arrivals), isa="ds_load_b32")
def _counted(counter: _COUNTER) -> i32:
    """Read a counter in LDS, afresh each time."""


@intrinsic(LlvmCall("llvm.amdgcn.readfirstlane.i32"))
def _of_first_lane(value: i32) -> i32:
    """Return the first active lane's value in all lanes."""


@device_function
def named_barrier_init(barrier):
    """Make a `shared.array(1, i32)` a barrier for some waves of the workgroup. All work-items must
    call it, once."""
    if wave_id() == 0 and lane_id() == 0:
        barrier[0] = 0
    syncthreads()


@device_function
def named_barrier_arrive(barrier, waves):
    """Signal that this wave has arrived at a barrier of `waves` waves; return the round for
    `named_barrier_wait`.

    It does not wait: work in between hides the latency, and a wave that only hands something over
    never waits. Waves that wait see what this wave wrote before. All lanes of the wave must call
    it. waves: the same in all calls.
    """
    fence("release", "workgroup", "all")
    before = 0
    if lane_id() == 0:
        before = _count(address_of(barrier, 0), 1)
    before = _of_first_lane(before)
    return before - before % waves + waves


@device_function
def named_barrier_wait(barrier, round):
    """Wait until a round is complete; the writes of the waves that arrived are then visible.

    round: the result of `named_barrier_arrive`; for a wave that waits and never arrives, waves, 2 *
    waves, ...
    """
    while _counted(address_of(barrier, 0)) - round < 0:
        sleep(1)
    fence("acquire", "workgroup", "all")


@device_function
def named_barrier(barrier, waves):
    """Wait for `waves` waves of the workgroup, including this one; the others go on. See
    `named_barrier_init`.

    All of them then see what any of them wrote before, to LDS or global memory. All lanes of the
    wave must call it.
    """
    named_barrier_wait(barrier, named_barrier_arrive(barrier, waves))
