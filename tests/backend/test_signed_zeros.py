"""`0.0 - x` is 0.0 where x is 0.0, whatever uses it: LLVM's instruction selection alone would make it `-x`."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import amdjit
from amdjit import f16, f32, local
from amdjit.backend.signed_zeros import keep_signs_of_zeros
from amdjit.options import named_target


def from_zero(x: f32[:], y: f32[:], out: f32[:, :]) -> None:
    i = amdjit.threadIdx.x
    zero_minus = f32(0) - x[i]
    out[0, i] = zero_minus * y[i]
    out[1, i] = (f32(0) + -x[i]) * y[i]
    out[2, i] = f32((f16(0) - f16(x[i])) * f16(y[i]))
    out[3, i] = max(zero_minus - y[i] * 0, zero_minus)
    total = f32(0)
    for value in (x[i], y[i] - y[i]):
        total -= value
    out[4, i] = total * y[i]
    parts = local.array(4, f32)
    for k in range(4):
        parts[k] = (f32(0) - x[(i + k) % 8]) * y[i]
    out[5, i] = parts[i % 4]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_zero_minus_zero_is_zero(level: int) -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, 0.0, -0.0, np.inf, 2.0], np.float32)
    y = np.array([1.0, 1.0, 1.0, 1.0, -2.0, -2.0, 0.5, -0.0], np.float32)
    out = np.full((6, 8), 7, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", amdjit.PerformanceWarning)  # at level 0
        amdjit.kernel(from_zero, opt_level=level)[1, 8](x, y, out)
    minus = np.float32(0) - x
    product = minus * y
    picked = np.array([minus[(i + i % 4) % 8] * y[i] for i in range(8)], np.float32)
    with np.errstate(invalid="ignore"):
        expected = np.stack(
            [product, product, product, np.maximum(minus - y * 0, minus), (minus - (y - y)) * y, picked]
        )
    assert_array_equal(out, expected)
    assert_array_equal(np.signbit(out), np.signbit(expected))


def test_it_costs_no_instruction_and_fast_math_keeps_the_negation() -> None:
    def minus(x: f32[:], y: f32[:]) -> None:
        y[0] = (f32(0) - x[0]) * y[0]

    exact = amdjit.kernel(minus).compile(target="gfx1201").asm
    assert len(re.findall(r"\tv_(?:sub|mul)_f32", exact)) + len(re.findall(r"\ts_(?:sub|mul)_f32", exact)) == 2
    fast = amdjit.kernel(minus, fastmath=True).compile(target="gfx1201").asm
    assert not re.search(r"\t[sv]_sub_f32", fast)


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ("%3 = fsub float 0.000000e+00, %2", True),
        ('%".4" = fsub contract float 0.000000e+00, %2, !dbg !7', True),
        ("%x = fsub half 0xH0000, %2", True),
        ("%x = fsub <4 x float> zeroinitializer, %2", True),
        ("%x = fsub <2 x half> <half 0xH0000, half 0xH3C00>, %2", True),
        ("%2 = fneg float %1\n  %3 = fadd float %2, 0.000000e+00", True),
        ("%2 = fsub float %0, %1\n  %3 = fadd float %2, 0.000000e+00", False),
        ("%x = fsub <2 x float> <float -0.000000e+00, float 1.000000e+00>, %2", False),
        ("%3 = fsub nsz float 0.000000e+00, %2", False),
        ("%3 = fsub reassoc nsz arcp contract half 0xH0000, %2", False),
        ("%3 = fsub float -0.000000e+00, %2", False),
        ("%3 = fsub float 1.000000e+00, %2", False),
        ("%3 = fsub float %1, %2", False),
        ("%3 = fsub double 0.000000e+00, %2", False),
    ],
)
def test_what_is_a_subtraction_from_zero(line: str, is_kept: bool) -> None:
    assert ("llvm.canonicalize" in keep_signs_of_zeros(f"  {line}\n", named_target("gfx1201"))) == is_kept
