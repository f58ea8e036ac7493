"""What is refused: global array."""

import numpy as np

import amdjit
from amdjit import f32

WEIGHTS = np.ones(4, np.float32)


@amdjit.kernel
def weigh(a: f32[:]):
    a[0] *= WEIGHTS[0]


def run():
    weigh.compile()
