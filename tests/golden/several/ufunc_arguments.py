"""What is refused: arguments that ufuncs have on the host only, and outputs that are no arrays."""

import numpy as np

import amdjit
from amdjit import f32


@amdjit.kernel
def quotients(x: f32[:], y: f32[:]):
    np.add(x, y, out=y, where=True)
    np.divmod(x, 3, y)
    np.negative(x, y[0])


def run():
    quotients.compile()
