"""Functions, constants and settings that kernels of other modules name."""

from __future__ import annotations

import numpy as np

SCALE = 3


OFFSETS = (1, np.int32(20), 300)


class Settings:
    """Constants of a user's own."""

    width = 4


def clamp(x, low=-5, high=5):
    if x < low:
        return low
    return high if x > high else x


def increment(x):
    return x + 1
