"""What is refused: a function of math that is not imported."""

import amdjit
from amdjit import f32


@amdjit.kernel
def kernel(a: f32[:]):
    a[0] = sqrt(a[1])  # noqa: F821


def run():
    kernel.compile()
