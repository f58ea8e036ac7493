"""What is refused: compile f16 for f32."""

import amdjit
from amdjit import f16, f32


@amdjit.kernel
def scale(a: f32[:], factor: f32):
    i = amdjit.grid(1)
    a[i] = factor * a[i]


def run():
    scale.compile(f32[:], f16)
