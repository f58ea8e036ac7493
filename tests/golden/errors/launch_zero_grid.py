"""What is refused: zero grid."""

import numpy as np

import amdjit


@amdjit.kernel
def fill(a):
    a[amdjit.grid(1)] = 1.0


def run():
    fill[0, 32](np.zeros(0, np.float32))
