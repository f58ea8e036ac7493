"""What is refused: an array that a loop makes, kept for the next iteration under another name."""

import numpy as np

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def steps(out: f32[:], n: i32):
    before = np.zeros(2)
    for i in range(n):
        after = np.full(2, before[0] + i)
        out[i] = before[1]
        before = after


def run():
    steps.compile()
