"""What is refused: a ufunc of a part of an array that may overlap the output."""

import numpy as np

import amdjit
from amdjit import f32


@amdjit.kernel
def differences(x: f32[:]):
    np.subtract(x[1:], x[:-1], x[1:])


def run():
    differences.compile()
