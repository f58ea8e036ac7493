"""A field that an array of records does not have."""

import numpy as np

import amdjit


@amdjit.kernel
def read(particles, out):
    out[0] = particles[0].mass


def run():
    read[1, 1](np.zeros(1, [("x", "f4"), ("hits", "i4")]), np.zeros(1, np.float32))
