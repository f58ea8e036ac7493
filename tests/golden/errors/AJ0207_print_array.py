"""What is refused: print array."""

import numpy as np

import amdjit


@amdjit.kernel
def k(x):
    print(f"all of it: {x}")


def run():
    k[1, 32](np.zeros(32, np.float32))
