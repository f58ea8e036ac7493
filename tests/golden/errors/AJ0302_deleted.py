"""What is refused: a name that was deleted."""

import amdjit
from amdjit import i32


@amdjit.kernel
def gone(out: i32[:]):
    x = out[0]
    del x
    out[1] = x  # noqa: F821


def run():
    gone.compile()
