"""Operands that reveal how a matrix instruction of integers computes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from amdjit.probe.corpus.matrix.data import Drawn, Maker, Random, Shapes, made, showing_a, showing_b
from amdjit.probe.corpus.matrix.results import Bits, encoded
from amdjit.probe.corpus.matrix.rows import Row

__all__ = ["EXPERIMENTS", "drawn"]

_WIDTH = {"iu4": 4, "iu8": 8, "i8": 8}
_MOST = (1 << 31) - 1


def _raw(random: Random, kind: str, shape: tuple[int, ...]) -> Bits:
    return random.integers(0, 1 << _WIDTH[kind], shape).astype(np.uint64)


def map_of_a(random: Random, s: Shapes) -> Drawn:
    """Any A and a B of ones, so that D shows A."""
    return showing_a(s, _raw(random, s.kinds[0], s.a))


def map_of_b(random: Random, s: Shapes) -> Drawn:
    """The same for B."""
    return showing_b(s, _raw(random, s.kinds[1], s.b))


def any_bits(random: Random, s: Shapes) -> Drawn:
    """Any factors and any C."""
    c = random.integers(-_MOST - 1, _MOST + 1, s.c)
    return Drawn(_raw(random, s.kinds[0], s.a), _raw(random, s.kinds[1], s.b), encoded(c, "i32"))


def near_limits(random: Random, s: Shapes) -> Drawn:
    """A C so near the limits that some orders of the sums exceed them and come back."""
    width = _WIDTH[s.kinds[0]]
    reach = (1 << 2 * width - 3) * max(1, s.k // 4)
    c = random.integers(0, 2, s.c) * (2 * _MOST + 1) - _MOST - 1
    c = np.where(c < 0, c + random.integers(0, reach, s.c), c - random.integers(0, reach, s.c))
    c = np.clip(c, -_MOST - 1, _MOST)
    return Drawn(_raw(random, s.kinds[0], s.a), _raw(random, s.kinds[1], s.b), encoded(c, "i32"))


def largest(random: Random, s: Shapes) -> Drawn:
    """Factors whose bits are all ones, or that are the most negative number."""
    found = []
    for shape, kind in ((s.a, s.kinds[0]), (s.b, s.kinds[1])):
        width = _WIDTH[kind]
        chosen = np.array([(1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1], np.uint64)
        found.append(chosen[random.integers(0, 3, shape)])
    c = np.array([0, -1, _MOST, -_MOST - 1])[random.integers(0, 4, s.c)]
    return Drawn(found[0], found[1], encoded(c, "i32"))


EXPERIMENTS: Mapping[str, Maker] = MappingProxyType(
    {
        "map of A": (map_of_a, 2), "map of B": (map_of_b, 2), "any bits": (any_bits, 2),
        "near limits": (near_limits, 4), "largest": (largest, 2),
    }
)  # fmt: skip


def drawn(row: Row, experiment: str) -> Drawn:
    """Return an experiment's operands, which are always the same."""
    seed = f"{row.instruction.name} {experiment}"
    return made(row, experiment, EXPERIMENTS[experiment], seed)
