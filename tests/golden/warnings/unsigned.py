"""An unsigned number that is used as if it could be negative."""

import numpy as np

import amdjit


@amdjit.kernel
def previous(a, out):
    i = amdjit.grid(1)
    out[i] = max(0, a[i] - 1)


def run() -> None:
    previous[1, 1](np.ones(1, np.uint8), np.zeros(1, np.uint8))
