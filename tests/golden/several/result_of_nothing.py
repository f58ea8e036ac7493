"""The result of a function that returns nothing, in place of what the function changes."""

import amdjit
from amdjit import f32


@amdjit.device_function
def clear(part):
    part[0] = 0


@amdjit.kernel
def parts(a: f32[:]):
    part = amdjit.local.array(4, f32)
    for k in range(a.shape[0]):
        part = clear(part)
        a[k] = part.size


def run():
    parts.compile()
