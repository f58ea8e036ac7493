# ruff: noqa: F821
"""Several errors of one statement: the value's and the index's, and those of an expression's operands."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def scatter(a: f32[:], n: i32):
    a[unknown_index] = unknown_value
    a[n & 1.5] = max(a.size.x, unknown, a[0] & 1)
    a[0], a[missing] = absent, 2
    b = c = a.first
    a[0] = b + c


def run():
    scatter.compile()
