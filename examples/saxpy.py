"""y = a x + y, the other classic first kernel. The types come from the call: f32 arrays and an f32
scalar.

LLVM may fuse the product and the sum into one `v_fma_f32`, which rounds once where NumPy rounds
twice.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit.examples.report import Report, compare

BLOCK = 256


@amdjit.kernel
def saxpy(a, x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


def main(n: int = 1_000_000) -> Report:
    """Run it on n random f32 and compare with NumPy."""
    random = np.random.default_rng(2)
    a = np.float32(2.5)
    x, y = random.random(n, np.float32), random.random(n, np.float32)
    out = np.empty_like(x)
    saxpy[(n + BLOCK - 1) // BLOCK, BLOCK](a, x, y, out)
    one_rounding = float(np.spacing(np.float32(4)))
    return compare(
        "saxpy", f"a x + y of {n} f32 against NumPy", out, a * x + y, tolerance=one_rounding
    )


if __name__ == "__main__":
    print(main())
