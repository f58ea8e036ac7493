"""What is refused: a comprehension over an array, whose length is known at run time only."""

import amdjit
from amdjit import f32


@amdjit.kernel
def total(a: f32[:], out: f32[:]):
    out[0] = sum(x * x for x in a)


def run():
    total.compile()
