"""What is refused: star parameters."""

import amdjit


@amdjit.kernel
def total(out, *arrays):
    out[0] = arrays[0][0]


def run():
    total.compile(amdjit.f32[:], amdjit.f32[:])
