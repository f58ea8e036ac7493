"""Transpose a 16 by 16 matrix of f16 in registers by exchanging values between lanes, after AMD's
third WMMA article.

Lane l holds the 8 elements 8 * (l // 16) + e of row l % 16. For each element of its result it asks
another lane for all 8 of its elements (four `ds_bpermute_b32`) and picks the one it needs.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import f16x8, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import wave


@amdjit.kernel(block=32)
def transpose_shuffle(source, out):
    lane = threadIdx.x
    place = 16 * (lane % 16) + 8 * (lane // 16)
    fragment = source.load(place, 8)
    first_lane = 16 * (lane // 8 % 2) + 8 * (lane // 16)
    transposed = f16x8()
    for e in static_range(8):
        transposed[e] = wave.shuffle(fragment, first_lane + e)[lane % 8]
    out.store(place, transposed)


def main() -> Report:
    """Transpose random numbers; the result is exact because they are only moved."""
    source = np.random.default_rng(7).standard_normal((16, 16)).astype(np.float16)
    out = np.empty_like(source)
    transpose_shuffle[1, 32](source.reshape(-1), out.reshape(-1))
    return compare(
        "transpose_shuffle", "the transpose of a 16x16 f16 matrix against NumPy", out, source.T
    )


if __name__ == "__main__":
    print(main())
