"""What is refused: `^` as a power."""

import amdjit
from amdjit import f32


@amdjit.kernel
def kernel(a: f32[:]):
    a[0] = a[1] ^ 2


def run():
    kernel.compile()
