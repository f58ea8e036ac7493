"""More values at once than there are registers."""

import amdjit
from amdjit import f32, i32, local, static_range


@amdjit.kernel(waves_per_eu=16)
def many_values(x: f32[:], n: i32):
    i = amdjit.grid(1)
    values = local.array(160, f32)
    for j in static_range(160):
        values[j] = x[i + j]
    for _ in range(n):
        for j in static_range(160):
            values[j] = values[j] * values[(j + 7) % 160] + 1.0
    for j in static_range(160):
        x[i + j] = values[j]


def run():
    many_values.compile()
