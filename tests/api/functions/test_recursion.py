"""Functions that call themselves, against Python's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32, i64, numba_cuda

LANES = 32
SIZE = 6


def fib(n: Any) -> Any:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def gcd(a: Any, b: Any) -> Any:
    return a if b == 0 else gcd(b, a % b)


def ackermann(m: Any, n: Any) -> Any:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def even(n: Any) -> Any:
    return True if n == 0 else odd(n - 1)


def odd(n: Any) -> Any:
    if n == 0:
        return False
    return even(n - 1)


def halves(n: Any) -> Any:
    if n == 0:
        return 0
    return halves(n - 1) + 0.5


def digits(a: Any, n: Any, base: Any = 10) -> Any:
    """Write the digits of n, the highest first, and return how many there are."""
    place = 0
    if n >= base:
        place = digits(a, n // base, base)
    a[place] = n % base
    return place + 1


def quicksort(a: Any, low: Any, high: Any) -> Any:
    if low >= high:
        return
    place = low
    for k in range(low, high):
        if a[k] < a[high]:
            a[place], a[k] = a[k], a[place]
            place += 1
    a[place], a[high] = a[high], a[place]
    quicksort(a, low, place - 1)
    quicksort(a, place + 1, high)


def walk(left: Any, right: Any, node: Any, depth: Any) -> Any:
    """Return the sum of the nodes' numbers times their depths."""
    if node < 0:
        return 0
    below = walk(left, right, left[node], depth + 1) + walk(left, right, right[node], depth + 1)
    return node * depth + below


def queens(row: Any, columns: Any, rising: Any, falling: Any, size: Any) -> Any:
    if row == size:
        return 1
    found = 0
    for column in range(size):
        up, down = row + column, row - column + size
        if not (columns >> column & 1 or rising >> up & 1 or falling >> down & 1):
            found += queens(
                row + 1, columns | 1 << column, rising | 1 << up, falling | 1 << down, size
            )
    return found


@amdjit.kernel(max_recursion=7)
def numbers(x, out):
    i = amdjit.grid(1)
    n = x[i]
    out[i, 0] = fib(n)
    out[i, 1] = gcd(n * 6, i + 1)
    out[i, 2] = even(n) * 2 + odd(n)
    out[i, 3] = int(halves(n) * 2)
    out[i, 4] = ackermann(1, n)


def numbers_of(n: int, i: int) -> list[int]:
    return [
        fib(n),
        gcd(n * 6, i + 1),
        even(n) * 2 + odd(n),
        int(halves(n) * 2),
        ackermann(1, n),
    ]


def test_each_lane_recurses_to_its_own_depth() -> None:
    x = np.random.default_rng(1).permutation(LANES).astype(np.int32) % 6
    out = np.zeros((LANES, 5), np.int64)
    numbers[1, LANES](x, out)
    assert out.tolist() == [numbers_of(int(n), i) for i, n in enumerate(x)]


@amdjit.kernel(max_recursion=SIZE)
def sorts(x, out, counts):
    i = amdjit.grid(1)
    own = amdjit.local.array(SIZE, i64)
    for k in range(SIZE):
        own[k] = x[i, k]
    quicksort(own, 0, SIZE - 1)
    for k in range(SIZE):
        out[i, k] = own[k]
    counts[i] = digits(own, x[i, 0])
    for k in range(counts[i]):
        counts[i] = counts[i] * 10 + own[k]


def test_recursion_changes_local_arrays() -> None:
    x = np.random.default_rng(2).integers(0, 10**4, (LANES, SIZE))
    out, counts = np.zeros_like(x), np.zeros(LANES, np.int64)
    sorts[1, LANES](x, out, counts)
    assert out.tolist() == np.sort(x).tolist()
    assert counts.tolist() == [int(f"{len(str(row[0]))}{row[0]}") for row in x]


@amdjit.kernel(max_recursion=7)
def searches(left, right, sizes, out):
    i = amdjit.grid(1)
    out[i, 0] = walk(left, right, i, 1)
    out[i, 1] = queens(0, 0, 0, 0, sizes[i])


def test_trees_are_walked() -> None:
    random = np.random.default_rng(3)
    left, right = np.full(LANES, -1, np.int32), np.full(LANES, -1, np.int32)
    for node in range(1, LANES):
        # A heap of 32 nodes is 6 deep; some have their children the other way round.
        sides = (left, right) if random.integers(2) else (right, left)
        parent = (node - 1) // 2
        side = sides[0] if sides[0][parent] < 0 else sides[1]
        side[parent] = node
    sizes = np.arange(LANES, dtype=np.int32) % 5 + 1
    out = np.zeros((LANES, 2), np.int64)
    searches[1, LANES](left, right, sizes, out)
    expected = [[walk(left, right, i, 1), queens(0, 0, 0, 0, int(n))] for i, n in enumerate(sizes)]
    assert out.tolist() == expected


def down(n: Any) -> Any:
    return 0 if n == 0 else down(n - 1) + 1


def make_descent(limit: int) -> Any:
    @amdjit.kernel(max_recursion=limit, asserts=False)
    def descent(x, out):
        i = amdjit.grid(1)
        out[i] = down(x[i])

    return descent


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_one_call_beyond_the_limit_is_a_recursion_error(limit: int) -> None:
    descent, x = make_descent(limit), np.arange(LANES, dtype=np.int32) % (limit + 1)
    out = np.zeros(LANES, np.int32)
    descent[1, LANES](x, out)
    assert out.tolist() == x.tolist()
    x[5] = limit + 1
    with pytest.raises(RecursionError) as caught:
        descent[1, LANES](x, out)
    text = f"`down` has called itself {limit} times, the limit of max_recursion={limit}"
    assert text in str(caught.value)
    assert "thread (5, 0, 0)" in str(caught.value)


