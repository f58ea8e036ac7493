"""Numbers of 8 and 16 bits, and integers of 64."""

import amdjit
from amdjit import bf16, f16, f32, fp8, i64, threadIdx


@amdjit.kernel
def packed_halves(a: f16[:], out: f16[:]):
    """A vector of two f16 is computed by packed instructions."""
    i = threadIdx.x
    x = a.load(2 * i, 2)
    out.store(2 * i, x * x + x)
    # CHECK: global_load_b32 v1
    # CHECK: v_pk_mul_f16 v2, v1, v1
    # CHECK-NEXT: v_pk_add_f16 v?, v1, v2


@amdjit.kernel(fastmath={"contract"})
def packed_and_contracted(a: f16[:], out: f16[:]):
    """Packed instructions are contracted like others."""
    i = threadIdx.x
    x = a.load(2 * i, 2)
    out.store(2 * i, x * x + x)
    # CHECK: v_pk_fma_f16 v?, v1, v1, v1


@amdjit.kernel
def brain_floats(a: bf16[:], out: bf16[:]):
    """A product of bf16 is one of f32, rounded to nearest even by integer arithmetic."""
    i = threadIdx.x
    out[i] = a[i] * a[i + 1]
    # CHECK: v_and_b32_e32 v2, 0xffff0000, v1
    # CHECK-NEXT: v_lshlrev_b32_e32 v3, 16, v1
    # CHECK: v_mul_f32_e32 v4, v3, v2
    # CHECK-NEXT: v_bfe_u32 v5, v4, 16, 1
    # CHECK: v_add3_u32 v?, v5, v4, 0x7fff
    # CHECK: global_store_d16_hi_b16


@amdjit.kernel
def half(a: f32[:], out: f16[:]):
    """f16 is converted by one instruction."""
    i = threadIdx.x
    out[i] = f16(a[i])
    # CHECK: v_cvt_f16_f32_e32 v1, v?
    # CHECK-NEXT: global_store_b16 v?, v1


@amdjit.kernel
def eight_bit_float(a: f32[:], out: fp8[:]):
    """fp8 is converted two at a time; the second one is dropped."""
    i = threadIdx.x
    out[i] = fp8(a[i])
    # CHECK: v_cvt_pk_fp8_f32 v1, v2, v2
    # CHECK-NEXT: global_store_b8 v?, v1


@amdjit.kernel
def sum_of_64_bits(a: i64[:], out: i64[:]):
    """The carry of the lower words goes into the upper ones."""
    i = threadIdx.x
    out[i] = a[i] + a[i + 1]
    # CHECK: v_add_co_u32 v?, vcc_lo, v?, v?
    # CHECK-NEXT: v_add_co_ci_u32_e64 v?, null, v?, v?, vcc_lo


@amdjit.kernel
def product_of_64_bits(a: i64[:], out: i64[:]):
    """Three products of words are enough: that of the upper words lies above the result."""
    i = threadIdx.x
    out[i] = a[i] * a[i + 1]
    # CHECK-DAG: v_mul_lo_u32
    # CHECK-DAG: v_mul_lo_u32
    # CHECK: v_mad_co_u64_u32
    # CHECK-NEXT: v_add3_u32
    # CHECK-NEXT: global_store_b64
