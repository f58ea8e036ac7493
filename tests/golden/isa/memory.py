"""Memory: the accesses, the waits for them, and the barriers between them."""

import amdjit
from amdjit import f32, i32, shared, threadIdx
from amdjit.intrinsics import atomic, sync


@amdjit.kernel
def wide_access(a: f32[:], out: f32[:]):
    """Four floats are one access, with a scalar base and a 32-bit offset."""
    i = threadIdx.x
    out.store(4 * i, a.load(4 * i, 4))
    # CHECK: v_lshlrev_b32_e32 v4, 4, v0
    # CHECK-NEXT: s_wait_kmcnt 0x0
    # CHECK-NEXT: global_load_b128 v[0:3], v4, s[0:1]
    # CHECK-NEXT: s_wait_loadcnt 0x0
    # CHECK-NEXT: global_store_b128 v4, v[0:3], s[2:3]
    # CHECK-NEXT: s_endpgm


@amdjit.kernel
def neighbours(a: f32[:], out: f32[:]):
    """Elements next to each other are loaded together."""
    i = threadIdx.x
    out[i] = a[i] - a[i + 1]
    # CHECK: global_load_b64 v[0:1]
    # CHECK-NOT: global_load


@amdjit.kernel(block=64)
def barrier_for_lds(a: f32[:]):
    """A barrier for LDS waits for LDS alone: the load ahead stays in flight."""
    t = threadIdx.x
    tile = shared.array(64, f32)
    tile[t] = a[t]
    ahead = a[t + 64]
    sync.lds_barrier()
    a[t] = tile[t ^ 1] + ahead
    # CHECK: global_load_b32 v2, v1, s[0:1]
    # CHECK-NEXT: global_load_b32 v3, v1, s[0:1] offset:256
    # CHECK: s_wait_loadcnt 0x1
    # CHECK-NEXT: ds_store_b32 v1, v2
    # CHECK-NEXT: s_wait_dscnt 0x0
    # CHECK-NEXT: s_barrier_signal -1
    # CHECK-NEXT: s_barrier_wait -1
    # CHECK-NEXT: ds_load_b32
    # CHECK-NEXT: s_wait_loadcnt_dscnt 0x0


@amdjit.kernel(block=64)
def barrier_for_all_memory(a: f32[:]):
    """A barrier for all memory waits for all, and drops the cache's old lines."""
    t = threadIdx.x
    tile = shared.array(64, f32)
    tile[t] = a[t]
    ahead = a[t + 64]
    amdjit.syncthreads()
    a[t] = tile[t ^ 1] + ahead
    # CHECK: ds_store_b32
    # CHECK-NEXT: s_wait_loadcnt_dscnt 0x0
    # CHECK-NEXT: s_barrier_signal -1
    # CHECK-NEXT: s_barrier_wait -1
    # CHECK-NEXT: global_inv scope:SCOPE_SE


@amdjit.kernel(block=32)
def barrier_of_one_wave(a: f32[:]):
    """A barrier in a workgroup of one wave is only an order of its accesses."""
    t = threadIdx.x
    tile = shared.array(64, f32)
    tile[t] = a[t]
    amdjit.syncthreads()
    a[t] = tile[t ^ 1]
    # CHECK: ds_store_b32
    # CHECK-NOT: s_barrier
    # CHECK: s_wait_dscnt 0x0
    # CHECK: ds_load_b32


@amdjit.kernel
def atomics(a: i32[:], f: f32[:]):
    """An atomic returns the old value only if the kernel uses it."""
    t = threadIdx.x
    atomic.add(a, t, 1)
    a[t] = atomic.max(a, t, 2)
    atomic.add(f, t, 1.0)
    # CHECK: global_atomic_add_u32 v0, v?, s[0:1] scope:SCOPE_DEV
    # CHECK-NEXT: global_atomic_max_i32 v1, v0, v?, s[0:1] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
    # CHECK: global_store_b32 v0, v1, s[0:1]
    # CHECK-NEXT: global_atomic_add_f32 v0, v?, s[2:3] scope:SCOPE_DEV


@amdjit.kernel
def local_array_in_registers(a: i32[:]):
    """A local array with constant indices takes no memory."""
    i = threadIdx.x
    own = amdjit.local.array(4, i32)
    own[0] = a[i]
    own[1] = a[i + 1]
    a[i] = own[0] + own[1]
    # CHECK-NOT: scratch
    # CHECK: v_add_nc_u32_e32
    # CHECK: .amdhsa_private_segment_fixed_size 0


@amdjit.kernel(warnings=False)
def local_array_in_scratch(a: i32[:]):
    """A local array with other indices lies in scratch memory."""
    i = threadIdx.x
    own = amdjit.local.array(40, i32)
    own[a[i]] = a[i]
    a[i] = own[a[i + 1]]
    # CHECK: scratch_store_b32 v3, v0, off
    # CHECK: scratch_load_b32 v?, v1, off
    # CHECK: .amdhsa_private_segment_fixed_size 176


@amdjit.kernel(block=64)
def dynamic_lds_after_static(out: i32[:]):
    """Dynamic LDS begins after the static arrays, at a multiple of 16 bytes."""
    t = threadIdx.x
    fixed = shared.array(10, f32)
    rest = shared.dynamic(f32)
    fixed[t] = 1.0
    rest[0] = fixed[t ^ 1]
    out[t] = rest.shape[0]
    # CHECK: v_dual_mov_b32 v1, 48
    # CHECK: ds_store_b32 v1, v?
    # CHECK: s_lshr_b32 s2, s2, 2
    # CHECK: .amdhsa_group_segment_fixed_size 48


@amdjit.kernel
def constant_part_of_an_lds_address(out: f32[:]):
    """A constant index is the offset of the instruction, and a row of 16 bytes needs no product."""
    t = threadIdx.x
    tile = shared.array((32, 4), f32)
    tile[t, 3] = 1.0
    out[t] = tile[t ^ 1, 3]
    # CHECK: v_dual_lshlrev_b32 v1, 4, v0
    # CHECK: ds_store_b32 v1, v? offset:12


@amdjit.kernel
def grid_barrier(x: i32[:], y: i32[:]):
    """Each wave waits for its stores before the grid's barrier, and forgets after it what its cache
    holds; one work-item arrives for its workgroup."""
    i = amdjit.grid(1)
    y[i] = x[i]
    sync.grid()
    x[i] = y[i + 1]
    # CHECK: global_store_b32
    # CHECK: s_wait_storecnt 0x0
    # CHECK-NEXT: s_barrier_signal -1
    # CHECK-NEXT: s_barrier_wait -1
    # CHECK: offset:252 scope:SCOPE_DEV
    # CHECK: s_wait_loadcnt 0x0
    # CHECK-NEXT: global_atomic_add_u32 v?, v?, v?, s[2:3] offset:248 th:TH_ATOMIC_RETURN
    # CHECK: s_sleep 2
    # CHECK-NEXT: global_load_b32 v?, v?, s[2:3] offset:252 scope:SCOPE_DEV
    # CHECK: s_wait_storecnt 0x0
    # CHECK-NEXT: global_store_b32 v?, v?, s[2:3] offset:252 scope:SCOPE_DEV
    # CHECK: s_barrier_wait -1
    # CHECK-NEXT: s_wait_loadcnt 0x0
    # CHECK-NEXT: global_inv scope:SCOPE_DEV
    # CHECK: global_load_b32
