"""What is refused: a pattern that assigns a name."""

import amdjit
from amdjit import i32


@amdjit.kernel
def captured(n: i32, out: i32[:]):
    match n:
        case 1:
            out[0] = 1
        case other:
            out[0] = other


def run():
    captured.compile()
