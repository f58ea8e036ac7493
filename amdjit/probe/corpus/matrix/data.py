"""Operands that reveal how a matrix instruction of floats computes. Each experiment has several
waves, with numbers of one kind."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from amdjit.isa.matrix_rounding import FORMATS
from amdjit.probe.corpus.matrix.results import Bits, encoded
from amdjit.probe.corpus.matrix.rows import Row

__all__ = [
    "EXPERIMENTS",
    "Drawn",
    "Maker",
    "Shapes",
    "drawn",
    "made",
    "maker_of",
    "showing_a",
    "showing_b",
]

Random = np.random.Generator


@dataclass(frozen=True)
class Drawn:
    """The operands of some waves, as bits. k counts the elements that A holds."""

    a: Bits
    """A, with axes [waves, blocks, m, k]."""
    b: Bits
    """B, with axes [waves, blocks, k, n]."""
    c: Bits
    """C, with axes [waves, blocks, m, n]."""


@dataclass(frozen=True)
class Shapes:
    """The types and shapes of the operands of an experiment."""

    kinds: tuple[str, str, str]
    """The types of A, B and the result."""
    waves: int
    blocks: int
    """The number of products that the instruction makes at once."""
    m: int
    n: int
    k: int
    """The number of elements of A along k."""

    @property
    def a(self) -> tuple[int, ...]:
        """The shape of A."""
        return (self.waves, self.blocks, self.m, self.k)

    @property
    def b(self) -> tuple[int, ...]:
        """The shape of B."""
        return (self.waves, self.blocks, self.k, self.n)

    @property
    def c(self) -> tuple[int, ...]:
        """The shape of C."""
        return (self.waves, self.blocks, self.m, self.n)

    @property
    def reach(self) -> tuple[int, int]:
        """The range of exponents of factors whose products are numbers of the result's type."""
        low = max(max(FORMATS[each].lowest for each in self.kinds[:2]),
                  (FORMATS[self.kinds[2]].lowest + 1) // 2)  # fmt: skip
        high = min(min(FORMATS[each].highest for each in self.kinds[:2]),
                   (FORMATS[self.kinds[2]].highest - 6) // 2)  # fmt: skip
        return low, high


Maker = tuple[Callable[[Random, Shapes], Drawn], int]
"""What draws the operands of an experiment, and its number of waves."""


def floats(random: Random, kind: str, shape: tuple[int, ...], low: int, high: int) -> Bits:
    """Return floats of random signs and fractions, with exponents from `low` to `high` as far as
    the type has them; below its normal numbers they are subnormal."""
    form = FORMATS[kind]
    low, high = max(low, form.lowest - form.fraction_bits), min(high, form.highest)
    exponent = random.integers(min(low, high), high + 1, shape)
    values = np.ldexp(1 + random.random(shape), exponent) * random.choice([-1.0, 1.0], shape)
    bits = encoded(values, kind)
    return np.where(_is_finite(bits, kind), bits, encoded(np.ldexp(1.0, exponent), kind))


def _is_finite(bits: Bits, kind: str) -> Bits:
    form = FORMATS[kind]
    if form.specials == "none":
        return np.ones(bits.shape, bool)
    size = bits & np.uint64((1 << form.bits - 1) - 1)
    limit = form.infinity if form.infinity is not None else (
        form.nans[0] if form.specials == "one" else 1 << form.bits - 1
    )  # fmt: skip
    return (size < np.uint64(limit)) & (bits != np.uint64(form.nans[-1]))


def _drawn(random: Random, s: Shapes, factors: tuple[int, int], added: tuple[int, int]) -> Drawn:
    return Drawn(
        floats(random, s.kinds[0], s.a, *factors), floats(random, s.kinds[1], s.b, *factors),
        floats(random, s.kinds[2], s.c, *added),
    )  # fmt: skip


def normal(random: Random, s: Shapes) -> Drawn:
    """Numbers as they occur in practice."""
    shapes = zip((s.a, s.b, s.c), s.kinds, strict=True)
    return Drawn(*(encoded(random.standard_normal(shape), kind) for shape, kind in shapes))


def wide(random: Random, s: Shapes) -> Drawn:
    """Numbers whose products have exponents over the whole range."""
    low, high = s.reach
    return _drawn(random, s, (low, high), (2 * low, 2 * high))


def near(random: Random, s: Shapes) -> Drawn:
    """Numbers whose exponents differ little."""
    return _drawn(random, s, (-3, 2), (-6, 4))


def c_above(random: Random, s: Shapes) -> Drawn:
    """A C so large that only the first bits of the products count."""
    middle = max(min(0, (FORMATS[s.kinds[2]].highest - 36) // 2), s.reach[0] + 2)
    return _drawn(random, s, (middle - 2, middle), (2 * middle + 6, 2 * middle + 34))


def c_below(random: Random, s: Shapes) -> Drawn:
    """A C of either sign so small that only its first bits count, or none."""
    high = s.reach[1] if s.kinds[2] == "f16" else min(6, s.reach[1])
    return _drawn(random, s, (high - 2, high), (2 * high - 44, 2 * high - 8))


def kept_bits(random: Random, s: Shapes) -> Drawn:
    """Two large products that cancel, and small ones. The bits of these that are left show what the
    exponents of the large ones cut off, and between which two products."""
    low, high = s.reach
    high = min(max(high, (FORMATS[s.kinds[2]].highest - 3) // 2), 7)
    high = min(high, *(FORMATS[each].highest for each in s.kinds[:2]))
    a = floats(random, s.kinds[0], s.a, low if high - low < 12 else high - 18, high - 6)
    b = floats(random, s.kinds[1], s.b, low if high - low < 12 else high - 18, high - 6)
    if s.k > 1:
        large = encoded(np.ldexp(1.5, np.full((s.m,), high)), s.kinds[0])
        sign = np.uint64(1 << FORMATS[s.kinds[0]].bits - 1)
        across = floats(random, s.kinds[1], (s.n,), high, high)
        for wave in range(s.waves):
            i, j = _pair(random, s.k, wave)
            a[wave, :, :, i], a[wave, :, :, j] = large, large | sign
            b[wave, :, i, :], b[wave, :, j, :] = across, across
    none = random.random(s.c) < 0.5
    c = floats(random, s.kinds[2], s.c, 2 * high - 40, 2 * high - 12)
    return Drawn(a, b, np.where(none, np.uint64(0), c))


def _pair(random: Random, k: int, wave: int) -> tuple[int, int]:
    """Return two places along k: first neighbours, later places that are further apart."""
    apart = [1, 1, 2, 3, 4, k // 2, k - 1, 8]
    first = [0, 1, 0, 1, 2, 0, 0, 3][wave % 8] if wave < 8 else int(random.integers(k))
    distance = max(1, apart[wave % 8]) if wave < 8 else 1 + int(random.integers(k - 1))
    return first % k, (first + distance) % k


def ties(random: Random, s: Shapes) -> Drawn:
    """A product of half a unit in the last place of C, and another one that is far smaller or 0."""
    form = FORMATS[s.kinds[2]]
    places = form.fraction_bits + 1
    half = max(min(0, (form.highest - places - 2) // 2), s.reach[0])
    a, b = np.zeros(s.a), np.zeros(s.b)
    b[...] = 2.0**half
    rows = np.arange(s.m)
    place = random.integers(0, s.k, (s.waves, s.m))
    # The small product is in the same pair, in the same four, or anywhere.
    apart = np.array([1, 2, 1, 0])[np.arange(s.waves) % 4, None]
    anywhere = random.integers(0, s.k, (s.waves, s.m))
    other = np.where(apart > 0, place ^ apart, anywhere) % s.k
    farthest = max(8, 29 - places)
    far = random.integers(1, farthest + 1, (s.waves, s.m)) * -1.0
    tiny = random.choice([0.0, 1.0, -1.0], (s.waves, s.m)) * 2.0 ** (half + far)
    for wave in range(s.waves):
        a[wave, :, rows, other[wave]] += tiny[wave][:, None]
        a[wave, :, rows, place[wave]] = 2.0**half * random.choice([-1, 1], (s.m, 1))
    own = floats(random, s.kinds[2], s.c, 2 * half + places, 2 * half + places)
    return Drawn(encoded(a, s.kinds[0]), encoded(b, s.kinds[1]), own)


def integers(random: Random, s: Shapes) -> Drawn:
    """Small whole numbers, whose sums most rules compute exactly."""
    a, b = (random.integers(-2, 3, shape).astype(float) for shape in (s.a, s.b))
    c = random.integers(-40, 41, s.c).astype(float)
    return Drawn(encoded(a, s.kinds[0]), encoded(b, s.kinds[1]), encoded(c, s.kinds[2]))


def subnormal_factors(random: Random, s: Shapes) -> Drawn:
    """Subnormal factors and ordinary ones."""
    a_form, b_form = FORMATS[s.kinds[0]], FORMATS[s.kinds[1]]
    a = floats(random, s.kinds[0], s.a, a_form.lowest - a_form.fraction_bits, a_form.lowest)
    top = min(b_form.highest, -a_form.lowest // 2 + 2)
    b = floats(random, s.kinds[1], s.b, top - 2, top)
    some = random.random(s.b) < 0.3
    b = np.where(some, floats(random, s.kinds[1], s.b, b_form.lowest - b_form.fraction_bits,
                              b_form.lowest), b)  # fmt: skip
    middle = a_form.lowest + top
    c = floats(random, s.kinds[2], s.c, middle - 6, middle + 2)
    return Drawn(a, b, np.where(random.random(s.c) < 0.3, np.uint64(0), c))


def subnormal_results(random: Random, s: Shapes) -> Drawn:
    """A C and results that are subnormal or nearly subnormal."""
    form = FORMATS[s.kinds[2]]
    low = max(max(FORMATS[each].lowest - FORMATS[each].fraction_bits for each in s.kinds[:2]),
              (form.lowest - 12) // 2)  # fmt: skip
    below = 9 if form.lowest < -100 else 1
    a = floats(random, s.kinds[0], s.a, low - below, low + 8)
    b = floats(random, s.kinds[1], s.b, low - below, low + 8)
    c = floats(random, s.kinds[2], s.c, form.lowest - form.fraction_bits, form.lowest + 1)
    few = random.random(s.a) < random.choice([0.0, 1 / s.k, 0.5, 1.0], (*s.a[:3], 1))
    none = random.random(s.c) < 0.3
    return Drawn(np.where(few, a, np.uint64(0)), b, np.where(none, np.uint64(0), c))


def overflow(random: Random, s: Shapes) -> Drawn:
    """Sums near the largest number and beyond it, also of products that cancel."""
    form = FORMATS[s.kinds[2]]
    highs = [min(FORMATS[each].highest, form.highest) for each in s.kinds[:2]]
    spare = max(0, sum(highs) - form.highest)
    tops = [highs[0] - spare // 2, highs[1] - (spare + 1) // 2]
    a = floats(random, s.kinds[0], s.a, tops[0] - 2, tops[0] + 1)
    b = floats(random, s.kinds[1], s.b, tops[1] - 2, tops[1] + 1)
    return Drawn(a, b, floats(random, s.kinds[2], s.c, form.highest - 2, form.highest))


def specials(random: Random, s: Shapes) -> Drawn:
    """NaNs with several payloads, infinities and zeros among ordinary numbers."""
    found = normal(random, s)
    return Drawn(
        _with_specials(random, found.a, s.kinds[0], 0.4 / s.k),
        _with_specials(random, found.b, s.kinds[1], 0.4 / s.k),
        _with_specials(random, found.c, s.kinds[2], 0.3),
    )


def infinities(random: Random, s: Shapes) -> Drawn:
    """Infinities, zeros and ones as factors, which make invalid products, with a C that is NaN or
    not."""
    found = []
    for shape, kind in ((s.a, s.kinds[0]), (s.b, s.kinds[1])):
        form = FORMATS[kind]
        one = int(encoded(np.ones(1), kind)[0])
        chosen = [0, one, one | 1 << form.bits - 1]
        infinity = (
            [] if form.infinity is None else [form.infinity, form.infinity | 1 << form.bits - 1]
        )
        bits = np.array(chosen, np.uint64)[random.integers(0, 3, shape)]
        if infinity:
            some = random.random(shape) < 0.6 / s.k
            bits = np.where(some, np.array(infinity, np.uint64)[random.integers(0, 2, shape)], bits)
        found.append(bits)
    c = _with_specials(random, encoded(random.standard_normal(s.c), s.kinds[2]), s.kinds[2], 0.7)
    return Drawn(found[0], found[1], c)


def _with_specials(random: Random, bits: Bits, kind: str, share: float) -> Bits:
    form = FORMATS[kind]
    sign = 1 << form.bits - 1
    zeros = [0] if form.specials == "fnuz" else [0, sign]
    infinities = [] if form.infinity is None else [form.infinity, form.infinity | sign]
    chosen = np.array([*form.nans, *zeros, *infinities, *infinities], np.uint64)
    some = random.random(bits.shape) < share
    return np.where(some, chosen[random.integers(0, len(chosen), bits.shape)], bits)


def zeros(random: Random, s: Shapes) -> Drawn:
    """Zeros of both signs, and sums that cancel."""
    numbers = np.array([0.0, 0.0, 0.0, -0.0, -0.0, -0.0, 1.0, -1.0])
    return Drawn(*(
        encoded(numbers[random.integers(0, 8, shape)], kind)
        if FORMATS[kind].specials != "fnuz"
        else encoded(np.abs(numbers[random.integers(0, 8, shape)]), kind)
        for shape, kind in zip((s.a, s.b, s.c), s.kinds, strict=True)
    ))  # fmt: skip


def map_of_a(random: Random, s: Shapes) -> Drawn:
    """An A whose numbers all differ, if its type has enough of them, and a B of ones, so that D
    shows A."""
    return showing_a(s, floats(random, s.kinds[0], s.a, -5, 2))


def map_of_b(random: Random, s: Shapes) -> Drawn:
    """The same for B."""
    return showing_b(s, floats(random, s.kinds[1], s.b, -5, 2))


def showing_a(s: Shapes, a: Bits) -> Drawn:
    """Return operands whose products are elements of A: each column of B has one that is 1."""
    b = np.zeros(s.b)
    for wave in range(s.waves):
        for column in range(s.n):
            b[wave, :, (column + s.n * wave) % s.k, column] = 1
    return Drawn(a, encoded(b, s.kinds[1]), np.zeros(s.c, np.uint64))


def showing_b(s: Shapes, b: Bits) -> Drawn:
    """Return operands whose products are elements of B."""
    a = np.zeros(s.a)
    for wave in range(s.waves):
        for row in range(s.m):
            a[wave, :, row, (row + s.m * wave) % s.k] = 1
    return Drawn(encoded(a, s.kinds[0]), b, np.zeros(s.c, np.uint64))


_EXPERIMENTS: Mapping[str, Maker] = MappingProxyType(
    {
        "map of A": (map_of_a, 2), "map of B": (map_of_b, 2), "normal": (normal, 2),
        "wide": (wide, 3), "near": (near, 2), "C above": (c_above, 4), "C below": (c_below, 3),
        "kept bits": (kept_bits, 12), "ties": (ties, 6), "integers": (integers, 1),
        "subnormal factors": (subnormal_factors, 2),
        "subnormal results": (subnormal_results, 3), "overflow": (overflow, 2),
        "specials": (specials, 4),
        "infinities": (infinities, 2), "zeros": (zeros, 2),
    }
)  # fmt: skip


EXPERIMENTS = tuple(_EXPERIMENTS)
"""The names of the experiments, in the order in which they run."""


def maker_of(experiment: str) -> Maker:
    """Return the function that draws an experiment's operands, and its number of waves."""
    return _EXPERIMENTS[experiment]


def drawn(row: Row, experiment: str) -> Drawn:
    """Return an experiment's operands, which are always the same."""
    seed = f"{row.instruction.name} {row.kinds} {experiment}"
    return made(row, experiment, _EXPERIMENTS[experiment], seed)


def made(row: Row, experiment: str, maker: Maker, seed: str) -> Drawn:
    """Return an experiment's operands, which depend on the text of the seed alone."""
    make, waves = maker
    m, n, k = row.shape
    if experiment.startswith("map"):
        waves = max(waves, -(-k // (n if experiment.endswith("A") else m)))
    random = np.random.default_rng(zlib.crc32(seed.encode()))
    return make(random, Shapes(row.kinds, waves, blocks=row.blocks, m=m, n=n, k=k))
