"""Walrus, match, comprehensions, del, starred targets and exits of unrolled loops: the emulator
against Python."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import amdjit
from amdjit import CompileError, Const, static_range
from tests.api.lanes import DEVICE, same_as_python

LANES = 40
RANDOM = np.random.default_rng(3)
LIMIT = 3


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 8


def walrus(i, a, out):
    if (n := a[i] * 2) > 4 and (m := n + 1) % 3 == 0:
        out[i] = n + m
    out[i] += n * (n := 3) + n
    total = 0
    while (n := n + a[i] % 5 + 1) < 30:
        total += n
    out[i] += total * 7 + (5 if (k := n) > 33 else (k := 2)) * k


def walrus_on_one_side(i, a, out):
    n = a[i]
    if n > 5 or (n := n * n) > 9:
        out[i] = n
    else:
        out[i] = -n
    out[i] = out[i] * 10 + (n if n % 2 else (n := 100 + n)) + n


def matches_numbers(i, a, out):
    match a[i] % 11:
        case 0 | 5:
            out[i] = 100
        case Level.LOW if a[i] > 3:
            out[i] = 200
        case 1 | 2 | Level.LOW:
            out[i] = 300 + a[i]
        case Level.HIGH:
            return
        case _ if a[i] % 2 == 0:
            out[i] = 400
        case _:
            out[i] = 500
    out[i] += 1


def matches_tuples(i, a, out):
    pair = (a[i] % 3, i % 2)
    match pair:
        case (0, 0):
            x = 1
        case (0, _) | (1, 1):
            x = 2
        case (_, 1):
            x = 3
        case (1, 0, 0):
            x = 4
        case _:
            x = 5
    match (x, bool(a[i] > 0)):
        case (1 | 2, True):
            x += 10
        case (_, False):
            x += 20
    out[i] = x


def comprehensions(i, a, out):
    squares = tuple(k * k for k in range(5) if k != 2)
    out[i] = sum(a[(i + k) % 40] for k in squares)
    out[i] += sum([x * k for k, x in enumerate((a[i], 3, 5))], 1000)
    out[i] += max(a[(i + k) % 40] for k in range(3)) - min((a[i], 2, 7))
    out[i] += any(a[(i + k) % 40] == 7 for k in range(3)) * 10000
    out[i] += all(k < a[i] for k in squares) * 20000
    out[i] += (
        sorted((3, 1, 2))[0]
        + sorted(squares, reverse=True)[1]
        + len([j for k in squares for j in range(k)])
    )
    k = a[i]
    doubled = tuple((k := k * 2) + z for z in (1, 2))
    out[i] += doubled[0] * 3 + doubled[1] + k


def targets(i, a, out):
    first, *rest, last = (a[i], 2, 3.5, i, 7)
    *_, end = rest
    x = y = z = a[i] + len(rest)
    out[i] = first + last + end + x + y * z + int(rest[1] * 2)
    del x
    x = 5
    out[i] += x
    for k in static_range(3):
        inner = a[i] + k
        out[i] += inner
        del inner


def search(i, a, out):
    for k in static_range(4):
        if a[(i + k) % 40] < 0:
            out[i] = k
            break
    else:
        out[i] = 100


def skip(i, a, out):
    found = -1
    for k, factor in enumerate((1, 2, 0.5)):
        x = a[(i + k) % 40]
        if x % 3 == 0:
            continue
        out[i] += x * k
        if factor == 2:
            continue
        found = k
        if x > 10:
            out[i] += 1000
    out[i] += found * 7


def skip_and_leave(i, a, out):
    last = 0
    for step in (1, 3, 4):
        for k in static_range(3):
            x = a[(i + k * step) % 40]
            if x > 8:
                break
            if x < -8:
                continue
            out[i] = out[i] * 3 + x + k
            last = x if k else last
            if x == 5:
                return
        else:
            out[i] += 500
            continue
        if out[i] % 2:
            break
    out[i] += last


def in_a_run_time_loop(i, a, out):
    for n in range(a[i] % 6):
        for k in (1, 2, 3):
            if (n + a[i]) % 4 == k:
                continue
            if n == k:
                break
            out[i] += 10 * k + n
        else:
            if n > 3:
                break
        while out[i] > 50:
            out[i] -= 41
            if out[i] % 3:
                continue


def unpacked(i, a, out):
    for k in (0, 1):
        for j in (2, 3):
            if j == 3 and k == 0:
                break
            if a[i] > 3:
                break
            out[i] += j
        out[i] += 100 * k


def leave_from_an_else(i, a, out):
    for k in (2, 5):
        out[i] += k
        for n in range(a[i] % k):
            if n == 3:
                break
        else:
            if a[i] > 3:
                break
            while True:
                out[i] += 10
                break


CASES = [
    leave_from_an_else,
    walrus,
    walrus_on_one_side,
    matches_numbers,
    matches_tuples,
    comprehensions,
    targets,
    search,
    skip,
    skip_and_leave,
    in_a_run_time_loop,
    unpacked,
]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_static_control_flow_gives_what_python_gives(function) -> None:
    a = RANDOM.integers(-20, 20, LANES).astype(np.int32)
    same_as_python(function, a, np.zeros(LANES, np.int32))


@amdjit.kernel
def by_constant(out, kind: Const):
    match kind:
        case Color.RED | None:
            out[0] = 1
        case Color.BLUE:
            out[0] = 2
        case "name" | (1, "x"):
            out[0] = 3
        case 5:
            out[0] = 4
        case _:
            out[0].refused_if_typed()


@pytest.mark.parametrize(
    ("kind", "expected"), [(Color.RED, 1), (Color.BLUE, 2), (None, 1), ("name", 3), (5, 4)]
)
def test_match_on_constants_types_one_case(kind, expected) -> None:
    out = np.zeros(1, np.int32)
    with amdjit.use(DEVICE):
        by_constant[1, 1](out, kind)
        by_constant[1, 1](out_of_tuple := np.zeros(1, np.int32), (1, "x"))
    assert out[0] == expected
    assert out_of_tuple[0] == 3


LIMITS = (4, 1, 2)
k = 77


@amdjit.kernel
def names_of_comprehensions(out):
    out[0] = sum(k for k in LIMITS)
    out[1] = k


def test_names_of_comprehensions_are_their_own() -> None:
    out = np.zeros(2, np.int32)
    with amdjit.use(DEVICE):
        names_of_comprehensions[1, 1](out)
    assert list(out) == [7, 77]


_ENDLESS = range(2**70)


def test_ranges_of_more_items_than_python_can_count_are_refused() -> None:
    @amdjit.kernel
    def endless(a: amdjit.f32[:]):
        for i in amdjit.static_range(0, -(2**70), -3):
            a[i] = 0
        for i in _ENDLESS:
            a[i] = 0
        for i in range(2**70):
            a[i] = 0

    with pytest.raises(CompileError) as caught:
        endless.compile()
    titles = [diagnostic.title for diagnostic in caught.value.diagnostics]
    assert titles[0] == f"{-(-(2**70) // 3)} iterations are too many to unroll when compiling"
    assert titles[1] == f"{2**70} iterations are too many to unroll when compiling"


def test_a_step_of_false_is_zero() -> None:
    @amdjit.kernel
    def stays(a: amdjit.f32[:]):
        for i in range(1, 9, False):
            a[i] = 0
        for i in static_range(1, 9, False):
            a[i] = 0

    with pytest.raises(CompileError) as caught:
        stays.compile()
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["AJ0305", "AJ0305"]
