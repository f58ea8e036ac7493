"""What the typed tree shows: loops."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def loops(a: f32[:], n: i32, out: f32[:]):
    total = 0
    for i in range(n):
        if a[i] < 0.0:
            continue
        if a[i] > 100.0:
            break
        total += a[i]
    else:
        total = -total
    steps = n
    while steps > 1:
        steps = steps // 2 if steps % 2 == 0 else 3 * steps + 1
    out[0] = total + steps
