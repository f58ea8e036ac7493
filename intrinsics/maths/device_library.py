"""The f64 functions of ROCm's device library, OCML, which is linked in as bitcode where a kernel
calls one.

Source: OCML's documentation (ROCm-Device-Libs, doc/OCML.md): its errors are at most 1 to 4 units of
the last place, 16 of `pow`, `tgamma` and `lgamma`. Needs the library: see AMDJIT_DEVICE_LIBS.
"""

from __future__ import annotations

import math

import numpy as np

from amdjit.declarations import LlvmCall, intrinsic
from amdjit.types import f64


@intrinsic(LlvmCall("__ocml_sin_f64", library="OCML"))
def sin(x: f64) -> f64:
    """Return the sine of x radians (`__ocml_sin_f64`)."""
    return np.sin(x)


@intrinsic(LlvmCall("__ocml_cos_f64", library="OCML"))
def cos(x: f64) -> f64:
    """Return the cosine of x radians (`__ocml_cos_f64`)."""
    return np.cos(x)


@intrinsic(LlvmCall("__ocml_tan_f64", library="OCML"))
def tan(x: f64) -> f64:
    """Return the tangent of x radians (`__ocml_tan_f64`)."""
    return np.tan(x)


@intrinsic(LlvmCall("__ocml_asin_f64", library="OCML"))
def asin(x: f64) -> f64:
    """Return the angle whose sine is x (`__ocml_asin_f64`)."""
    return np.arcsin(x)


@intrinsic(LlvmCall("__ocml_acos_f64", library="OCML"))
def acos(x: f64) -> f64:
    """Return the angle whose cosine is x (`__ocml_acos_f64`)."""
    return np.arccos(x)


@intrinsic(LlvmCall("__ocml_atan_f64", library="OCML"))
def atan(x: f64) -> f64:
    """Return the angle whose tangent is x (`__ocml_atan_f64`)."""
    return np.arctan(x)


@intrinsic(LlvmCall("__ocml_sinh_f64", library="OCML"))
def sinh(x: f64) -> f64:
    """Return the hyperbolic sine (`__ocml_sinh_f64`)."""
    return np.sinh(x)


@intrinsic(LlvmCall("__ocml_cosh_f64", library="OCML"))
def cosh(x: f64) -> f64:
    """Return the hyperbolic cosine (`__ocml_cosh_f64`)."""
    return np.cosh(x)


@intrinsic(LlvmCall("__ocml_tanh_f64", library="OCML"))
def tanh(x: f64) -> f64:
    """Return the hyperbolic tangent (`__ocml_tanh_f64`)."""
    return np.tanh(x)


@intrinsic(LlvmCall("__ocml_asinh_f64", library="OCML"))
def asinh(x: f64) -> f64:
    """Return the number whose hyperbolic sine is x (`__ocml_asinh_f64`)."""
    return np.arcsinh(x)


@intrinsic(LlvmCall("__ocml_acosh_f64", library="OCML"))
def acosh(x: f64) -> f64:
    """Return the number whose hyperbolic cosine is x (`__ocml_acosh_f64`)."""
    return np.arccosh(x)


@intrinsic(LlvmCall("__ocml_atanh_f64", library="OCML"))
def atanh(x: f64) -> f64:
    """Return the number whose hyperbolic tangent is x (`__ocml_atanh_f64`)."""
    return np.arctanh(x)


@intrinsic(LlvmCall("__ocml_exp_f64", library="OCML"))
def exp(x: f64) -> f64:
    """Return e to the power x (`__ocml_exp_f64`)."""
    return np.exp(x)


@intrinsic(LlvmCall("__ocml_exp2_f64", library="OCML"))
def exp2(x: f64) -> f64:
    """Return 2 to the power x (`__ocml_exp2_f64`)."""
    return np.exp2(x)


@intrinsic(LlvmCall("__ocml_exp10_f64", library="OCML"))
def exp10(x: f64) -> f64:
    """Return 10 to the power x (`__ocml_exp10_f64`)."""
    return np.power(10.0, x)


@intrinsic(LlvmCall("__ocml_expm1_f64", library="OCML"))
def expm1(x: f64) -> f64:
    """Return e to the power x, minus 1 (`__ocml_expm1_f64`)."""
    return np.expm1(x)


@intrinsic(LlvmCall("__ocml_log_f64", library="OCML"))
def log(x: f64) -> f64:
    """Return the natural logarithm (`__ocml_log_f64`)."""
    return np.log(x)


@intrinsic(LlvmCall("__ocml_log2_f64", library="OCML"))
def log2(x: f64) -> f64:
    """Return the logarithm to base 2 (`__ocml_log2_f64`)."""
    return np.log2(x)


@intrinsic(LlvmCall("__ocml_log10_f64", library="OCML"))
def log10(x: f64) -> f64:
    """Return the logarithm to base 10 (`__ocml_log10_f64`)."""
    return np.log10(x)


@intrinsic(LlvmCall("__ocml_log1p_f64", library="OCML"))
def log1p(x: f64) -> f64:
    """Return the natural logarithm of 1 + x (`__ocml_log1p_f64`)."""
    return np.log1p(x)


@intrinsic(LlvmCall("__ocml_cbrt_f64", library="OCML"))
def cbrt(x: f64) -> f64:
    """Return the cube root (`__ocml_cbrt_f64`)."""
    return np.cbrt(x)


@intrinsic(LlvmCall("__ocml_rsqrt_f64", library="OCML"))
def rsqrt(x: f64) -> f64:
    """Return 1 / sqrt(x) (`__ocml_rsqrt_f64`)."""
    return 1 / np.sqrt(x)


@intrinsic(LlvmCall("__ocml_erf_f64", library="OCML"))
def erf(x: f64) -> f64:
    """Return the error function (`__ocml_erf_f64`)."""
    return math.erf(x)


@intrinsic(LlvmCall("__ocml_erfc_f64", library="OCML"))
def erfc(x: f64) -> f64:
    """Return 1 minus the error function (`__ocml_erfc_f64`)."""
    return math.erfc(x)


@intrinsic(LlvmCall("__ocml_tgamma_f64", library="OCML"))
def tgamma(x: f64) -> f64:
    """Return the gamma function (`__ocml_tgamma_f64`)."""
    return math.gamma(x)


@intrinsic(LlvmCall("__ocml_lgamma_f64", library="OCML"))
def lgamma(x: f64) -> f64:
    """Return the logarithm of the gamma function's magnitude (`__ocml_lgamma_f64`)."""
    return math.lgamma(x)


@intrinsic(LlvmCall("__ocml_atan2_f64", library="OCML"))
def atan2(y: f64, x: f64) -> f64:
    """Return the angle of the point (x, y) (`__ocml_atan2_f64`)."""
    return np.arctan2(y, x)


@intrinsic(LlvmCall("__ocml_hypot_f64", library="OCML"))
def hypot(x: f64, y: f64) -> f64:
    """Return sqrt(x * x + y * y) (`__ocml_hypot_f64`)."""
    return np.hypot(x, y)


@intrinsic(LlvmCall("__ocml_pow_f64", library="OCML"))
def pow(x: f64, y: f64) -> f64:
    """Return x to the power y (`__ocml_pow_f64`)."""
    return np.power(x, y)


@intrinsic(LlvmCall("__ocml_remainder_f64", library="OCML"))
def remainder(x: f64, y: f64) -> f64:
    """Return x minus the nearest multiple of y (`__ocml_remainder_f64`)."""
    return math.remainder(x, y)
