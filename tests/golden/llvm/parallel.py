"""Lanes and waves together: atomics, barriers, fences, moves between lanes, matrix products."""

import amdjit
from amdjit import f16, f32, i32, shared, threadIdx, u32
from amdjit.intrinsics import atomic, matrix, sync, wave


@amdjit.kernel
def atomics(a: i32[:], b: u32[:], f: f32[:]):
    """Atomics are relaxed and of the whole GPU unless they say otherwise."""
    atomic.add(a, 0, 1)
    atomic.max(a, 1, 2)
    atomic.max(b, 1, 2)
    atomic.add(f, 0, 1.0)
    atomic.cas(a, 2, 0, 1)
    # CHECK: atomicrmw add ptr addrspace(1) %?, i32 1 syncscope("agent") monotonic
    # CHECK: atomicrmw max ptr addrspace(1) %?, i32 2 syncscope("agent") monotonic
    # CHECK: atomicrmw umax ptr addrspace(1) %?, i32 2 syncscope("agent") monotonic
    # CHECK: atomicrmw fadd ptr addrspace(1) {{.*}}, !amdgpu.no.fine.grained.memory
    # CHECK: cmpxchg ptr addrspace(1) %?, i32 0, i32 1 syncscope("agent") monotonic monotonic


@amdjit.kernel
def order_and_scope(a: i32[:]):
    """An atomic's order and scope are LLVM's."""
    atomic.add(a, 0, 1, order="acq_rel", scope="workgroup")
    # CHECK: atomicrmw add ptr addrspace(1) %?, i32 1 syncscope("workgroup") acq_rel


@amdjit.kernel
def barrier(a: f32[:]):
    """A barrier stands between a release and an acquire of all memory in the workgroup."""
    a[threadIdx.x] += 1.0
    amdjit.syncthreads()
    # CHECK: fence syncscope("workgroup") release
    # CHECK-NEXT: call void @llvm.amdgcn.s.barrier()
    # CHECK-NEXT: fence syncscope("workgroup") acquire
    # CHECK-NOT: mmra


@amdjit.kernel
def barrier_for_lds(a: f32[:]):
    """`lds_barrier` orders LDS alone: its fences name the memory that they are about."""
    tile = shared.array(64, f32)
    tile[threadIdx.x] = a[threadIdx.x]
    sync.lds_barrier()
    a[threadIdx.x] = tile[threadIdx.x ^ 1]
    # CHECK: fence syncscope("workgroup") release, !mmra
    # CHECK-NEXT: call void @llvm.amdgcn.s.barrier()
    # CHECK-NEXT: fence syncscope("workgroup") acquire, !mmra
    # CHECK: = !{ !"amdgpu-synchronize-as", !"local" }


@amdjit.kernel
def split_barrier(a: i32[:]):
    """A signal releases what came before it, and its wait acquires what others released."""
    sync.barrier_signal()
    a[threadIdx.x] += 1
    sync.barrier_wait()
    # CHECK: fence syncscope("workgroup") release
    # CHECK-NEXT: call void @llvm.amdgcn.s.barrier.signal(i32 -1)
    # CHECK: call void @llvm.amdgcn.s.barrier.wait(i16 -1)
    # CHECK-NEXT: fence syncscope("workgroup") acquire


@amdjit.kernel
def fence_of_the_device(a: f32[:]):
    """`threadfence` is a fence of the whole GPU."""
    sync.threadfence()
    # CHECK: fence syncscope("agent") acq_rel


@amdjit.kernel
def moves_between_lanes(a: f32[:]):
    """A float moves between lanes as the integer of its bits."""
    a[0] = wave.readfirstlane(a[threadIdx.x])
    # CHECK: %bits = bitcast float %? to i32
    # CHECK-NEXT: %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %bits)
    # CHECK-NEXT: bitcast i32 %first to float


@amdjit.kernel(wave_size=64)
def ballot_of_64_lanes(a: i32[:]):
    """A ballot has a bit for each lane of the wave."""
    a[0] = amdjit.intrinsics.arithmetic.popcount(wave.ballot64(a[threadIdx.x] > 0))
    # CHECK: %votes = call i64 @llvm.amdgcn.ballot.i64(i1 %?)


@amdjit.kernel
def matrix_product(a: f16[:], b: f16[:], c: f32[:]):
    """A matrix instruction takes and returns the lane's part of each operand as a vector."""
    t = threadIdx.x
    d = matrix.wmma_f32_16x16x16_f16(a.load(8 * t, 8), b.load(8 * t, 8), c.load(8 * t, 8))
    c.store(8 * t, d)
    # CHECK: call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16(<8 x half> %?, <8 x half> %?, <8 x float> %?)
