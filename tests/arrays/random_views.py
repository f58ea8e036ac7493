"""Random shapes, and random ways to look at an array: slices, steps, transposition, reversal."""

from __future__ import annotations

from typing import Any

import numpy as np


def random_shape(random: np.random.Generator, most_axes: int = 4) -> tuple[int, ...]:
    return tuple(int(n) for n in random.integers(1, 7, random.integers(0, most_axes + 1)))


def random_key(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return a basic index that keeps at least one element."""
    key: list[Any] = []
    for extent in shape:
        kind = random.integers(0, 5)
        start = int(random.integers(0, extent))
        if kind == 0:
            key.append(start)
        elif kind == 1:
            key.append(slice(None, None, -1))
        elif kind == 2:
            key.append(slice(start, None, int(random.integers(1, 4))))
        elif kind == 3:
            key.append(slice(None))
        else:
            key.append(slice(start, None if start < 2 else start - 2, -1))
    if random.integers(0, 4) == 0:
        key.insert(int(random.integers(0, len(key) + 1)), None)
    return tuple(key)
