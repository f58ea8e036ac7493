"""What is refused: array of another byte order."""

import numpy as np

import amdjit


@amdjit.kernel
def fill(a):
    a[amdjit.grid(1)] = 1.0


def run():
    fill[1, 32](np.ones(4, ">f4"))
