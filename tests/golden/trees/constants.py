"""What the typed tree shows: constants."""

import amdjit
from amdjit import Const, f32, i64


@amdjit.kernel
def constants(a: f32[:], n: Const, shape: Const, wide: i64):
    rows, columns = shape
    for i in range(rows * n):
        a[i] = columns
    a[0] = wide + n
