"""What the typed tree shows: unrolling."""

import amdjit
from amdjit import f32, i32, static_range, unroll

TAPS = (0.25, 0.5, 0.25)


@amdjit.kernel
def unrolling(a: f32[:], n: i32, out: f32[:]):
    i = amdjit.grid(1)
    total = 0.0
    for offset, tap in enumerate(TAPS):
        total += tap * a[i + offset]
    for k in static_range(2, 6, 2):
        total += a[k]
    for j in unroll(range(n), 4):
        total += a[j]
    out[i] = total
