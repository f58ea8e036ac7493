"""Addresses: 32-bit offsets from scalar bases, and constant distances as offsets of instructions."""

import amdjit
from amdjit import blockIdx, f16, f32, f32x3, shared, threadIdx
from amdjit.intrinsics import sync
from amdjit.types import Array, Layout

TRIPLES = Array(f32x3, 1, Layout.CONTIGUOUS)


@amdjit.kernel
def saxpy(a: f32, x: f32[:], y: f32[:], out: f32[:]):
    """Both loads wait together, each use for its own load, and no address takes 64 bits."""
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]
    # CHECK: s_load_u16
    # CHECK: s_cbranch_execz .LBB0_2
    # CHECK-NOT: co_ci
    # CHECK: v_lshlrev_b32_e32 v0, 2, v0
    # CHECK-NEXT: s_wait_kmcnt 0x0
    # CHECK-NEXT: global_load_b32 v1, v0, s[4:5]
    # CHECK-NEXT: global_load_b32 v2, v0, s[6:7]
    # CHECK-NEXT: s_wait_loadcnt 0x1
    # CHECK-NEXT: v_mul_f32_e32 v?, s2, v1
    # CHECK-NEXT: s_wait_loadcnt 0x0
    # CHECK-NEXT: v_add_f32_e32 v?, v?, v2
    # CHECK-NEXT: global_store_b32 v0, v?, s[0:1]
    # CHECK-NEXT: .LBB0_2:
    # CHECK-NEXT: s_endpgm


@amdjit.kernel
def eight_halves(a: f16[:], out: f16[:]):
    """Eight neighbouring elements, loaded one by one, become one load."""
    start = 16 * (threadIdx.x % 16) + 8 * (threadIdx.x // 16)
    for k in amdjit.static_range(8):
        out[8 * threadIdx.x + k] = a[start + k]
    # CHECK: global_load_b128 v[0:3], v?, s[0:1]
    # CHECK-NEXT: s_wait_loadcnt 0x0
    # CHECK-NEXT: global_store_b128 v?, v[0:3], s[2:3]


@amdjit.kernel
def part_of_a_row(a: f32[:, :], out: f32[:, :]):
    """Four neighbours in a row of a matrix become one load."""
    row, column = blockIdx.x, 4 * threadIdx.x
    v = a[row, column], a[row, column + 1], a[row, column + 2], a[row, column + 3]
    for k in amdjit.static_range(4):
        out[row, column + k] = v[k]
    # CHECK: global_load_b128
    # CHECK-NOT: global_load
    # CHECK: global_store_b128


@amdjit.kernel
def constant_distances(a: f32[:], out: f32[:]):
    """One address is enough where the distances are constants."""
    t = threadIdx.x
    x = a[t]
    for k in amdjit.static_range(4):
        out[t + 32 * k] = x
    # CHECK: global_store_b32 v0, v1, s[2:3]
    # CHECK-NEXT: global_store_b32 v0, v1, s[2:3] offset:128
    # CHECK-NEXT: global_store_b32 v0, v1, s[2:3] offset:256
    # CHECK-NEXT: global_store_b32 v0, v1, s[2:3] offset:384


@amdjit.kernel
def second_lds_array(out: f32[:]):
    """An element of the second LDS array has the first one's size in the instruction's offset."""
    t = threadIdx.x
    first, second = shared.array(256, f32), shared.array(256, f32)
    first[t], second[t] = 1.0, 2.0
    sync.lds_barrier()
    out[t] = first[t ^ 1] + second[t ^ 1] + second[(t ^ 1) + 32]
    # CHECK: ds_store_2addr_stride64_b32 v3, v?, v? offset1:4
    # CHECK: ds_load_2addr_stride64_b32 v[0:1], v2 offset1:4
    # CHECK-NEXT: ds_load_b32 v?, v2 offset:1152


@amdjit.kernel
def packed_triples(a: TRIPLES, out: TRIPLES):
    """Vectors of three elements lie next to each other without gaps."""
    t = threadIdx.x
    out[t + 1] = a[t]
    # CHECK: v_mul_u32_u24_e32 v3, 12, v0
    # CHECK: global_load_b96 v[0:2], v3
    # CHECK: global_store_b96 v3, v[0:2], s? offset:12
