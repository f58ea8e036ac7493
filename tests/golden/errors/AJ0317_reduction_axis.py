"""What is refused: the sum along one axis of an array."""

import amdjit
from amdjit import f32


@amdjit.kernel
def columns(a: f32[:, :], out: f32[:]):
    out[0] = a.sum(axis=0)[0]


def run():
    columns.compile()
