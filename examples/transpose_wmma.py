"""Transpose a 16 by 16 matrix of f16 with the matrix cores: S times the identity, stored the other
way round.

WMMA takes A by rows and leaves D by columns in the same registers, so a product with the identity
is a transpose. Unlike `transpose_shuffle`, it computes: an infinity or NaN spoils its whole row (0
times infinity), and -0 becomes 0.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import f16, f16x8, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import amdgcn


@amdjit.kernel(block=32)
def transpose_wmma(source, out):
    row, half = threadIdx.x % 16, threadIdx.x // 16
    place = 16 * row + 8 * half
    identity = f16x8()
    for e in static_range(8):
        identity[e] = f16(1) if 8 * half + e == row else f16(0)
    same = amdgcn.wmma_f16_16x16x16_f16_w32_gfx12(source.load(place, 8), identity, f16x8())
    out.store(place, same)


def main() -> Report:
    """Transpose random finite numbers: one times a number plus zeros is exact."""
    source = np.random.default_rng(8).standard_normal((16, 16)).astype(np.float16)
    out = np.empty_like(source)
    transpose_wmma[1, 32](source.reshape(-1), out.reshape(-1))
    return compare(
        "transpose_wmma", "the transpose of a 16x16 f16 matrix against NumPy", out, source.T
    )


if __name__ == "__main__":
    print(main())
