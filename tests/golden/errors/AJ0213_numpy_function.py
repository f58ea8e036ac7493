"""What is refused: numpy function."""

import numpy as np

import amdjit
from amdjit import f32


@amdjit.kernel
def whole(a: f32[:]):
    i = amdjit.grid(1)
    a[i] = np.sort(a)


def run():
    whole.compile()