@pytest.mark.parametrize("limit", [0, 257, True, 2.0, None])
def test_the_limit_is_1_to_256(limit: Any) -> None:
    with pytest.raises(amdjit.OptionError, match="max_recursion"):
        amdjit.kernel(max_recursion=limit)(lambda x: None)


def held(a: Any, n: Any) -> Any:
    own = amdjit.local.array(4, i32)
    for k in range(4):
        own[k] = a[k] + n
    if n > 0:
        held(own, n - 1)
    for k in range(4):
        a[k] += own[(k + n) % 4]


def countdown(n: Any) -> Any:
    """Return an array of its own, which it makes anew at each level."""
    own = amdjit.local.array(2, i32)
    own[0], own[1] = n, 1
    if n > 0:
        below = countdown(n - 1)
        own[0] += below[0]
        own[1] += below[1]
    return own


def leaves(n: Any) -> Any:
    own = amdjit.local.array(2, i32)
    own[0], own[1] = n, 1
    if n > 0:
        left = leaves(n - 1)
        right = leaves(n - 1)
        own[0] += left[0]
        own[1] = left[1] + right[1]
    return own


@amdjit.kernel(max_recursion=6)
def returns_arrays(x, out):
    i = amdjit.grid(1)
    counted = countdown(x[i])
    grown = leaves(x[i])
    out[i, 0], out[i, 1], out[i, 2] = counted[0], counted[1], grown[1]


def test_recursion_returns_local_arrays() -> None:
    x = np.arange(LANES, dtype=np.int32) % 7
    out = np.zeros((LANES, 3), np.int32)
    returns_arrays[1, LANES](x, out)
    assert out.tolist() == [[n * (n + 1) // 2, n + 1, 2**n] for n in x.tolist()]


def no_more(n: Any) -> Any:
    return stop_or_go(n)


def stop_or_go(n: Any) -> Any:
    if n == 0:
        return 0.5
    return pass_on(n - 1)


def pass_on(n: Any) -> Any:
    return 1 + no_more(n)


def noted(a: Any, n: Any) -> Any:
    """Only pass on, but write first."""
    a[n] += 10
    return noted_or_end(a, n)


def noted_or_end(a: Any, n: Any) -> Any:
    return 0 if n == 0 else a[n] + noted(a, n - 1)


@amdjit.kernel(max_recursion=14)
def passes_on(x, out):
    i = amdjit.grid(1)
    out[i, 0] = no_more(x[i])
    out[i, 1] = stop_or_go(x[i])
    out[i, 2] = pass_on(x[i])
    own = amdjit.local.array(5, i64)
    for k in range(5):
        own[k] = k
    out[i, 3] = noted(own, x[i])
    out[i, 4] = own[0] + own[1]


def noted_of(n: int) -> list[int]:
    own = list(range(5))
    return [noted(own, n), own[0] + own[1]]


def test_of_functions_that_call_each_other_one_may_only_pass_on() -> None:
    x = np.arange(LANES, dtype=np.int32) % 5
    out = np.zeros((LANES, 5), np.float64)
    passes_on[1, LANES](x, out)
    expected = [[no_more(n), stop_or_go(n), pass_on(n), *noted_of(n)] for n in x.tolist()]
    assert out.tolist() == expected


def test_a_level_that_only_passes_on_reports_the_limit() -> None:
    @amdjit.kernel(max_recursion=2)
    def goes_on(x, out):
        i = amdjit.grid(1)
        out[i] = 1 + no_more(x[i])

    x, out = np.full(LANES, 1, np.int32), np.zeros(LANES, np.float32)
    goes_on[1, LANES](x, out)
    assert (out == 2.5).all()
    x[3] = 2
    with pytest.raises(
        RecursionError, match=r"`\w+` has called itself 2 times.*thread \(3, 0, 0\)"
    ):
        goes_on[1, LANES](x, out)


def power(x: Any, n: amdjit.Const) -> Any:
    return 1 if n == 0 else x * power(x, n - 1)


def sized(n: amdjit.Const) -> Any:
    """Return an array of n items, which are sums over the shorter ones."""
    own = amdjit.local.array(n, i32)
    for k in range(n):
        own[k] = k + 1
    if n > 1:
        shorter = sized(n - 1)
        for k in range(n - 1):
            own[k] += shorter[k]
    return own


@amdjit.kernel(max_recursion=5)
def constants(x, out):
    i = amdjit.grid(1)
    out[i, 0] = power(x[i], 5)
    items = sized(4)
    for k in range(4):
        out[i, k + 1] = items[k]


def test_a_constant_ends_a_recursion() -> None:
    x = np.arange(LANES)
    out = np.zeros((LANES, 5), np.int64)
    constants[1, LANES](x, out)
    assert out.tolist() == [[n**5, 4, 6, 6, 4] for n in x.tolist()]


def test_resources_show_the_stack() -> None:
    @amdjit.kernel(max_recursion=3)
    def stacks(x, out):
        own = amdjit.local.array(4, i32)
        held(own, x[0])
        out[0] = own[1]

    compiled = stacks.compile(i32[:], i32[:])
    assert compiled.resources.scratch_bytes > 4 * 4 * 4


def test_programs_of_numba_recurse() -> None:
    @numba_cuda.jit(device=True)
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    @numba_cuda.jit
    def factorials(x, out):
        i = numba_cuda.grid(1)
        out[i] = factorial(x[i])

    x, out = np.arange(10), np.zeros(10, np.int64)
    factorials[1, 10](x, out)
    assert out.tolist() == [1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880]
