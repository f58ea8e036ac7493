"""Numba's `cuda.libdevice`: NVIDIA's functions that have counterparts.

As in libdevice, `sin` takes and returns an f64, `sinf` an f32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, device_function
from amdjit.intrinsics import arithmetic
from amdjit.intrinsics import math as real
from amdjit.types import Scalar, f32, f64, i32, u32

_OF_ONE: dict[str, Any] = {
    "acos": math.acos,
    "acosh": math.acosh,
    "asin": math.asin,
    "asinh": math.asinh,
    "atan": math.atan,
    "atanh": math.atanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": math.cos,
    "cosh": math.cosh,
    "erf": math.erf,
    "erfc": math.erfc,
    "exp": math.exp,
    "exp2": np.exp2,
    "exp10": real.exp10,
    "expm1": math.expm1,
    "fabs": math.fabs,
    "floor": np.floor,
    "lgamma": math.lgamma,
    "log": math.log,
    "log10": math.log10,
    "log1p": math.log1p,
    "log2": math.log2,
    "rint": np.rint,
    "sin": math.sin,
    "sinh": math.sinh,
    "sqrt": math.sqrt,
    "tan": math.tan,
    "tanh": math.tanh,
    "tgamma": math.gamma,
    "trunc": np.trunc,
}
_OF_TWO: dict[str, Any] = {
    "atan2": math.atan2,
    "copysign": math.copysign,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": math.fmod,
    "hypot": math.hypot,
    "nextafter": np.nextafter,
    "pow": math.pow,
    "remainder": math.remainder,
}


def _of_one(function: Callable[..., Any], kind: Scalar) -> DeviceFunction:
    def call(x):
        return function(kind(x))

    return device_function(call)


def _of_two(function: Callable[..., Any], kind: Scalar) -> DeviceFunction:
    def call(x, y):
        return function(kind(x), kind(y))

    return device_function(call)


def _of_others(kind: Scalar) -> dict[str, DeviceFunction]:
    def sincos(x):
        return math.sin(kind(x)), math.cos(kind(x))

    def frexp(x):
        return math.frexp(kind(x))

    def modf(x):
        return math.modf(kind(x))

    def ldexp(x, exponent):
        return math.ldexp(kind(x), i32(exponent))

    def fma(x, y, z):
        return arithmetic.fma(kind(x), kind(y), kind(z))

    def rsqrt(x):
        return kind(1) / math.sqrt(kind(x))

    made = (sincos, frexp, modf, ldexp, fma, rsqrt)
    return {each.__name__: device_function(each) for each in made}


@device_function
def sad(x, y, z):
    """Return the absolute difference of two i32, added to a u32."""
    return u32(abs(i32(x) - i32(y))) + u32(z)


@device_function
def popc(x):
    """Return how many bits of a u32 are 1."""
    return i32(arithmetic.popcount(u32(x)))


@device_function
def clz(x):
    """Return how many bits of a u32 precede the highest 1."""
    return i32(arithmetic.clz(u32(x)))


@device_function
def brev(x):
    """Return a u32 with its bits in reverse order."""
    return arithmetic.bit_reverse(u32(x))


def _functions() -> dict[str, DeviceFunction]:
    found: dict[str, DeviceFunction] = {"sad": sad, "popc": popc, "clz": clz, "brev": brev}
    for kind, suffix in ((f64, ""), (f32, "f")):
        found |= {n + suffix: _of_one(function, kind) for n, function in _OF_ONE.items()}
        found |= {n + suffix: _of_two(function, kind) for n, function in _OF_TWO.items()}
        found |= {name + suffix: each for name, each in _of_others(kind).items()}
    return found


functions = MappingProxyType(_functions())
"""All functions, by name."""


def __getattr__(name: str) -> DeviceFunction:
    """Return a function; AttributeError if it has no counterpart."""
    if name not in functions:
        raise AttributeError(
            f"libdevice has no {name!r} here: use Python's math, or declare LLVM's function by "
            "@amdjit.intrinsic(LlvmCall(...))"
        )
    return functions[name]
