"""Makes the functions of 16-bit floats from rows of a name, an operation and a sentence.

`COMMON` has those that `bf16` and `fp16` share. Each maker returns a device function of the module
that asks for it, so the function has the name, the docstring and the pickled form of one that is
written there. Their declarations for editors and type checkers are generated (`docs/generate.py`
writes `bf16.pyi`, `fp16.pyi` and `bf16_conversions.pyi`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, device_function
from amdjit.intrinsics import math as real
from amdjit.types import Scalar, f32

__all__ = ["COMMON", "ELEMENTARY", "made", "of_one", "of_one_in_f32", "of_two"]

Rows = Mapping[str, tuple[Callable[[Scalar], Callable[..., Any]], str]]


def made(module: str, name: str, function: Callable[..., Any], text: str) -> DeviceFunction:
    """Return the device function of a module that computes what a Python function says."""
    function.__module__, function.__name__, function.__qualname__ = module, name, name
    function.__doc__ = text
    return device_function(function)


def of_one(operation: Callable[..., Any]) -> Callable[[Scalar], Callable[..., Any]]:
    """Return a maker of functions of one number, which an operation of its type computes."""

    def make(kind: Scalar) -> Callable[..., Any]:
        def function(a):
            return operation(kind(a))

        return function

    return make


def of_one_in_f32(operation: Callable[..., Any]) -> Callable[[Scalar], Callable[..., Any]]:
    """Return a maker of functions of one number, which is computed in f32 and rounded."""

    def make(kind: Scalar) -> Callable[..., Any]:
        def function(a):
            return kind(operation(f32(a)))

        return function

    return make


def of_two(operation: Callable[..., Any]) -> Callable[[Scalar], Callable[..., Any]]:
    """Return a maker of functions of two numbers, which an operation of their type computes."""

    def make(kind: Scalar) -> Callable[..., Any]:
        def function(a, b):
            return operation(kind(a), kind(b))

        return function

    return make


def _different(kind: Scalar) -> Callable[..., Any]:
    def function(a, b):
        return kind(a) < kind(b) or kind(a) > kind(b)

    return function


def _reciprocal(kind: Scalar) -> Callable[..., Any]:
    def function(a):
        return kind(1.0) / kind(a)

    return function


def _reciprocal_root(kind: Scalar) -> Callable[..., Any]:
    def function(a):
        return kind(f32(1.0) / math.sqrt(f32(a)))

    return function


COMMON: Rows = {
    "hadd": (of_two(operator.add), "Return a + b."),
    "hsub": (of_two(operator.sub), "Return a - b."),
    "hmul": (of_two(operator.mul), "Return a * b."),
    "hdiv": (of_two(operator.truediv), "Return a / b."),
    "hneg": (of_one(operator.neg), "Return -a."),
    "habs": (of_one(abs), "Return the absolute value."),
    "heq": (of_two(operator.eq), "Return a == b."),
    "hne": (_different, "Return whether two numbers differ; False if one is NaN."),
    "hge": (of_two(operator.ge), "Return a >= b."),
    "hgt": (of_two(operator.gt), "Return a > b."),
    "hle": (of_two(operator.le), "Return a <= b."),
    "hlt": (of_two(operator.lt), "Return a < b."),
    "hmax": (of_two(np.fmax), "Return the greater one, or the one that is not NaN."),
    "hmin": (of_two(np.fmin), "Return the lesser one, or the one that is not NaN."),
    "hfloor": (of_one(np.floor), "Return the greatest integer that is not above a."),
    "hceil": (of_one(np.ceil), "Return the least integer that is not below a."),
    "hrint": (of_one(np.rint), "Return the nearest integer, of two the even one."),
    "htrunc": (of_one(np.trunc), "Return the integer part."),
    "hrcp": (_reciprocal, "Return 1 / a."),
    "hrsqrt": (_reciprocal_root, "Return 1 / sqrt(a)."),
}
# Functions for which bf16 has operations of its own, and which f16 computes in f32.
ELEMENTARY: Mapping[str, tuple[Callable[..., Any], str]] = {
    "hsin": (math.sin, "Return the sine."),
    "hcos": (math.cos, "Return the cosine."),
    "hlog": (math.log, "Return the natural logarithm."),
    "hlog10": (math.log10, "Return the logarithm to base 10."),
    "hlog2": (math.log2, "Return the logarithm to base 2."),
    "hexp": (math.exp, "Return e to the power of a."),
    "hexp10": (real.exp10, "Return 10 to the power of a."),
    "hexp2": (np.exp2, "Return 2 to the power of a."),
    "hsqrt": (math.sqrt, "Return the square root."),
}
