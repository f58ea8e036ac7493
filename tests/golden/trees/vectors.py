"""What the typed tree shows: vectors."""

import amdjit
from amdjit import bitcast, f16, f32, f32x4, i32x4, shuffle


@amdjit.kernel
def vectors(a: f32[:], out: f32[:]):
    i = amdjit.grid(1)
    v = a.load(4 * i, 4) * 2.0 + f32x4(1.0)
    v[1] = v[i & 3]
    v[2] += 1
    w = shuffle(v, f32x4(a[0], a[1], 0, 1), (0, 5, 2, 7))
    bits = bitcast(w, i32x4) & 0x7FFFFFFF
    out.store(4 * i, bitcast(bits, f32x4))
    out[0] = f16(w[-1])
