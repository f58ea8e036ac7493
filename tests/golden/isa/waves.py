"""Waves: branches by masks, moves between lanes, matrix instructions, reports."""

import amdjit
from amdjit import f16, f32, i32, threadIdx, u32
from amdjit.intrinsics import matrix, wave


@amdjit.kernel
def branch(a: f32[:], out: f32[:]):
    """A branch that lanes take differently narrows EXEC, and is skipped if no lane takes it."""
    i = threadIdx.x
    if a[i] > 0.0:
        out[i] = a[i]
    # CHECK: v_cmpx_lt_f32_e32 0, v0
    # CHECK-NEXT: s_cbranch_execz .LBB0_2
    # CHECK: global_store_b32
    # CHECK-NEXT: .LBB0_2:
    # CHECK-NEXT: s_endpgm


@amdjit.kernel(wave_size=64)
def branch_of_64_lanes(a: f32[:], out: i32[:]):
    """A mask of 64 lanes is a pair of scalar registers."""
    i = threadIdx.x
    if a[i] > 0.0:
        out[i] = 1
    else:
        out[i] = 2
    # CHECK: v_cmp_lt_f32_e32 vcc, 0, v?
    # CHECK: .amdhsa_wavefront_size32 0


@amdjit.kernel
def uniform_loop(a: f32[:], out: f32[:]):
    """A loop whose counter is the same in all lanes is counted by the scalar unit."""
    i = threadIdx.x
    total = f32(0)
    for k in amdjit.unroll(range(0, a.shape[0], 32), 1):
        total += a[k + i]
    out[i] = total
    # CHECK: .LBB0_2:
    # CHECK: s_add_co_i32 s1, s1, 32
    # CHECK-NEXT: {{(s_wait_alu .*)?}}
    # CHECK-NOT: v_cmp
    # CHECK: s_cbranch_scc1 .LBB0_2


@amdjit.kernel
def wave_sum(a: f32[:]):
    """A sum over the wave is taken by DPP in its rows, and by an exchange of the rows."""
    t = threadIdx.x
    a[t] = wave.reduce_add(a[t])
    # CHECK: s_or_saveexec_b32 s2, -1
    # CHECK: v_add_f32_dpp v1, v1, v1 row_xmask:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
    # CHECK-NEXT: v_add_f32_dpp v1, v1, v1 row_xmask:2
    # CHECK-NEXT: v_add_f32_dpp v1, v1, v1 row_xmask:4
    # CHECK-NEXT: v_add_f32_dpp v1, v1, v1 row_xmask:8
    # CHECK: v_permlanex16_b32
    # CHECK: s_mov_b32 exec_lo, s2


@amdjit.kernel
def moves_between_lanes(a: f32[:]):
    """An exchange across rows is a move through the hardware of LDS."""
    t = threadIdx.x
    a[t] = wave.shuffle_xor(a[t], 16)
    # CHECK: v_mbcnt_lo_u32_b32
    # CHECK: ds_bpermute_b32
    # CHECK-NEXT: s_wait_dscnt 0x0


@amdjit.kernel
def ballot(a: u32[:]):
    """A ballot is a comparison into a scalar register."""
    t = threadIdx.x
    a[t] = wave.ballot(a[t] > 0)
    # CHECK: v_cmp_ne_u32_e64 s2, 0, v?
    # CHECK-NEXT: v_mov_b32_e32 v?, s2


@amdjit.kernel
def matrix_product(a: f16[:], b: f16[:], c: f32[:]):
    """WMMA takes its accumulator and its result in the same registers."""
    t = threadIdx.x
    d = matrix.wmma_f32_16x16x16_f16(a.load(8 * t, 8), b.load(8 * t, 8), c.load(8 * t, 8))
    c.store(8 * t, d)
    # CHECK: v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]


@amdjit.kernel
def sparse_product(a: f16[:], b: f16[:], c: f32[:], index: i32[:]):
    """SWMMAC adds to its destination, and has the index of the sparse matrix as an operand."""
    t = threadIdx.x
    left, right, total = a.load(8 * t, 8), b.load(16 * t, 16), c.load(8 * t, 8)
    c.store(8 * t, matrix.swmmac_f32_16x16x32_f16(left, right, total, index[t]))
    # CHECK: v_swmmac_f32_16x16x32_f16 v[8:15], v[16:19], v[0:7], v21


@amdjit.kernel
def failed_assertion(a: i32[:]):
    """The first lane that fails swaps a flag in memory, and the wave ends there."""
    i = threadIdx.x
    assert a[i] > 0, "positive"
    a[i] = 2
    # CHECK: global_atomic_swap_b32 v?, v?, v?, s[0:1] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
    # CHECK: global_store_b128 v?, v[6:9], s[0:1] offset:4
    # CHECK: s_endpgm
    # CHECK: global_store_b32
    # CHECK-NEXT: s_endpgm


@amdjit.kernel(block=256, waves_per_eu=4)
def launch_bounds(a: i32[:]):
    """The metadata names the largest block that a launch may have."""
    a[threadIdx.x] = 1
    # CHECK: .max_flat_workgroup_size: 256
