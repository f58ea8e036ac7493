"""A product that is narrower than what it becomes."""

import numpy as np

import amdjit


@amdjit.kernel
def squared(a, out):
    i = amdjit.grid(1)
    out[i] = a[i] * a[i]


def run() -> None:
    squared[1, 1](np.ones(1, np.int32), np.zeros(1, np.int64))
