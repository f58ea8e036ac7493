"""What is refused: assigning a part of an array of records at once."""

from typing import NamedTuple

import numpy as np

import amdjit
from amdjit import f32


class Point(NamedTuple):
    x: f32
    y: f32


@amdjit.kernel
def clear(points, point):
    points[1:] = point


def run():
    points = np.zeros(4, [("x", np.float32), ("y", np.float32)])
    clear[1, 1](points, Point(1.0, 2.0))
