"""What is refused: block over 1024."""

import numpy as np

import amdjit


@amdjit.kernel
def fill(a):
    a[amdjit.grid(1)] = 1.0


def run():
    fill[1, (64, 32)](np.zeros(2048, np.float32))
