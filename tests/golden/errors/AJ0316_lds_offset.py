"""What is refused: an array in dynamic LDS that begins at no multiple of 16 bytes."""

import amdjit
from amdjit import f16, f32, shared


@amdjit.kernel
def staged(a: f32[:]):
    halves = shared.dynamic(f16, offset=24)
    a[0] = f32(halves[0])


def run():
    staged.compile()
