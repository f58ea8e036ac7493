"""What is refused: raise from."""

import numpy as np

import amdjit


@amdjit.kernel
def k(x):
    i = amdjit.grid(1)
    if x[i] < 0:
        raise ValueError("negative") from KeyError


def run():
    k[1, 32](np.zeros(32, np.float32))
