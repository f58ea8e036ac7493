"""Code objects of Triton, IREE and FlyDSL that are kept: they run where the compilers are not
installed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.foreign.foreign_compilers import ForeignObject
from tests.foreign.foreign_data import EPSILON, attention, integers, normal, rounding, softmax, wide
from tests.foreign.foreign_launches import Expected, Launch, check_launch

FOLDER = Path(__file__).with_name("objects")
FACTS = json.loads((FOLDER / "objects.json").read_text())
rng = np.random.default_rng(24)


def load(name: str) -> tuple[ForeignObject, Any]:
    """Return a code object, and its workgroups where its compiler fixes them."""
    facts = FACTS[name]
    items = facts["work_items"]
    block = tuple(items) if isinstance(items, list) else items
    code = (FOLDER / f"{name}.co").read_bytes()
    return ForeignObject(
        facts["compiler"], facts["version"], code, facts["symbol"], block, facts["dynamic_lds"]
    ), facts["grid"]


def words(*values: int) -> list[Any]:
    return [np.int32(value) for value in values]


def triton_softmax(grid: Any) -> Launch:
    x = normal(rng, (3, 200), "bf16")
    out = np.zeros_like(x)
    reference = softmax(x)
    bound = rounding(reference, "bf16") + 16 * EPSILON["f32"] * reference
    return Launch(3, [x, out, *words(200, 200), None, None], [Expected(out, reference, bound)])


def triton_matmul(kind: str) -> Callable[[Any], Launch]:
    def launch(grid: Any) -> Launch:
        m, n, k = 50, 40, 70
        a, b = integers(rng, (m, k), kind), integers(rng, (k, n), kind)
        out = np.zeros((m, n), np.int32 if kind == "i8" else np.float32)
        args = [a, b, out, *words(m, n, k, k, 1, n, 1, n), None, None]
        return Launch(4, args, [Expected(out, wide(a) @ wide(b))])

    return launch


def triton_attention(grid: Any) -> Launch:
    q, k, v = (normal(rng, (2, 50, 32), "f16") for _ in range(3))
    out = np.zeros_like(q)
    reference, bound = attention(q, k, v, 0.125, True, "f16")
    args = [q, k, v, out, np.int32(50), np.float32(0.125), np.int32(50 * 32), None, None]
    return Launch((2, 2), args, [Expected(out, reference, bound + rounding(reference, "f16"))])


def iree_matmul(grid: Any) -> Launch:
    a, b, out = (
        integers(rng, (50, 70), "f16"),
        integers(rng, (70, 40), "f16"),
        np.zeros((50, 40), np.float32),
    )
    return Launch(tuple(grid), [a, b, out], [Expected(out, wide(a) @ wide(b))])


def iree_sum(grid: Any) -> Launch:
    x, out = integers(rng, (1, 3500), "f32", 50), np.zeros(1, np.float32)
    return Launch(tuple(grid), [x, out], [Expected(out, x.sum(1))])


def iree_softmax(grid: Any) -> Launch:
    x = normal(rng, (4, 64), "bf16")
    out = np.zeros_like(x)
    reference = softmax(x)
    bound = (8 + 64**0.5) * EPSILON["bf16"] * reference + rounding(reference, "bf16")
    return Launch(tuple(grid), [x, out], [Expected(out, reference, bound)])


def flydsl_gemm(grid: Any) -> Launch:
    a, b, out = (
        integers(rng, (64, 48), "fp8"),
        integers(rng, (32, 48), "fp8"),
        np.zeros((64, 32), np.float32),
    )
    return Launch((2, 1), [a, b, out], [Expected(out, wide(a) @ wide(b).T)])


LAUNCHES: dict[str, Callable[[Any], Launch]] = {
    "triton_softmax": triton_softmax,
    "triton_matmul_f16": triton_matmul("f16"),
    "triton_matmul_i8": triton_matmul("i8"),
    "triton_attention": triton_attention,
    "iree_matmul": iree_matmul,
    "iree_sum": iree_sum,
    "iree_softmax": iree_softmax,
    "flydsl_gemm": flydsl_gemm,
}


# Attention is softmax and products, which others do, in a kernel that takes as long as those others
# together.
@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.exhaustive if name == "triton_attention" else ())
        for name in FACTS
    ],
)
def test_kept_objects_compute_what_numpy_does_and_are_clean(name: str) -> None:
    code, grid = load(name)
    check_launch(code, LAUNCHES[name](grid))
