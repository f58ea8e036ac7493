"""What is refused: index count."""

import amdjit
from amdjit import f32


@amdjit.kernel
def row(a: f32[:, :], out: f32[:]):
    out[0] = a[0, 1, 2]


def run():
    row.compile()
