"""What is refused: `del` of an element."""

import amdjit
from amdjit import i32


@amdjit.kernel
def shorter(out: i32[:]):
    del out[0]


def run():
    shorter.compile()
