"""What is refused: an array with gaps as one with another shape."""

import amdjit
from amdjit import f32


@amdjit.kernel
def column(a: f32[:, :], out: f32[:]):
    out[0] = a[:, ::2].ravel()[0]


def run():
    column.compile()
