"""What is refused: a new array whose shape is known only at run time."""

import numpy as np

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def buffer(out: f32[:], n: i32):
    made = np.zeros(n)
    out[0] = made.sum()


def run():
    buffer.compile()
