"""What is refused: a global array whose elements no kernel can hold."""

import numpy as np

import amdjit
from amdjit import f32

WEIGHTS = np.array([0.5, None])


@amdjit.kernel
def weigh(a: f32[:]):
    a[0] *= WEIGHTS[0]


def run():
    weigh.compile()
