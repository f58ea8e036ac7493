"""Two layers of a network, W2 (W1 X), as two matrix instructions with no exchange between lanes.

The result of one WMMA lies in registers like this: element e of lane l is row 8 * (l // 16) + e,
column l % 16. This is exactly the layout of the next WMMA's B operand if A uses the same order of
k, so layer 2 takes layer 1's result as it is, rounded to f16.

The kernel in AMD's article does not clear the accumulator between the layers, so it computes W2 H +
H with H = W1 X: a layer with a residual connection. Here this is a compile-time choice.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import f16x8, f32x8, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import amdgcn


@amdjit.kernel(block=32)
def mlp(weights, x, out, residual: amdjit.Const):
    column, half = threadIdx.x % 16, threadIdx.x // 16
    row = 16 * column + 8 * half
    x_fragment = f16x8()
    for e in static_range(8):
        x_fragment[e] = x[16 * (8 * half + e) + column]

    hidden = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(weights.load(row, 8), x_fragment, f32x8())
    start = hidden if residual else f32x8()
    result = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(
        weights.load(256 + row, 8), f16x8(hidden), start
    )

    for e in static_range(8):
        out[16 * (8 * half + e) + column] = result[e]


def run(residual: bool) -> Report:
    """Run one variant on small integers, whose sums f16 and f32 hold exactly."""
    random = np.random.default_rng(6)
    weights = random.integers(-3, 4, (2, 16, 16)).astype(np.float16)
    x = random.integers(-3, 4, (16, 16)).astype(np.float16)
    out = np.empty((16, 16), np.float32)
    mlp[1, 32](weights.reshape(-1), x.reshape(-1), out.reshape(-1), residual)
    w1, w2 = weights.astype(np.float32)
    hidden = w1 @ x.astype(np.float32)
    expected = w2 @ hidden + (hidden if residual else 0)
    formula = "W2 H + H" if residual else "W2 H"
    return compare("mlp", f"{formula} with H = W1 X, 16x16 f16, against NumPy", out, expected)


def main() -> list[Report]:
    """Run both variants."""
    return [run(residual=False), run(residual=True)]


if __name__ == "__main__":
    print(*main(), sep="\n")
