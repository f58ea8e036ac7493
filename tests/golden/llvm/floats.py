"""Arithmetic on floats: Python's meaning, and what fast math allows."""

import amdjit
from amdjit import bf16, f32, f64, i32


@amdjit.kernel
def rounded_one_by_one(a: f32[:], out: f32[:]):
    """A product is rounded before it is added: no flag lets LLVM contract the two."""
    out[0] = a[0] * a[1] + a[2]
    # CHECK: %product = fmul float %x, %y
    # CHECK: fadd float %product, %z


@amdjit.kernel(fastmath=True)
def fast_math(a: f32[:], out: f32[:]):
    """`fastmath=True` sets every flag of LLVM on every operation."""
    out[0] = a[0] * a[1] + a[2]
    # CHECK: fmul fast float
    # CHECK: fadd fast float


@amdjit.kernel(fastmath={"contract"})
def contraction_alone(a: f32[:], out: f32[:]):
    """One allowance sets one flag."""
    out[0] = a[0] * a[1] + a[2]
    # CHECK: fmul contract float
    # CHECK: fadd contract float


@amdjit.kernel
def negation(a: f32[:], out: f32[:]):
    """`-x` changes the sign of zeros and NaN too, which 0 - x would not."""
    out[0] = -a[0]
    # CHECK: %x = load float
    # CHECK-NEXT: %minus = fneg float %x
    # CHECK-NEXT: store float %minus


@amdjit.kernel
def floor_division(a: f32[:], out: f32[:]):
    """Python's `//` is computed from the exact remainder, not from the rounded quotient."""
    out[0] = a[0] // a[1]
    # CHECK: %rest = frem float %x, %y
    # CHECK: %multiple = fsub float %x, %rest
    # CHECK: fdiv float %multiple, %y
    # CHECK: call float @llvm.floor.f32
    # CHECK: call float @llvm.copysign.f32(float 0.0, float %?)


@amdjit.kernel
def comparisons(a: f32[:], out: i32[:]):
    """Comparisons with NaN are false, except `!=`."""
    out[0] = a[0] < a[1]
    out[1] = a[0] == a[1]
    out[2] = a[0] != a[1]
    # CHECK: fcmp olt float
    # CHECK: fcmp oeq float
    # CHECK: %differ = fcmp une float
    # CHECK-NEXT: zext i1 %differ to i32


@amdjit.kernel
def least_and_greatest(a: f32[:], out: f32[:]):
    """`min` and `max` pass NaN on and order zeros by their signs, as `np.minimum` does."""
    out[0] = min(a[0], a[1])
    out[1] = max(a[0], a[1])
    # CHECK: call float @llvm.minimum.f32(float %x, float %y)
    # CHECK: call float @llvm.maximum.f32(float %?, float %?)


@amdjit.kernel
def brain_floats(a: bf16[:], out: bf16[:]):
    """bf16 stays bf16 in the IR: LLVM rounds each operation once."""
    out[0] = a[0] * a[1]
    # CHECK: fmul bfloat %?, %?
    # CHECK-NOT: fpext


@amdjit.kernel
def float_to_integer(a: f32[:], out: i32[:]):
    """Numbers that do not fit are saturated and NaN is 0; LLVM's plain conversion is poison."""
    out[0] = i32(a[0])
    # CHECK: call i32 @llvm.fptosi.sat.i32.f32(float %?)


@amdjit.kernel
def truth(a: f32[:], out: i32[:]):
    """A float is true where it is not equal to 0: NaN is true."""
    out[0] = bool(a[0])
    # CHECK: fcmp une float %?, zeroinitializer


@amdjit.kernel
def double_to_half(a: f64[:], out: amdjit.f16[:]):
    """f64 is rounded to f16 once, not by way of f32."""
    out[0] = amdjit.f16(a[0])
    # CHECK: fptrunc double %? to half
