"""What is refused: loops in loops that are unrolled too often together."""

import amdjit


@amdjit.kernel
def kernel(out):
    for i in amdjit.static_range(200):
        for j in amdjit.static_range(200):
            for k in amdjit.static_range(200):
                out[i] += j * k


def run():
    kernel.compile(amdjit.i32[:])
