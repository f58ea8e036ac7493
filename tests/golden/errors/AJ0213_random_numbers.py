"""What is refused: random numbers of the host."""

import numpy as np

import amdjit


@amdjit.kernel
def drawn(x):
    x[0] = np.random.rand()


def run():
    drawn[1, 1](np.zeros(2, np.float32))
