"""An intrinsic of your own: `v_med3_num_f32` returns the median of three numbers.

The declaration is complete: the signature gives the types, the decorator the LLVM intrinsic that it
becomes, and the body its meaning in Python. No other entry is needed.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import LlvmCall, f32
from amdjit.examples.report import Report, compare

BLOCK = 256


@amdjit.intrinsic(LlvmCall("llvm.amdgcn.fmed3.{a}"), isa="v_med3_num_f32")
def median(a: f32, b: f32, c: f32) -> f32:
    """Return the median of three values."""
    return sorted((a, b, c))[1]


@amdjit.kernel
def median_filter(x, out):
    i = amdjit.grid(1)
    last = x.shape[0] - 1
    if i <= last:
        out[i] = median(x[max(i - 1, 0)], x[i], x[min(i + 1, last)])


def main(n: int = 10_000) -> Report:
    """Remove the spikes from a sine wave; the first numbers also go through the Python body."""
    x = np.sin(np.linspace(0, 20, n)).astype(np.float32)
    x[::50] += 5
    out = np.empty_like(x)
    median_filter[(n + BLOCK - 1) // BLOCK, BLOCK](x, out)
    neighbours = np.stack([np.concatenate([x[:1], x[:-1]]), x, np.concatenate([x[1:], x[-1:]])])
    expected = np.median(neighbours, axis=0)
    assert [median(*three) for three in neighbours.T[:100]] == expected[:100].tolist()
    return compare("user_intrinsic", f"a median filter over {n} f32 against NumPy", out, expected)


if __name__ == "__main__":
    print(main())
