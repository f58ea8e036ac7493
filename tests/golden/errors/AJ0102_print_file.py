"""What is refused: print file."""

import numpy as np

import amdjit


@amdjit.kernel
def k(x):
    i = amdjit.grid(1)
    print(x[i], file=None)


def run():
    k[1, 32](np.zeros(32, np.float32))
