"""What is refused: a ufunc with Numba's typing whose results do not convert to the output."""

import numpy as np

import amdjit
from amdjit import f32, i32


@amdjit.kernel(typing="numba")
def sines(x: f32[:], out: i32[:]):
    np.sin(x, out)


def run():
    sines.compile()
