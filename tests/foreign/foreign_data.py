"""Inputs for foreign kernels, what NumPy makes of them, and how far a result may be from that."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DTYPES: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "i32": np.int32,
    "i8": np.int8,
}
# The distance of two neighbours at 1, over 1.
EPSILON = {
    "f64": 2.0**-52,
    "f32": 2.0**-23,
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "fp8": 2.0**-3,
    "bf8": 2.0**-2,
}


def integers(
    rng: np.random.Generator, shape: tuple[int, ...], kind: str, largest: int = 4
) -> Array:
    """Return small integers, of which all formats hold sums and products exactly."""
    return rng.integers(-largest, largest + 1, shape).astype(DTYPES[kind])


def normal(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    """Return normally distributed numbers."""
    return rng.standard_normal(shape).astype(DTYPES[kind])


def wide(array: Array) -> Array:
    """Return the same numbers in double precision."""
    return array.astype(np.float64)


def rounding(reference: Array, kind: str) -> Array:
    """Return what rounding a result to its format may cost: a unit in the last place, or the
    smallest subnormal."""
    tiny = {"f16": 2.0**-24, "bf16": 2.0**-126}.get(kind, 2.0**-126)
    bound: Array = np.abs(reference) * EPSILON[kind] + tiny
    return bound


def product_bound(a: Array, b: Array) -> Array:
    """Return how far a matrix product may be off that is added in f32, in any order, also rounded
    towards zero."""
    bound: Array = (a.shape[-1] + 2) * 2.0**-22 * (np.abs(wide(a)) @ np.abs(wide(b)))
    return bound


def softmax(x: Array) -> Array:
    """Return the softmax along the last axis, in double precision."""
    powers = np.exp(wide(x) - wide(x).max(-1, keepdims=True))
    quotient: Array = powers / powers.sum(-1, keepdims=True)
    return quotient


def layer_norm(x: Array, weight: Array, bias: Array, epsilon: float) -> tuple[Array, Array]:
    """Return each row with mean 0 and variance 1, scaled and shifted, and the bound of its error in
    f32."""
    values = wide(x)
    centred = values - values.mean(-1, keepdims=True)
    factor = 1 / np.sqrt(values.var(-1, keepdims=True) + epsilon)
    reference = centred * factor * wide(weight) + wide(bias)
    size = (np.abs(values) + np.abs(values).mean(-1, keepdims=True)) * factor * np.abs(wide(weight))
    return reference, 16 * EPSILON["f32"] * (size + np.abs(wide(bias)))


def attention(
    q: Array, k: Array, v: Array, scale: float, causal: bool, kind: str
) -> tuple[Array, Array]:
    """Return the attention of heads along the first axis, and the bound of its error with weights
    of type `kind`."""
    scores = wide(q) @ wide(k).swapaxes(-1, -2) * scale
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = softmax(scores)
    reference = weights @ wide(v)
    return reference, 4 * EPSILON[kind] * (weights @ np.abs(wide(v)))
