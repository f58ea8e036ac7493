"""The functions and the record that random programs call to change what other values read."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any


def bump(row, k):
    row[k % 4] = (row[k % 4] + 1) % 97
    return row[k % 4]


def scale(row, k, by=3):
    row[k % 4] = row[k % 4] * by % 97
    return row[(k + 1) % 4]


def weigh(x, y, z=5):
    return (x * 2 + y * 3 + z) % 97


@dataclass(frozen=True)
class Pair:
    x: Any
    y: Any

    def sum(self, other):
        return (self.x * 3 + self.y * 5 + other) % 97

    def __add__(self, other):
        return Pair((self.x + other) % 97, self.y)

    def __radd__(self, other):
        return Pair(self.x, (self.y * 2 + other) % 97)


NAMES = {
    "bump": bump,
    "scale": scale,
    "weigh": weigh,
    "Pair": Pair,
    "replace": replace,
    "partial": functools.partial,
}
