"""What is refused: a function of amdjit's that runs on the host."""

import amdjit
from amdjit import f32


@amdjit.kernel
def waits(a: f32[:]):
    amdjit.synchronize()
    a[0] = 0.0


def run():
    waits.compile()
