"""A bitwise operator between comparisons; in parentheses it is meant."""

import numpy as np

import amdjit


@amdjit.kernel
def between(a, out):
    i = amdjit.grid(1)
    if 0 < (a[i] & 3) < 3:
        out[i] += 1
    if a[i] > 1 & a[i] < 5:
        out[i] += 2


def run() -> None:
    between[1, 1](np.ones(1, np.int32), np.zeros(1, np.int32))
