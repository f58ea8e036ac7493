"""What the typed tree shows: types of joins."""

import amdjit
from amdjit import f16, f32, i8, i32


@amdjit.kernel
def types_of_joins(a: f32[:], b: f16[:], c: i8[:], flag: i32):
    if flag > 0:
        x = a[0]
        y = 1
    else:
        x = c[0]
        y = b[0]
    z = x
    z = c[1]
    if flag == 3:
        z = 5
    a[1] = x + y + z
