"""What is refused: f16 for f32."""

import numpy as np

import amdjit
from amdjit import f32


@amdjit.kernel
def double(a: f32[:]):
    i = amdjit.grid(1)
    a[i] = 2 * a[i]


def run():
    double[1, 32](np.ones(32, np.float16))
