"""What is refused: converted literal."""

import amdjit
from amdjit import u8


@amdjit.kernel
def fill(a: u8[:]):
    a[0] = u8(-1)


def run():
    fill.compile()
