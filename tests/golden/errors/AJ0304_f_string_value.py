"""What is refused: f string value."""

import numpy as np

import amdjit


@amdjit.kernel
def k(x):
    i = amdjit.grid(1)
    text = f"number {i}"
    x[i] = len(text)


def run():
    k[1, 32](np.zeros(32, np.float32))
