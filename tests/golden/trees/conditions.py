"""What the typed tree shows: conditions."""

import amdjit
from amdjit import boolean, f32, i32


@amdjit.kernel
def conditions(a: f32[:], n: i32, out: i32[:], flag: boolean):
    i = amdjit.grid(1)
    if 0 <= i < out.shape[0] and not flag:
        out[i] = n or 7
    elif a[i]:
        out[i] = i if a[i] > 0.5 else -i
    else:
        x = a[0] ** 3 if flag else a[1]
        out[i] = i32(x) and n
