"""What the typed tree shows: early return."""

import amdjit
from amdjit import f32


def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


@amdjit.kernel
def early_return(a: f32[:]):
    i = amdjit.grid(1)
    if i >= a.shape[0]:
        return
    a[i] = clamp(a[i], 0, 1.5)
