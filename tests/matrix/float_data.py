"""Random numbers of a format, by kinds of data that reach different parts of floating-point
sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

from amdjit.intrinsics.models import quick_sums, sums_of_products
from amdjit.isa.matrix_rounding import GridRule, rdna_rule

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

DTYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "f32": np.dtype(np.float32),
        "f16": np.dtype(np.float16),
        "bf16": np.dtype(ml_dtypes.bfloat16),
        "fp8": np.dtype(ml_dtypes.float8_e4m3fn),
        "bf8": np.dtype(ml_dtypes.float8_e5m2),
    }
)
KINDS: Mapping[np.dtype[Any], str] = MappingProxyType({each: name for name, each in DTYPES.items()})
FRACTION_BITS = MappingProxyType({"f32": 23, "f16": 10, "bf16": 7, "fp8": 3, "bf8": 2})


def bits_of(numbers: Array) -> Array:
    """Return the bits of numbers, NaN as they are."""
    return numbers.view(f"u{numbers.dtype.itemsize}")


def multiply_accumulate(
    a: Array, b: Array, c: Array, *, fp16_ovfl: bool = False, is_gfx11: bool = False,
    is_quick: bool = True, rule: GridRule | None = None,
) -> Array:  # fmt: skip
    """Return c + a b as the reference of RDNA computes it. is_quick: on gfx12, not by the rule
    itself, but by its quick path. rule: instead of the processor's."""
    kinds = (KINDS[a.dtype], KINDS[b.dtype], KINDS[c.dtype])
    model = quick_sums if is_quick and not is_gfx11 else sums_of_products
    rule = rule or rdna_rule(kinds, is_gfx11)
    return model.multiply_accumulate(rule, a, b, c, kinds, fp16_ovfl=fp16_ovfl)


def any_bits(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """All encodings alike: a third of fp8's NaN apart, every exponent, NaN and infinities."""
    dtype = DTYPES[kind]
    return np.frombuffer(
        bytearray(random.bytes(int(np.prod(shape)) * dtype.itemsize)), dtype
    ).reshape(shape)


def normal(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """The usual: N(0, 1)."""
    return random.standard_normal(shape).astype(DTYPES[kind])


def finite(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """Every exponent, but no NaN and no infinity."""
    numbers = any_bits(random, kind, shape)
    bits_of(numbers)[~np.isfinite(numbers.astype(np.float32))] >>= 2
    return numbers


def tiny(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """Subnormals, zeros, and the smallest normal numbers, of both signs."""
    dtype, fraction = DTYPES[kind], FRACTION_BITS[kind]
    magnitudes = random.integers(0, 4 << fraction, shape) * (random.random(shape) < 0.8)
    return (
        (magnitudes | random.integers(0, 2, shape) << 8 * dtype.itemsize - 1)
        .astype(f"u{dtype.itemsize}")
        .view(dtype)
    )


def powers(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """Powers of two of both signs within six binary places: many sums cancel or end in ties."""
    return (random.choice([-1, 1], shape) * 2.0 ** random.integers(-6, 7, shape)).astype(
        DTYPES[kind]
    )


def integers(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """Small integers, zeros of both signs among them."""
    return (random.integers(-3, 4, shape) * random.choice([-1.0, 1.0], shape)).astype(DTYPES[kind])


def mixed(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """N(0, 1) with one in fifty of any bits: few specials, which must not spoil what is beside
    them."""
    return np.where(
        random.random(shape) < 0.02, any_bits(random, kind, shape), normal(random, kind, shape)
    )


def large(random: np.random.Generator, kind: str, shape: Shape) -> Array:
    """The largest finite numbers of both signs: sums overflow."""
    top = float(ml_dtypes.finfo(DTYPES[kind]).max)
    return (random.choice([-1, 1], shape) * top * random.uniform(0.1, 1, shape)).astype(
        DTYPES[kind]
    )


DATA: Mapping[str, Callable[[np.random.Generator, str, Shape], Array]] = MappingProxyType(
    {
        each.__name__: each
        for each in (any_bits, normal, finite, tiny, powers, integers, mixed, large)
    }
)
