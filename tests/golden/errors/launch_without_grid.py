"""What is refused: without grid."""

import numpy as np

import amdjit


@amdjit.kernel
def fill(a):
    a[amdjit.grid(1)] = 1.0


def run():
    fill(np.zeros(32, np.float32))
