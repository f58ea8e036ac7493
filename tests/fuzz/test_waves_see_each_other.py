"""Random programs of two waves that meet at barriers of their own: what one has written before a
barrier, the other reads after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import sync
from tests.fuzz.fuzzed_device import OLDER, emulator, has_wide_waves, processor
from tests.fuzz.running import define

GLOBAL, LDS = ("p", "q", "c"), "r"
ARRAYS = (*GLOBAL, LDS)
COUNTED = "c"  # what only atomic operations access: it keeps the promise that it has one name
BARRIERS = (
    ("syncthreads()",),
    ("sync.barrier_signal()", "sync.barrier_wait()"),
    (
        'sync.fence("release", "workgroup")',
        "sync.workgroup_barrier()",
        'sync.fence("acquire", "workgroup")',
    ),
)
# Older families have no barrier in two parts.
UNDIVIDED = (BARRIERS[0], BARRIERS[2])
NAMES = {
    "amdjit": amdjit,
    "atomic": amdjit.atomic,
    "syncthreads": amdjit.syncthreads,
    "sync": sync,
}


def lanes() -> int:
    """Return how many lanes a wave has."""
    return 64 if has_wide_waves() else 32


@dataclass
class Program:
    """Two waves' statements, and a model of them on the host. results: of reads, in their order."""

    waves: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    values: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ARRAYS, 0))
    results: list[int] = field(default_factory=list)

    def write(self, wave: int, array: str, value: int, is_atomic: bool) -> None:
        stores = f"atomic.store({array}, j, j + {value})", f"atomic.exch({array}, j, j + {value})"
        self.waves[wave].append(stores[value % 2] if is_atomic else f"{array}[j] = j + {value}")
        self.values[array] = value

    def add(self, wave: int, array: str, value: int, is_atomic: bool) -> None:
        added = f"atomic.add({array}, j, {value})"
        self.waves[wave].append(added if is_atomic else f"{array}[j] += {value}")
        self.values[array] += value

    def read(self, wave: int, array: str, value: int, is_atomic: bool) -> None:
        loads = f"atomic.load({array}, j)", f"atomic.max({array}, j, -1)"
        read = loads[value % 2] if is_atomic else f"{array}[j]"
        self.waves[wave].append(f"out[{len(self.results)}, j] = {read} + {value}")
        self.results.append(self.values[array] + value)

    def text(self) -> str:
        """Return the kernel's source."""
        head = (
            f"def kernel(p, q, c, out):\n    t = amdjit.threadIdx.x\n    j = t % {lanes()}\n"
            f"    r = amdjit.shared.array({lanes()}, amdjit.i32)\n    r[j] = j\n    syncthreads()\n"
        )
        first, second = ("".join(f"        {line}\n" for line in wave) for wave in self.waves)
        return f"{head}    if t < {lanes()}:\n{first}    else:\n{second}"


def random_program(random: Random, barriers: Sequence[Sequence[str]] = BARRIERS) -> Program:
    """Write phases, in each of which either one wave changes an array or any wave reads it."""
    program = Program()
    # LLVM looks only a few instructions back for the value that a load returns: most phases have
    # next to none.
    is_read = random.random() < 0.6  # global memory: if not, barriers are cheaper
    busy = random.choice((1, 1, 2, 6))
    # Where an atomic operation may read, no barrier is cheap.
    arrays = ARRAYS if is_read else tuple(name for name in ARRAYS if name != COUNTED)
    # Of few arrays, each has more often a value that one wave wrote before another did.
    arrays = tuple(random.sample(arrays, random.choice((1, 2, len(arrays)))))
    mixed = random.choice((0, 0.3))  # how often other arrays are accessed atomically
    for _phase in range(random.randint(2, 9)):
        for array in random.sample(arrays, random.randint(1, min(len(arrays), 3))):
            reads = is_read or array == LDS
            owner = random.choice((0, 1, None) if reads else (0, 1))
            for _ in range(random.randrange(busy) + 1):
                wave = random.choice((0, 1)) if owner is None else owner
                actions: list[Callable[[int, str, int, bool], None]] = []
                actions += [program.read] if reads else []
                actions += [program.write] if owner is not None else []
                actions += [program.add] if reads and owner is not None else []
                is_atomic = array == COUNTED or (reads and random.random() < mixed)
                random.choice(actions)(wave, array, random.randint(1, 99), is_atomic)
        barrier = random.choice(barriers)
        for wave in program.waves:
            wave += barrier
    return program


def check(program: Program, level: int) -> None:
    kernel = amdjit.kernel(block=2 * lanes(), opt_level=level, warnings=False)(
        define(program.text(), NAMES)["kernel"]
    )
    out = np.zeros((len(program.results) + 1, lanes()), np.int32)
    arrays = [np.arange(lanes(), dtype=np.int32) for _ in GLOBAL]
    with emulator():
        kernel[1, 2 * lanes()](*arrays, out)
    expected = np.array([*program.results, 0], np.int32)[:, None] + np.arange(
        lanes(), dtype=np.int32
    )
    expected[-1] = 0
    np.testing.assert_array_equal(out, expected, err_msg=program.text())
    for array, value in zip(arrays, program.values.values(), strict=False):
        np.testing.assert_array_equal(array, np.arange(lanes()) + value, err_msg=program.text())


@pytest.mark.sample(1)
@pytest.mark.parametrize("level", [1, 3])
def test_waves_read_what_others_wrote_before_a_barrier(level: int) -> None:
    random = Random(level)
    for _ in range(20):
        check(random_program(random), level)


@pytest.mark.exhaustive
def test_many_waves_read_what_others_wrote_before_a_barrier() -> None:
    for seed in range(1000):
        check(random_program(Random(f"many {seed}")), seed % 4)


@pytest.mark.sample(1)
@OLDER
def test_waves_of_older_families_read_what_others_wrote_before_a_barrier(cpu: str) -> None:
    with processor(cpu):
        for seed in range(4):
            check(random_program(Random(seed), UNDIVIDED), 3)


@OLDER
@pytest.mark.exhaustive
def test_many_waves_of_older_families_read_what_others_wrote_before_a_barrier(cpu: str) -> None:
    with processor(cpu):
        for seed in range(1000):
            check(random_program(Random(f"many {seed}"), UNDIVIDED), seed % 4)
