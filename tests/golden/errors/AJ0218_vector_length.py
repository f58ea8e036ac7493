"""What is refused: vector length."""

import amdjit
from amdjit import f32, f32x4


@amdjit.kernel
def corner(a: f32[:]):
    v = f32x4(a[0], a[1], a[2])
    a[3] = v[0]


def run():
    corner.compile()
