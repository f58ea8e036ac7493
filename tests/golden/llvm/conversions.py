"""Conversions between numbers of other kinds and widths."""

import amdjit
from amdjit import bf16, f32, fp8, i8, i32, i64, u8, u32


@amdjit.kernel
def integers(a: i8[:], b: u8[:], out: i64[:], narrow: i8[:]):
    """A wider integer is extended by the sign that its type has; a narrower one is cut off."""
    out[0] = i64(a[0])
    out[1] = i64(b[0])
    narrow[0] = i8(out[2])
    # CHECK: sext i8 %? to i64
    # CHECK: zext i8 %? to i64
    # CHECK: trunc i64 %? to i8


@amdjit.kernel
def integer_to_float(a: u32[:], out: f32[:]):
    """An unsigned integer is converted as one."""
    out[0] = f32(a[0])
    # CHECK: uitofp i32 %? to float


@amdjit.kernel
def brain_floats(a: f32[:], out: bf16[:], wide: f32[:]):
    """f32 is rounded to bf16, and bf16 extended to f32."""
    out[0] = bf16(a[0])
    wide[0] = f32(out[1])
    # CHECK: fptrunc float %? to bfloat
    # CHECK: fpext bfloat %? to float


@amdjit.kernel
def eight_bit_floats(a: f32[:], out: fp8[:], wide: f32[:]):
    """LLVM has no type for fp8: bytes and the target's instructions stand for it."""
    out[0] = fp8(a[0])
    wide[0] = f32(out[1])
    # CHECK: %pair = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %x, float %x, i32 poison, i1 false)
    # CHECK-NEXT: %byte = trunc i32 %pair to i8
    # CHECK-NEXT: store i8 %byte
    # CHECK: %loaded = load i8
    # CHECK-NEXT: %word = zext i8 %loaded to i32
    # CHECK-NEXT: call float @llvm.amdgcn.cvt.f32.fp8(i32 %word, i32 0)


@amdjit.kernel
def same_bits(a: f32[:], out: i32[:]):
    """`bitcast` changes the type and no bit."""
    out[0] = amdjit.bitcast(a[0], i32)
    # CHECK: bitcast float %? to i32
