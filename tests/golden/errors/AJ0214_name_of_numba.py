"""What is refused: a name that amdjit has under another name."""

import amdjit
from amdjit import f32


@amdjit.kernel
def kernel(a: f32[:]):
    a[0] = amdjit.float32(3)


def run():
    kernel.compile()
