"""What is refused: an array that NumPy would make."""

import numpy as np

import amdjit
from amdjit import f32


@amdjit.kernel
def clear(a: f32[:]):
    pair = np.stack((a, a))
    a[0] = pair[0, 0]


def run():
    clear.compile()
