"""The address of a field that is not aligned."""

import numpy as np

import amdjit


@amdjit.kernel
def count(a):
    amdjit.atomic.add(a["hits"], 0, 1)


def run():
    count[1, 1](np.zeros(1, [("x", "i1"), ("hits", "i4")]))
