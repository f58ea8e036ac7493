"""What is refused: the sines of an array whose size is known only at run time, without an output."""

import numpy as np

import amdjit
from amdjit import f32


@amdjit.kernel
def sines(x: f32[:], out: f32[:]):
    y = np.sin(x)
    out[0] = y[0]


def run():
    sines.compile()
