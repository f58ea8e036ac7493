"""Records do not change."""

from dataclasses import dataclass

import numpy as np

import amdjit


@dataclass(frozen=True)
class Point:
    x: float


@amdjit.kernel
def move(p, out):
    p.x = 2.0
    out[0] = p.x


def run():
    move[1, 1](Point(1.0), np.zeros(1, np.float32))
