# ruff: noqa: F821
"""The exception is that of the first error in the source; what a branch does not type has no errors."""

import amdjit
from amdjit import f32, i32
from amdjit.intrinsics import amdgcn

DEBUG = False


@amdjit.kernel
def fragments(a: f32[:], b: i32[:]):
    i = amdjit.grid(1)
    x = amdgcn.wmma_f32_16x16x16_f16_w32(a[i], a[i], a[i])
    y = x + b[i]
    if DEBUG:
        b[i] = unknown
    while b[i] > a.length:
        b[i] = a[i]
    if isinstance(y, f32):
        return
    b[i] = a[i]


def run():
    fragments.compile()
