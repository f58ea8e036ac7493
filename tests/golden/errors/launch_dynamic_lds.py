"""What is refused: dynamic lds."""

import numpy as np

import amdjit
from amdjit import f32, shared, syncthreads


@amdjit.kernel
def reverse(a: f32[:]):
    cells = shared.dynamic(f32)
    i = amdjit.grid(1)
    cells[i] = a[i]
    syncthreads()
    a[i] = cells[31 - i]


def run():
    reverse[1, 32, None, 65 * 1024](np.zeros(32, np.float32))
