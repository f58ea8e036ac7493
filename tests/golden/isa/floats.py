"""Arithmetic on floats: the instructions for each rule of rounding."""

import math

import amdjit
from amdjit import f32, f64, i32, threadIdx
from amdjit.intrinsics import arithmetic


@amdjit.kernel
def rounded_one_by_one(a: f32[:], out: f32[:]):
    """A product and a sum are two instructions, each with a rounding."""
    i = threadIdx.x
    out[i] = a[i] * a[i + 1] + a[i + 2]
    # CHECK: v_mul_f32_e32 v0, v?, v?
    # CHECK-NEXT: v_add_f32_e32 v?, v0, v?
    # CHECK-NOT: v_fma


@amdjit.kernel(fastmath={"contract"})
def contracted(a: f32[:], out: f32[:]):
    """The two become one instruction with one rounding where contraction is allowed."""
    i = threadIdx.x
    out[i] = a[i] * a[i + 1] + a[i + 2]
    # CHECK: v_fmac_f32_e32 v?, v?, v?
    # CHECK-NEXT: global_store_b32


@amdjit.kernel
def division(a: f32[:], out: f32[:]):
    """A quotient is rounded correctly, by the sequence of the ISA document, with denormals."""
    i = threadIdx.x
    out[i] = a[i] / a[i + 1]
    # CHECK: v_div_scale_f32 v3, null, v1, v1, v0
    # CHECK-NEXT: v_rcp_f32_e32 v4, v3
    # CHECK: v_div_fmas_f32
    # CHECK-NEXT: v_div_fixup_f32 v?, v?, v1, v0


@amdjit.kernel(fastmath=True)
def fast_division(a: f32[:], out: f32[:]):
    """Fast math multiplies by the reciprocal."""
    i = threadIdx.x
    out[i] = a[i] / a[i + 1]
    # CHECK: v_rcp_f32_e32 v0, v0
    # CHECK-NEXT: v_mul_f32_e32 v1, v0, v1
    # CHECK-NEXT: global_store_b32


@amdjit.kernel
def square_root(a: f32[:], out: f32[:]):
    """A square root is rounded correctly: `v_rsq` is only its first estimate."""
    i = threadIdx.x
    out[i] = math.sqrt(a[i])
    # CHECK: v_ldexp_f32
    # CHECK: v_rsq_f32_e32
    # CHECK: v_fma_f32
    # CHECK: v_cmp_class_f32_e64


@amdjit.kernel
def least(a: f32[:], out: f32[:]):
    """`min` is the instruction that passes NaN on."""
    i = threadIdx.x
    out[i] = min(a[i], a[i + 1])
    # CHECK: v_minimum_f32


@amdjit.kernel
def float_to_integer(a: f32[:], out: i32[:]):
    """The hardware saturates at 2**31 as a float; a choice replaces numbers above the largest integer."""
    i = threadIdx.x
    out[i] = i32(a[i])
    # CHECK: v_cvt_i32_f32_e32 v2, v1
    # CHECK: v_cndmask_b32_e32 v2, 0x7fffffff, v2, vcc_lo
    # CHECK-NEXT: v_cmp_o_f32_e32 vcc_lo, v1, v1
    # CHECK: v_cndmask_b32_e32 v?, 0, v2, vcc_lo


@amdjit.kernel
def doubles(a: f64[:], out: f64[:]):
    """f64 has instructions of its own."""
    i = threadIdx.x
    out[i] = a[i] * a[i + 1] + 1.0
    # CHECK: v_mul_f64_e32 v[0:1]
    # CHECK-NEXT: v_add_f64_e32 v[2:3], 1.0, v[0:1]


@amdjit.kernel
def uniform_product(a: f32[:], out: f32[:]):
    """The scalar unit loads and computes values that are the same in all lanes."""
    out[threadIdx.x] = a[0] * a[1]
    # CHECK: s_load_b64 s[0:1], s[0:1], 0x0
    # CHECK: s_mul_f32 s0, s0, s1


@amdjit.kernel
def mixed_precision(a: amdjit.f16[:], out: f32[:]):
    """Halves are extended by the instruction that multiplies and adds them."""
    i = threadIdx.x
    out[i] = arithmetic.fma(f32(a[i]), f32(a[i + 1]), f32(a[i + 2]))
    # CHECK: v_fma_mix_f32 v?, v?, v?, v? op_sel:[0,1,0] op_sel_hi:[1,1,1]
    # CHECK-NOT: v_cvt
