"""Kernels for the tests of `amdjit inspect`."""

import amdjit
from amdjit import f32


@amdjit.kernel
def scale(x, s):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] = s * x[i]


@amdjit.kernel
def annotated(x: f32[:], s: f32):
    x[0] = s


@amdjit.kernel
def constant(x, n: amdjit.Const):
    x[0] = n


@amdjit.kernel
def wrong(x):
    with x:
        x[0] = 1


@amdjit.kernel
def grid(table, row, n):
    row[0] = table[0, 1] + row.shape[0] * n


not_a_kernel = 3
