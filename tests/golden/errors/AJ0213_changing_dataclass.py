"""A dataclass that is not frozen."""

from dataclasses import dataclass

import numpy as np

import amdjit


@dataclass
class Point:
    x: float


@amdjit.kernel
def make(out):
    out[0] = Point(1.0).x


def run():
    make[1, 1](np.zeros(1, np.float32))
