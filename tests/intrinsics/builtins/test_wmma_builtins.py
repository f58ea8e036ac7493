"""WMMA builtins agree with their models on registers of random numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import (
    threadIdx,
)
from amdjit.intrinsics import amdgcn

RANDOM = np.random.default_rng(11)

FLOAT_WMMA = [
    ("wmma_f32_16x16x16_f16_w32_gfx12", np.float16, np.float32),
    ("wmma_f16_16x16x16_f16_w32_gfx12", np.float16, np.float16),
    ("wmma_f32_16x16x16_bf16_w32_gfx12", ml_dtypes.bfloat16, np.float32),
    ("wmma_bf16_16x16x16_bf16_w32_gfx12", ml_dtypes.bfloat16, ml_dtypes.bfloat16),
    ("wmma_f32_16x16x16_fp8_fp8_w32_gfx12", ml_dtypes.float8_e4m3fn, np.float32),
    (
        "wmma_f32_16x16x16_fp8_bf8_w32_gfx12",
        (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
        np.float32,
    ),
    (
        "wmma_f32_16x16x16_bf8_fp8_w32_gfx12",
        (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn),
        np.float32,
    ),
    ("wmma_f32_16x16x16_bf8_bf8_w32_gfx12", ml_dtypes.float8_e5m2, np.float32),
]


def load(c, place):
    low, high = c.load(place, 4), c.load(place + 4, 4)
    return amdjit.shuffle(low, high, (0, 1, 2, 3, 4, 5, 6, 7))


def store(d, place, result):
    d.store(place, amdjit.shuffle(result, result, (0, 1, 2, 3)))
    d.store(place + 4, amdjit.shuffle(result, result, (4, 5, 6, 7)))


@amdjit.kernel
def float_wmma(a, b, c, d, instruction: amdjit.Const):
    lane = 8 * threadIdx.x
    store(d, lane, instruction(a.load(lane, 8), b.load(lane, 8), load(c, lane)))


@pytest.mark.sample(4)
@pytest.mark.parametrize(("name", "inputs", "output"), FLOAT_WMMA)
def test_float_wmma_agrees_with_its_model(name: str, inputs: Any, output: type) -> None:
    left, right = inputs if isinstance(inputs, tuple) else (inputs, inputs)
    a, b = (RANDOM.integers(-2, 3, (32, 8)).astype(dtype) for dtype in (left, right))
    c = RANDOM.integers(-4, 5, (32, 8)).astype(output)
    d = np.zeros((32, 8), output)
    instruction = getattr(amdgcn, name)
    float_wmma[1, 32](a.reshape(-1), b.reshape(-1), c.reshape(-1), d.reshape(-1), instruction)
    if a.itemsize == 1:
        a, b = a.view(np.int32), b.view(np.int32)
    np.testing.assert_array_equal(d.astype(np.float32), instruction(a, b, c).astype(np.float32))


@amdjit.kernel
def integer_wmma(a, b, c, d, instruction: amdjit.Const, words: amdjit.Const, flags: amdjit.Const):
    lane = threadIdx.x
    a_fragment = a[lane] if words == 1 else a.load(2 * lane, 2)
    b_fragment = b[lane] if words == 1 else b.load(2 * lane, 2)
    result = instruction(flags[0], a_fragment, flags[1], b_fragment, load(c, 8 * lane), flags[2])
    store(d, 8 * lane, result)


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "flags", [(True, True, False), (False, True, False), (True, False, True), (False, False, True)]
)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wmma_i32_16x16x16_iu8_w32_gfx12", 2),
        ("wmma_i32_16x16x16_iu4_w32_gfx12", 1),
        ("wmma_i32_16x16x32_iu4_w32_gfx12", 2),
    ],
)
def test_integer_wmma_agrees_with_its_model(
    name: str, words: int, flags: tuple[bool, bool, bool]
) -> None:
    a, b = (RANDOM.integers(-(2**31), 2**31, (32, words)).astype(np.int32) for _ in range(2))
    c = RANDOM.integers(-(2**31), 2**31, (32, 8)).astype(np.int32)
    d = np.zeros((32, 8), np.int32)
    instruction = getattr(amdgcn, name)
    integer_wmma[1, 32](
        a.reshape(-1), b.reshape(-1), c.reshape(-1), d.reshape(-1), instruction, words, flags
    )
    operands = (a[:, 0], b[:, 0]) if words == 1 else (a, b)
    expected = instruction(flags[0], operands[0], flags[1], operands[1], c, flags[2])
    np.testing.assert_array_equal(d, expected)
