"""Complex numbers have no order."""

import numpy as np

import amdjit


@amdjit.kernel
def least(z, out):
    if z[0] < 1j:
        out[0] = 1


def run():
    least[1, 1](np.zeros(1, np.complex64), np.zeros(1, np.float32))
