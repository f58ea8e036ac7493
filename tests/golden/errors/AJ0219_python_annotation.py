"""What is refused: python annotation."""

import amdjit
from amdjit import f32


@amdjit.kernel
def scale(a: f32[:], factor: float):
    a[0] *= factor


def run():
    scale.compile()
