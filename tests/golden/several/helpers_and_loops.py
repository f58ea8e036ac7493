# ruff: noqa: F821, PLC0415
"""Several errors at once: what reads a refused name adds none, and a helper is reported once."""

import amdjit
from amdjit import f32, i32


def parity(x):
    odd = x & 1
    return odd + x.length


@amdjit.kernel
def statistics(a: f32[:], out: i32[:], n: i32):
    i = amdjit.grid(1)
    if i < a.sise:
        low = a[i] & 255
        out[i] = low + 1
    total = 0
    for j in rang(n):
        total += parity(a[j])
        out[j] = a[i]
    for _j in range(n):
        total += parity(a[i])
    import math

    out[0] = math.floor(total)


def run():
    statistics.compile()
