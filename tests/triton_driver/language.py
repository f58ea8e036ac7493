"""What the tests of Triton's language share: kernels from a template, random values, and the types
that Triton computes in. Arrays are NumPy's, with ml_dtypes' small floats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import triton
from numpy.typing import DTypeLike, NDArray

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float16", "bfloat16", "float32", "float64")
SMALL_FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
NUMBERS = INTEGERS + FLOATS


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def kernel(template: Any, **texts: str) -> Any:
    """Return a kernel like a template, in whose source words are replaced."""
    made = triton.JITFunction(template.fn)
    source = made.src
    for word, text in texts.items():
        assert word in source
        source = source.replace(word, text)
    made._unsafe_update_src(source)
    return made


def values(
    shape: int | tuple[int, ...], dtype: str, seed: int = 27, high: int | None = None
) -> Any:
    """Return random values: integers of the whole range or below `high`, no 0 among them; normal
    floats."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        top = limits.max if high is None else high
        low = limits.min if high is None else max(-high, limits.min)
        found = random.integers(low, top, shape, dtype)
        return np.where(found == 0, np.array(1, dtype), found)
    return random.standard_normal(shape).astype(dtype_of(dtype))


def computed_in(x: str, y: str, divides: bool = False) -> str:
    """Return the type in which Triton computes with operands of two types."""
    if "float64" in (x, y):
        return "float64"
    if divides and (x in FLOATS or y in FLOATS):
        return "float32"
    for name in ("float32", "float16"):
        if name in (x, y):
            return name
    if "bfloat16" in (x, y):
        return "bfloat16" if x == y else "float32"
    _, wider = sorted((x, y), key=lambda each: (dtype_of(each).itemsize, each in UNSIGNED))
    return wider


def expect(found: NDArray[Any], wanted: Any, close: float = 0.0) -> None:
    """Compare results; close: by how much of its value, or of one, an element may differ."""
    found, wanted = (np.asarray(each) for each in (found, wanted))
    if found.dtype.kind not in "biufc":
        found = found.astype(np.float32)
    if wanted.dtype.kind not in "biufc":
        wanted = wanted.astype(np.float32)
    np.testing.assert_allclose(found, wanted, rtol=close, atol=close)


def empty(shape: int | tuple[int, ...], dtype: str | DTypeLike) -> Any:
    return np.zeros(shape, dtype_of(dtype) if isinstance(dtype, str) else dtype)
