"""What is refused: a signature with a name that means something else in Numba."""

import amdjit


def run():
    @amdjit.jit("void(float32[:], i4)")
    def fill(a, n):
        a[0] = 1.0
