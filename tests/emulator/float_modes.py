"""Samples for tests of MODE's rounding and denormal bits, and runs of instructions under them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.emulator.exact_rounding import fused, rounded
from tests.emulator.float_checks import F16, F32, F64
from tests.emulator.single_instruction import (
    join64,
    run_registers,
    samples16,
    samples32,
    samples64,
    split64,
)

Floats = NDArray[Any]


TINY = {F16: 2.0**-14, F32: 2.0**-126, F64: 2.0**-1022}


MODES = range(4)


SAMPLES = 1024


def flushed(x: Floats) -> Floats:
    kind = x.dtype.type
    return np.where(np.abs(x) < kind(TINY[kind]), np.copysign(kind(0), x), x).astype(kind)


def samples(kind: Any, rows: int) -> list[Floats]:
    """Numbers of all kinds; every third column has numbers near each other, whose sums are not
    exact."""
    made = {F16: samples16, F32: samples32, F64: samples64}[kind](rows)[:, :SAMPLES]
    values = [np.ascontiguousarray(row).view(kind) for row in made]
    random = np.random.default_rng(3)
    for row in values:
        row[::3] = (
            random.standard_normal(len(row[::3])) * np.exp2(random.integers(-8, 9, len(row[::3])))
        ).astype(kind)
    return values


def dwords(row: Floats) -> list[NDArray[np.uint32]]:
    if row.dtype == F64:
        return split64(row)
    return [row.view(np.uint32 if row.dtype == F32 else np.uint16).astype(np.uint32)]


def run(body: str, rows: list[Floats], kind: Any, **options: Any) -> Floats:
    """Run on rows in v1, v2, ... (pairs for doubles), read v100 (and v101)."""
    inputs = np.stack([dword for row in rows for dword in dwords(row)])
    found = run_registers(body, inputs, [100, 101] if kind == F64 else [100], **options)
    if kind == F64:
        return join64(found[0], found[1], F64)
    return found[0].view(F32) if kind == F32 else found[0].astype(np.uint16).view(F16)


def names(kind: Any, count: int) -> str:
    if kind == F64:
        return ", ".join(["v[100:101]", *(f"v[{1 + 2 * n}:{2 + 2 * n}]" for n in range(count))])
    return ", ".join(["v100", *(f"v{1 + n}" for n in range(count))])


def each(model: Callable[..., float], rows: list[Floats], kind: Any) -> Floats:
    with np.errstate(all="ignore"):
        values = [model(*(float(x) for x in column)) for column in zip(*rows, strict=True)]
        return np.array(values, np.float64).astype(kind)


def added(kind: Any, mode: int) -> Callable[[float, float], float]:
    return lambda x, y: fused(x, 1.0, y, kind, mode)


def subtracted(kind: Any, mode: int) -> Callable[[float, float], float]:
    return lambda x, y: fused(x, 1.0, -y, kind, mode)


def multiplied(kind: Any, mode: int) -> Callable[[float, float], float]:
    def model(x: float, y: float) -> float:
        if math.isfinite(x) and math.isfinite(y) and x and y:
            return rounded(Fraction(x) * Fraction(y), kind, mode)
        with np.errstate(all="ignore"):
            return float(np.float64(x) * np.float64(y))

    return model


def fused_model(kind: Any, mode: int) -> Callable[[float, float, float], float]:
    return lambda x, y, z: fused(x, y, z, kind, mode)


ARITHMETIC = {
    "add": (added, 2),
    "sub": (subtracted, 2),
    "mul": (multiplied, 2),
    "fma": (fused_model, 3),
}


def modes_of(kind: Any, mode: int) -> dict[str, int]:
    return {"rounding": mode} if kind == F32 else {"wide_rounding": mode}
