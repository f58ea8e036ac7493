"""A number's name that only some paths assign, with Numba's typing."""

import numpy as np

from amdjit import numba_cuda as cuda


@cuda.jit
def differences(a, out):
    i = cuda.grid(1)
    if i > 0:
        step = a[i] - a[i - 1]
    if i == 0:
        step = a[i]
    out[i] = step


def run():
    differences[1, 4](np.array([2, 2, 5, 9]), np.zeros(4, np.int64))
