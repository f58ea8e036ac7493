"""What is refused: a global array too large to be constants."""

import numpy as np

import amdjit
from amdjit import f32

WEIGHTS = np.ones((300, 100), np.float32)


@amdjit.kernel
def weigh(a: f32[:]):
    a[0] *= WEIGHTS[0, 0]


def run():
    weigh.compile()
