"""What is refused: coordinates without their axis."""

import amdjit
from amdjit import blockDim, blockIdx, f32, threadIdx


@amdjit.kernel
def clear(a: f32[:]):
    i = blockIdx.x * blockDim + threadIdx.x
    a[i] = 0.0


def run():
    clear.compile()
