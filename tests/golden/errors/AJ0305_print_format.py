"""What is refused: print format."""

import numpy as np

import amdjit


@amdjit.kernel
def k(x):
    i = amdjit.grid(1)
    print(f"{i:5d} {x[i]:5d}")


def run():
    k[1, 32](np.zeros(32, np.float32))
