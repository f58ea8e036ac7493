"""Functions that change what other functions read, and records with methods, for tests of the order
of evaluation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    x: int
    y: int

    def sum(self, other):
        return self.x * 3 + self.y * 5 + other

    def __contains__(self, item):
        return self.x == item

    def __rsub__(self, other):
        return other - self.x

    def __call__(self, other):
        return self.x * 7 + other

    def __getitem__(self, k):
        return self.x * 100 + self.y * 10 + k


@dataclass(frozen=True)
class Deferring:
    x: int

    def __add__(self, other):
        return NotImplemented


@dataclass(frozen=True)
class Reflected:
    y: int

    def __radd__(self, other):
        return other.x * 10 + self.y


def bump(row, k):
    """Change an element and return what it is then."""
    row[k] += 1
    return row[k]


def triple(row, k):
    row[k] *= 3
    return row[k] + 100


def part(row, k):
    """Return a view, and count the calls."""
    row[k] += 1
    return row[1:]


def weigh(x, y, z=1000):
    return x * 2 + y * 3 + z
