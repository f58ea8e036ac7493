"""What the typed tree shows: closures."""

import amdjit
from amdjit import f32


def make(factor, offsets):
    @amdjit.kernel
    def closures(a: f32[:]):
        i = amdjit.grid(1)
        if factor is None:
            a[i] = 0.0
        else:
            a[i] = a[i] * factor + offsets[1]

    return closures


closures = make(3, (1.0, 2.5))
