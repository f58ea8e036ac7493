"""What the typed tree shows: helpers."""

import amdjit
from amdjit import f16, f32


def divide(x, y, *, rounded=False):
    quotient = x // y
    if rounded:
        return quotient, 0 * x
    return quotient, x - quotient * y


@amdjit.device_function(inline=False)
def halve(x: f32) -> f16:
    return x * 0.5


@amdjit.kernel
def helpers(a: f32[:]):
    quotient, rest = divide(a[0], y=a[1])
    whole, _ = divide(a[0], a[1], rounded=True)
    a[2], a[3] = rest, quotient
    a[4] = whole + halve(a[5])
