"""Random straight-line machine code with a model of its own of what each instruction reads and
writes, in halves of registers: what is live follows without amdjit's tables.

Each instruction keeps what it reads in what it writes, so that another value in a live register
changes the results.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

VECTORS = range(1, 13)
SCALARS = range(8, 16)
WIDE = (20, 28)
# What leads to memory: it is not overwritten.
FIXED = frozenset({"s0", "s1", "s2", "s3", "v250"})


@dataclass(frozen=True)
class Line:
    """An instruction. reads, writes: halves of VGPRs (`v3.l`) and SGPRs (`s9`); writes end what the
    register held. each: what it reads for one result only, by that register. stores: memory gets
    what it reads."""

    text: str
    reads: frozenset[str]
    writes: frozenset[str]
    each: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    stores: bool = False

    def decisive_reads(self, alive: frozenset[str]) -> frozenset[str]:
        """Return what it reads for results that are needed."""
        only = frozenset[str]().union(*(reads for _, reads in self.each))
        needed = (reads for written, reads in self.each if written & alive)
        return (self.reads - only).union(*needed)


def _v(first: int, count: int = 1) -> frozenset[str]:
    return frozenset(f"v{n}.{half}" for n in range(first, first + count) for half in "lh")


def _s(first: int, count: int = 1) -> frozenset[str]:
    return frozenset(f"s{n}" for n in range(first, first + count))


class Program:
    """One program of a seed: its lines, and what is live before each of them. keeps_all: only with
    instructions whose results tell each bit that they read from another."""

    def __init__(
        self, seed: int, wave_size: int, length: int = 60, keeps_all: bool = False
    ) -> None:
        self._random = random.Random(seed)
        self._mask = wave_size // 32
        self.lines: list[Line] = list(self._start())
        self.begin = len(self.lines)
        makers = [self._vector, self._scalar, self._wide]
        self._keeps_all = keeps_all
        if not keeps_all:
            makers += [self._mixed, self._halves]
        self.lines += [self._random.choice(makers)() for _ in range(length)]
        self.end = len(self.lines)
        self.lines += self._stores()

    @property
    def body(self) -> str:
        """The program's text, for `assemble` with real 16-bit operands."""
        return "".join(f"  {line.text}\n" for line in self.lines)

    def live(self) -> list[frozenset[str]]:
        """Return the registers that are live before each line."""
        found: list[frozenset[str]] = []
        alive: frozenset[str] = frozenset()
        for line in reversed(self.lines):
            alive = alive - line.writes | line.reads
            found.append(frozenset(name.split(".")[0] for name in alive))
        return found[::-1]

    def decisive(self) -> list[frozenset[str]]:
        """Return the registers on whose values the results depend, before each line: those that are
        only read for what nobody reads are not among them."""
        found: list[frozenset[str]] = []
        alive: frozenset[str] = frozenset()
        for line in reversed(self.lines):
            if line.stores or alive & line.writes:
                alive = alive - line.writes | line.decisive_reads(alive)
            found.append(frozenset(name.split(".")[0] for name in alive))
        return found[::-1]

    # Parts

    def _start(self) -> Iterator[Line]:
        wide = self._mask == 2
        yield Line(f"s_mov_b{32 * self._mask} exec{'' if wide else '_lo'}, -1", _s(0, 0), _s(0, 0))
        yield Line("s_load_b128 s[0:3], s[0:1], 0x0", _s(0, 2), _s(0, 4))
        yield Line("s_wait_kmcnt 0x0", _s(0, 0), _s(0, 0))
        yield Line("s_mul_i32 s4, ttmp9, 4096", _s(0, 0), _s(4))
        yield Line("s_add_co_u32 s2, s2, s4", _s(2) | _s(4), _s(2))
        yield Line("s_add_co_ci_u32 s3, s3, 0", _s(3), _s(3))
        yield Line("v_lshlrev_b32 v250, 2, v0", _v(0), _v(250))
        address = _v(250) | _s(0, 2)
        for number in VECTORS:
            text = f"global_load_b32 v{number}, v250, s[0:1] offset:{256 * number}"
            yield Line(text, address, _v(number))
        yield Line("s_load_b256 s[8:15], s[0:1], 0x40", _s(0, 2), _s(8, 8))
        for first in WIDE:
            for half in (0, 4):
                text = f"global_load_b128 v[{first + half}:{first + half + 3}], v250, s[0:1]"
                yield Line(f"{text} offset:{16 * first + half}", address, _v(first + half, 4))
        yield Line("s_wait_loadcnt 0x0", _s(0, 0), _s(0, 0))
        yield Line("s_wait_kmcnt 0x0", _s(0, 0), _s(0, 0))

    def _stores(self) -> Iterator[Line]:
        chosen = [*self._random.sample(VECTORS, 5), *self._random.sample(range(20, 36), 2)]
        for place, number in enumerate(self._random.sample(SCALARS, 2), len(chosen)):
            yield Line(f"v_add_nc_u32 v0, s{number}, v250", _s(number) | _v(250), _v(0))
            yield from self._store(0, 256 * place)
        for place, number in enumerate(chosen):
            yield from self._store(number, 256 * place)

    def _store(self, number: int, offset: int) -> Iterator[Line]:
        text = f"global_store_b32 v250, v{number}, s[2:3] offset:{offset}"
        yield Line(text, _v(250) | _v(number) | _s(2, 2), _s(0, 0), stores=True)

    def _numbers(self, count: int) -> list[int]:
        return [self._random.choice(VECTORS) for _ in range(count)]

    def _one_of(self, makers: list[Callable[[], Line]]) -> Line:
        return self._random.choice(makers)()

    def _vector(self) -> Line:
        d, a, b, c = self._numbers(4)
        a, b = (a, b) if a != b else (a, a % 12 + 1)
        return self._random.choice(
            [
                Line(f"v_add_nc_u32 v{d}, v{a}, v{b}", _v(a) | _v(b), _v(d)),
                Line(f"v_xad_u32 v{d}, v{a}, v{b}, v{c}", _v(a) | _v(b) | _v(c), _v(d))
                if c not in (a, b)
                else Line(f"v_mov_b32 v{d}, v{a}", _v(a), _v(d)),
                Line(
                    f"v_swap_b32 v{a}, v{b}",
                    _v(a) | _v(b),
                    _v(a) | _v(b),
                    ((_v(a), _v(b)), (_v(b), _v(a))),
                ),
                Line(f"v_pk_add_u16 v{d}, v{a}, v{b}", _v(a) | _v(b), _v(d)),
                self._dual(),
            ]
        )

    def _dual(self) -> Line:
        if self._mask == 2:
            return Line(f"v_mov_b32 v{VECTORS[0]}, v{VECTORS[1]}", _v(2), _v(1))
        x, y = self._random.choice([(2, 5), (4, 7), (6, 11), (8, 3)])
        a, b = self._random.choice([(1, 2), (3, 8), (5, 12), (9, 6)])
        text = f"v_dual_mov_b32 v{x}, v{a} :: v_dual_mov_b32 v{y}, v{b}"
        return Line(text, _v(a) | _v(b), _v(x) | _v(y), ((_v(x), _v(a)), (_v(y), _v(b))))

    def _scalar(self) -> Line:
        d, a, b = (self._random.choice(SCALARS) for _ in range(3))
        b = b if b != a else 8 + (a - 7) % 8
        low, high = self._random.sample([8, 10, 12, 14], 2)
        return self._random.choice(
            [
                Line(f"s_add_co_i32 s{d}, s{a}, s{b}", _s(a) | _s(b), _s(d)),
                Line(
                    f"s_xor_b64 s[{low}:{low + 1}], s[{low}:{low + 1}], s[{high}:{high + 1}]",
                    _s(low, 2) | _s(high, 2),
                    _s(low, 2),
                    tuple((_s(low + n), _s(low + n) | _s(high + n)) for n in (0, 1)),
                ),
                Line(
                    f"s_mov_b64 s[{low}:{low + 1}], s[{high}:{high + 1}]",
                    _s(high, 2),
                    _s(low, 2),
                    tuple((_s(low + n), _s(high + n)) for n in (0, 1)),
                ),
            ]
        )

    def _mixed(self) -> Line:
        d, a = self._numbers(2)
        s = self._random.choice(SCALARS)
        pair = self._random.choice([8, 10, 12, 14])
        mask = f"s{s}" if self._mask == 1 else f"s[{pair}:{pair + 1}]"
        masks = _s(s) if self._mask == 1 else _s(pair, 2)
        b = a % 12 + 1
        return self._random.choice(
            [
                Line(f"v_add_nc_u32 v{d}, s{s}, v{a}", _s(s) | _v(a), _v(d)),
                Line(f"v_readlane_b32 s{s}, v{a}, 3", _v(a), _s(s)),
                Line(f"v_writelane_b32 v{d}, s{s}, 5", _s(s), _s(0, 0)),
                Line(f"v_cndmask_b32 v{d}, v{a}, v{b}, {mask}", _v(a) | _v(b) | masks, _v(d)),
            ]
        )

    def _halves(self) -> Line:
        d, a, b = self._numbers(3)
        x, y, z = (self._random.choice("lh") for _ in range(3))
        if (a, y) == (b, z):
            b = b % 12 + 1
        text = f"v_add_nc_u16 v{d}.{x}, v{a}.{y}, v{b}.{z}"
        return Line(text, frozenset({f"v{a}.{y}", f"v{b}.{z}"}), frozenset({f"v{d}.{x}"}))

    def _wide(self) -> Line:
        d, c = (self._random.choice([1, 3, 5, 7, 9, 11]) for _ in range(2))
        a, b = self._numbers(2)
        product = Line(
            f"v_mad_co_u64_u32 v[{d}:{d + 1}], null, v{a}, v{b}, v[{c}:{c + 1}]",
            _v(a) | _v(b) | _v(c, 2),
            _v(d, 2),
        )
        first, other = self._random.sample(WIDE, 2)
        source = self._random.choice([first, other])
        count, size = 8 // self._mask, 2 // self._mask
        operands = f"v[{d}:{d + 1}], v[{c}:{c + 1}]" if size == 2 else f"v{d}, v{c}"
        matrix = Line(
            f"v_wmma_i32_16x16x16_iu8 v[{first}:{first + count - 1}], {operands}, "
            f"v[{source}:{source + count - 1}]",
            _v(d, size) | _v(c, size) | _v(source, count),
            _v(first, count),
            tuple((_v(first + n), _v(source + n)) for n in range(count)),
        )
        return matrix if self._keeps_all else self._random.choice([product, matrix])
