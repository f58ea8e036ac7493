"""An 8-bit product with an activation on top, in one kernel, after rocWMMA's perf_i8gemm and
simple_gemm_act samples.

D = activation(A B) of i8, with ReLU (and C added) or SiLU, each scaled and saturated to 8 bits. The
loop is that of perf_hgemm: steps of 64 along k, 64 WMMAs each. With `wide_k` the fragments read 16
bytes per lane for two WMMAs. This changes the order of k in A and B alike, which makes no
difference to sums of integers.
"""

from __future__ import annotations

import math

import numpy as np

import amdjit
from amdjit import bitcast, f32, i8, i32, static_range
from amdjit.examples.perf_hgemm import TILE, WAVES, compute_tile
from amdjit.examples.report import Report, compare
from amdjit.examples.waves import lanes, of_waves
from amdjit.intrinsics import amdgcn

STEP = 64
LOG2_E = math.log2(math.e)
ROUNDING = f32(1.5 * 2**23)


@amdjit.device_function
def relu(total, c, parameters):
    """Return the sum, or 0 if it is negative, divided by a power of two and added to c."""
    return i8(max(min((max(total, 0) >> parameters[0]) + i32(c), 127), -128))


@amdjit.device_function
def silu(total, c, parameters):
    """Return x / (1 + exp(-x)) for the scaled sum x, scaled again, rounded to the nearest and
    saturated.

    The power of two and the quotient take one instruction each; errors in their last bits disappear
    in the rounding.
    """
    scale, result_scale = parameters
    x = scale * f32(total)
    y = result_scale * x * amdgcn.rcpf(1 + amdgcn.exp2f(-LOG2_E * x))
    # Above 2^23 f32 holds integers only: the sum rounds y, and its low bits are the result.
    return i8(min(bitcast(y + ROUNDING, i32) - bitcast(ROUNDING, i32), 127))


@amdjit.device_function
def activated(total, part, how):
    """Set a part of D to `activation(total, c, parameters)`, element by element. how: (activation,
    parameters)."""
    activation, parameters = how
    for e in static_range(part.num_elements):
        part.x[e] = activation(total.x[e], part.x[e], parameters)


@amdjit.kernel(block=(32 * WAVES, 1, 1))
def i8_gemm(a, b, c, d, activation: amdjit.Const, parameters):
    """a: m by k; b: n by k, the transpose of B; c, d: m by n; m and n multiples of 128, k of 64."""
    compute_tile(a, b, c, d, (i8, i32), STEP, activated, (activation, parameters))


def run(m: int, n: int, k: int, name: str) -> Report:
    """Multiply random integers; the result is exact."""
    random = np.random.default_rng(2)
    a, b = (
        random.integers(-8, 8, (m, k)).astype(np.int8),
        random.integers(-8, 8, (n, k)).astype(np.int8),
    )
    c = random.integers(-20, 20, (m, n)).astype(np.int8)
    d = np.full((m, n), 77, np.int8)
    total = a.astype(np.int32) @ b.T.astype(np.int32)
    launch = of_waves(i8_gemm, WAVES)[(n // TILE, m // TILE), lanes() * WAVES]
    if name == "ReLU":
        expected = np.clip((np.maximum(total, 0) >> 4) + c, -128, 127)
        launch(a, b, c, d, relu, (4,))
    else:
        x = total / 64
        expected = np.minimum(np.rint(16 * x / (1 + np.exp(-x))), 127).astype(np.int64)
        launch(a, b, c, d, silu, (f32(1 / 64), f32(16)))
    return compare("i8_gemm", f"{name}(A B) of {m}x{n}x{k} i8 against NumPy", d, expected)


def main() -> list[Report]:
    """Run both activations."""
    return [run(128, 256, 192, "ReLU"), run(128, 128, 128, "SiLU")]


if __name__ == "__main__":
    print(*main(), sep="\n")
