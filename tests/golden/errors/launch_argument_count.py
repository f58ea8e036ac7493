"""What is refused: argument count."""

import numpy as np

import amdjit


@amdjit.kernel
def add(a, b, out):
    i = amdjit.grid(1)
    out[i] = a[i] + b[i]


def run():
    add[1, 32](np.zeros(32, np.float32), np.zeros(32, np.float32))
