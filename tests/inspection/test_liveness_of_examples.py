"""Garbage in dead registers leaves the examples' results right: kernels of matrix products, LDS,
barriers and loops, launched as users do."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import amdjit.examples
from tests.inspection.garbage import garbage_in_dead_registers

NAMES = sorted(
    info.name
    for info in pkgutil.iter_modules(amdjit.examples.__path__)
    if info.name not in ("report", "waves")
)
# The others take longer, or are much like these.
QUICK = (
    "mlp",
    "transpose_shuffle",
    "transpose_wmma",
    "user_intrinsic",
    "wide_k_int8",
    "wmma_matmul",
)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in QUICK else pytest.mark.exhaustive) for n in NAMES],
)
def test_examples_are_right_with_garbage_in_dead_registers(name: str) -> None:
    example = importlib.import_module(f"amdjit.examples.{name}")
    with garbage_in_dead_registers(1) as launches:
        example.main()
    assert sum(launches.kernels.values()) > 0
