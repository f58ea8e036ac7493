"""Exponentials and logarithms: up to f32 as LLVM evaluates them, within 1.2 units of the last place; f64 by OCML."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics import device_library as library
from amdjit.intrinsics import native_math
from amdjit.intrinsics.float_evaluation import DOUBLES
from amdjit.types import f64

__all__ = ["exp", "exp2", "exp10", "log", "log2", "log10"]


@device_function
def exp(x):
    """Return e to the power x."""
    return library.exp(f64(x)) if isinstance(x, DOUBLES) else native_math.exp(x)


@device_function
def exp2(x):
    """Return 2 to the power x."""
    return library.exp2(f64(x)) if isinstance(x, DOUBLES) else native_math.exp2(x)


@device_function
def exp10(x):
    """Return 10 to the power x."""
    return library.exp10(f64(x)) if isinstance(x, DOUBLES) else native_math.exp10(x)


@device_function
def log(x):
    """Return the natural logarithm: -infinity at 0, NaN below."""
    return library.log(f64(x)) if isinstance(x, DOUBLES) else native_math.log(x)


@device_function
def log2(x):
    """Return the logarithm to base 2."""
    return library.log2(f64(x)) if isinstance(x, DOUBLES) else native_math.log2(x)


@device_function
def log10(x):
    """Return the logarithm to base 10."""
    return library.log10(f64(x)) if isinstance(x, DOUBLES) else native_math.log10(x)
