"""What is refused: an array of no elements, Numba's name for the LDS that a launch adds."""

import amdjit
from amdjit import f32, shared


@amdjit.kernel
def stage(x: f32[:]):
    tile = shared.array(0, f32)
    tile[0] = x[0]


def run():
    stage.compile()
