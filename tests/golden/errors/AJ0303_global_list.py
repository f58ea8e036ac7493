"""What is refused: a list outside the kernel."""

import amdjit
from amdjit import f32

WEIGHTS = [0.25, 0.5, 0.25]


@amdjit.kernel
def weigh(a: f32[:]):
    a[0] *= WEIGHTS[0]


def run():
    weigh.compile()
