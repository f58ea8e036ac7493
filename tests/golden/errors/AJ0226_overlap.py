"""What is refused: assigning a part of an array to an overlapping one."""

import amdjit
from amdjit import f32


@amdjit.kernel
def move_up(a: f32[:]):
    a[1:] = a[:-1]


def run():
    move_up.compile()
