"""What the typed tree shows: arithmetic."""

import amdjit
from amdjit import f16, f32, i32, u8


@amdjit.kernel
def arithmetic(a: f16[:], b: f32[:], n: i32[:], m: u8[:]):
    i = amdjit.grid(1)
    x = a[i] * 2.0 + 1
    y = x / b[i] - n[i] // 3 % 5
    b[i] = y**5 + -abs(y) + min(y, 1, x)
    n[i] = (n[i] << 3 | ~m[i] & 0xF) ^ n[i] >> m[i]
    n[i] += n[i] / 2 > 1.5
