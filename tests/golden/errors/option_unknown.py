"""What is refused: an option that does not exist."""

import amdjit


def run():
    @amdjit.kernel(fast_math=True)
    def fill(a):
        a[0] = 1.0
