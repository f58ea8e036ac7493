# ruff: noqa: E731, RUF015
"""Errors in lambdas and inner functions, with the way to them."""

import functools

import amdjit
from amdjit import f32

low_bits = lambda x, n: x & ((1 << n) - 1)


def twice(f, x):
    return f(f(x))


@amdjit.kernel
def functions(a: f32[:]):
    i = amdjit.grid(1)
    a[i] = low_bits(a[i], 4)
    length = lambda y: y.length + 1
    a[i] = twice(length, a[i])

    def rounded(z):
        def inner(w):
            return w | 1

        return inner(z)

    a[i] = rounded(a[i])
    unary = functools.partial(rounded, a[i])
    a[i] = unary() + (lambda q: q ^ 1)(a[i])
    a[i] = [r & 1.5 for r in (a[i], a[i + 1])][0]


def run():
    functions.compile()
