"""What is refused: attribute."""

import amdjit


@amdjit.kernel
def reshape(a):
    a.shape = (4, 4)


def run():
    reshape.compile(amdjit.f32[:])
