"""What is refused: random numbers of the host."""

import random

import numpy as np

import amdjit


@amdjit.kernel
def drawn(x):
    x[0] = random.randint(0, 3)


def run():
    drawn[1, 1](np.zeros(2, np.float32))
