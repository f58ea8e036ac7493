# ruff: noqa: SIM108
"""What is refused: join types."""

import amdjit
from amdjit import f16x4, f32, f32x4


@amdjit.kernel
def either(a: f32[:], flag: f32):
    if flag > 0.0:
        v = f32x4(1.0)
    else:
        v = f16x4(1.0)
    a[0] = v[0]


def run():
    either.compile()
