"""What is refused: print too much."""

import numpy as np

import amdjit


@amdjit.kernel
def k(x):
    i = amdjit.grid(1)
    v = x.load(0, 16)
    print(i, v, v, v)


def run():
    k[1, 32](np.zeros(32, np.float32))
