"""What is refused: module attribute."""

import math

import amdjit
from amdjit import f32


@amdjit.kernel
def root(a: f32[:]):
    a[0] = math.sqroot(a[0])


def run():
    root.compile()
