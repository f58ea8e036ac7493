"""What is refused: store float literal."""

import amdjit
from amdjit import i32


@amdjit.kernel
def store(out: i32[:]):
    out[0] = 0.5


def run():
    store.compile()
