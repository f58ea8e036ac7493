"""What is refused: array of strings."""

import numpy as np

import amdjit


@amdjit.kernel
def fill(a):
    a[amdjit.grid(1)] = 1.0


def run():
    fill[1, 32](np.array(["red", "green"]))
