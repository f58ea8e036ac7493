"""What is refused: wide access."""

import amdjit
from amdjit import f32


@amdjit.kernel
def copy(a: f32[:], out: f32[:]):
    out.store(0, a.load(0, 5))


def run():
    copy.compile()
