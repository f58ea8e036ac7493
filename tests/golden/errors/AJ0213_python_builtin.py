"""What is refused: python builtin."""

import amdjit
from amdjit import f32


@amdjit.kernel
def total(a: f32[:], out: f32[:]):
    out[0] = hash(a[0])


def run():
    total.compile()
