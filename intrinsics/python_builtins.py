"""What Python's own functions stand for in a kernel: `math.sqrt(x)` is
`amdjit.intrinsics.math.sqrt(x)`."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.abi.code_marks import BREAK_MARK
from amdjit.declarations import DeviceFunction, InlineAsm, Intrinsic, intrinsic
from amdjit.intrinsics import math as real
from amdjit.intrinsics.arrays import reductions
from amdjit.intrinsics.maths import (
    complex_math,
    elementwise,
    number_theory,
    power,
    roots_and_remainders,
    rounding,
    ufunc_overloads,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.language import times
from amdjit.types import VOID

# By name, because Python 3.10 lacks math.exp2 and 3.12 lacks math.fma.
_BY_NAME: dict[str, Intrinsic | DeviceFunction] = {
    "sin": real.sin,
    "cos": real.cos,
    "tan": real.tan,
    "asin": real.asin,
    "acos": real.acos,
    "atan": real.atan,
    "atan2": real.atan2,
    "sinh": real.sinh,
    "cosh": real.cosh,
    "tanh": real.tanh,
    "asinh": real.asinh,
    "acosh": real.acosh,
    "atanh": real.atanh,
    "expm1": real.expm1,
    "log1p": real.log1p,
    "erf": real.erf,
    "erfc": real.erfc,
    "gamma": real.tgamma,
    "lgamma": real.lgamma,
    "sqrt": real.sqrt,
    "cbrt": real.cbrt,
    "hypot": real.hypot,
    "fmod": real.fmod,
    "remainder": real.remainder,
    "frexp": real.frexp,
    "modf": real.modf,
    "nextafter": real.nextafter,
    "exp": real.exp,
    "exp2": real.exp2,
    "log2": real.log2,
    "log10": real.log10,
    "log": real.log,
    "fabs": real.fabs,
    "copysign": real.copysign,
    "ldexp": real.ldexp,
    "isnan": real.isnan,
    "isinf": real.isinf,
    "isfinite": real.isfinite,
    "floor": real.floor_to_int,
    "ceil": real.ceil_to_int,
    "trunc": real.trunc_to_int,
    "pow": power.power,
    "radians": real.radians,
    "degrees": real.degrees,
    "fma": fma,
    "isclose": elementwise.isclose,
    "ulp": elementwise.ulp,
    "gcd": number_theory.gcd,
    "lcm": number_theory.lcm,
    "isqrt": number_theory.isqrt,
    "comb": number_theory.comb,
    "perm": number_theory.perm,
    "factorial": number_theory.factorial,
    "dist": roots_and_remainders.dist,
    "sumprod": roots_and_remainders.sumprod,
}

# NumPy's own names, and rounding, which yields floats in NumPy and integers in Python.
_BY_NUMPYS_NAME: dict[str, Intrinsic | DeviceFunction] = {
    "arcsin": real.asin,
    "arccos": real.acos,
    "arctan": real.atan,
    "arctan2": real.atan2,
    "arcsinh": real.asinh,
    "arccosh": real.acosh,
    "arctanh": real.atanh,
    "deg2rad": real.radians,
    "rad2deg": real.degrees,
    "floor": real.floor,
    "ceil": real.ceil,
    "trunc": real.trunc,
    "rint": real.rint,
    "fmax": real.fmax,
    "fmin": real.fmin,
    "sign": elementwise.sign,
    "signbit": elementwise.signbit,
    "spacing": elementwise.spacing,
    "square": elementwise.square,
    "reciprocal": elementwise.reciprocal,
    "heaviside": elementwise.heaviside,
    "logaddexp": elementwise.logaddexp,
    "logaddexp2": elementwise.logaddexp2,
    "float_power": power.power,
    "divmod": elementwise.divmod,
    "bitwise_count": elementwise.bit_count,
    "conjugate": elementwise.conjugate,
    "isclose": elementwise.numpy_isclose,
    "round": rounding.numpy_round,
    "around": rounding.numpy_round,
    "fix": real.trunc,
    "clip": elementwise.clip,
    "where": elementwise.where,
    "sinc": elementwise.sinc,
    "nan_to_num": elementwise.nan_to_num,
    "isposinf": elementwise.isposinf,
    "isneginf": elementwise.isneginf,
    "isnat": times.isnat,
    "real": elementwise.real,
    "imag": elementwise.imag,
    "angle": elementwise.angle,
}


def _of_numpy() -> dict[Callable[..., Any], Intrinsic | DeviceFunction]:
    # np.remainder is Python's operator, not C's function; so is np.pow, a newer name.
    shared = {name: ours for name, ours in _BY_NAME.items() if name not in ("remainder", "pow")}
    named = ((getattr(np, name, None), ours) for name, ours in (shared | _BY_NUMPYS_NAME).items())
    return {function: ours for function, ours in named if function is not None}


_OTHERS: dict[Callable[..., Any], Intrinsic | DeviceFunction] = {
    round: rounding.python_round,
    divmod: elementwise.divmod,
    int.__pow__: number_theory.power_of_integer,
    int.bit_count: elementwise.bit_count,
    int.bit_length: number_theory.bit_length,
    complex.__truediv__: DeviceFunction(complex_math.divide),
    complex.__abs__: DeviceFunction(complex_math.magnitude),
    complex.__pow__: complex_math.power,
}


@intrinsic(InlineAsm(f"s_nop {BREAK_MARK:#x}", "", True), isa="s_nop")
def stop_here() -> VOID:
    """Mark the place where `amdjit.debug` stops; elsewhere nothing happens."""


_OF_COMPLEX: dict[Callable[..., Any], Intrinsic | DeviceFunction] = {
    getattr(cmath, name): getattr(complex_math, name)
    for name in complex_math.__all__
    if hasattr(cmath, name)
}

# Of arrays. The front end calls these in place of its own functions if they are given an array.
_OF_ARRAYS: dict[Callable[..., Any], Intrinsic | DeviceFunction] = {
    np.sum: reductions.total,
    np.prod: reductions.product,
    np.mean: reductions.mean,
    np.var: reductions.var,
    np.std: reductions.std,
    np.min: reductions.least,
    np.max: reductions.greatest,
    np.ptp: reductions.peak_to_peak,
    np.argmin: reductions.argmin,
    np.argmax: reductions.argmax,
    np.all: reductions.all_true,
    np.any: reductions.any_true,
    np.count_nonzero: reductions.count_nonzero,
    np.nansum: reductions.nansum,
    np.nanprod: reductions.nanprod,
    np.nanmean: reductions.nanmean,
    np.nanmin: reductions.nanmin,
    np.nanmax: reductions.nanmax,
    sum: reductions.python_sum,
    min: reductions.python_min,
    max: reductions.python_max,
    any: reductions.python_any,
    all: reductions.python_all,
    operator.contains: reductions.contains,
}

PYTHON_FUNCTIONS: Mapping[Any, Intrinsic | DeviceFunction] = MappingProxyType(
    dict[Any, Intrinsic | DeviceFunction](ufunc_overloads.OVERLOADS)
    | _OTHERS
    | {breakpoint: stop_here}
    | _OF_COMPLEX
    | _OF_ARRAYS
    | {getattr(math, name): ours for name, ours in _BY_NAME.items() if hasattr(math, name)}
    | _of_numpy()
)
"""The functions of Python, of its `math` and `cmath` and of NumPy that kernels may call, each with
what it becomes; `OfKind` names versions for one kind of numbers."""
