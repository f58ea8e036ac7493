"""Add two vectors, one element per work-item.

A grid is a whole number of workgroups, so it may have more work-items than there are elements; the
others do nothing.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit.examples.report import Report, compare

BLOCK = 256


@amdjit.kernel
def vector_add(x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]


def main(n: int = 1_000_000) -> Report:
    """Add n random f32 and compare with NumPy: both round once, so the results are equal."""
    random = np.random.default_rng(1)
    x, y = random.random(n, np.float32), random.random(n, np.float32)
    out = np.empty_like(x)
    vector_add[(n + BLOCK - 1) // BLOCK, BLOCK](x, y, out)
    return compare("vector_add", f"x + y of {n} f32 against NumPy", out, x + y)


if __name__ == "__main__":
    print(main())
