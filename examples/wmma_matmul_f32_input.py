"""Multiply 16 by 16 matrices of f32 with the f16 matrix instruction: `v_cvt_pk_rtz_f16_f32`
converts pairs to f16.

This instruction rounds toward zero, unlike `f16(x)`: 65520.0 becomes 65504, not infinity. The NumPy
side must do the same.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import f16x8, f32x8, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.convert import round_toward_zero_to_f16


@amdjit.device_function
def pack(values):
    """Return eight f32 as f16, two at a time."""
    packed = f16x8()
    for pair in static_range(4):
        two = amdgcn.cvt_pkrtz(values[2 * pair], values[2 * pair + 1])
        packed[2 * pair] = two[0]
        packed[2 * pair + 1] = two[1]
    return packed


@amdjit.kernel(block=32)
def wmma_matmul_f32_input(a, b, c):
    column, half = threadIdx.x % 16, threadIdx.x // 16
    low = a.load(16 * column + 8 * half, 4)
    high = a.load(16 * column + 8 * half + 4, 4)
    b_column = f32x8()
    for e in static_range(8):
        b_column[e] = b[16 * (8 * half + e) + column]
    a_row = amdjit.shuffle(low, high, (0, 1, 2, 3, 4, 5, 6, 7))
    c_fragment = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(pack(a_row), pack(b_column), f32x8())
    for e in static_range(8):
        c[16 * (8 * half + e) + column] = c_fragment[e]


def main() -> Report:
    """Multiply matrices that rounding to nearest would change.

    Rounded toward zero, every element except 65504 is a small integer, so NumPy's product is exact
    too.
    """
    random = np.random.default_rng(5)
    just_above = (
        1 + 2**-11 + 2**-20
    )  # just above halfway between two f16: up to nearest, down toward zero
    a, b = ((random.integers(-4, 5, (16, 16)) * just_above).astype(np.float32) for _ in range(2))
    a[0, 0] = 65520.0  # to nearest this is infinity
    c = np.empty((16, 16), np.float32)
    wmma_matmul_f32_input[1, 32](a.reshape(-1), b.reshape(-1), c.reshape(-1))
    expected = round_toward_zero_to_f16(a).astype(np.float64) @ round_toward_zero_to_f16(b).astype(
        np.float64
    )
    checked = "a 16x16x16 product of f32, rounded toward zero to f16, against NumPy"
    return compare("wmma_matmul_f32_input", checked, c, expected)


if __name__ == "__main__":
    print(main())
