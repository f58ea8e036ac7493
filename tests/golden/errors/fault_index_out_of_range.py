"""What is refused: index out of range."""

import numpy as np

import amdjit


@amdjit.kernel
def shift(a):
    i = amdjit.grid(1)
    a[i + 4] = a[i]


def run():
    shift[1, 32](np.zeros(32, np.float32))
