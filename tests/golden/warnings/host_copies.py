"""The same NumPy array is copied to and fro by each launch of a loop."""

import numpy as np

import amdjit


@amdjit.kernel
def step(x):
    i = amdjit.grid(1)
    if i < x.size:
        x[i] = x[i] + 1.0


def run():
    x = np.zeros(32768, np.float32)
    for _ in range(12):
        step[1024, 32](x)
