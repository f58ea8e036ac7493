"""What is refused: an atomic operation on an element."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def kernel(a: f32[:, :], n: i32):
    amdjit.atomic.add(a[0, n], 1)


def run():
    kernel.compile()
