"""What is refused: convert array."""

import amdjit
from amdjit import f16, f32


@amdjit.kernel
def narrow(a: f32[:], out: f16[:]):
    out[0] = f16(a)[0]


def run():
    narrow.compile()
