"""Reductions, scans and votes over a workgroup, against left folds in Python and NumPy."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import block, f32, i32, u32

SHAPES = [1, 33, 64, (17, 3), (8, 4, 8), 1000]
TYPES = (
    np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64,
)  # fmt: skip
UFUNCS = {
    "add": np.add, "mul": np.multiply, "min": np.fmin, "max": np.fmax, "minimum": np.minimum,
    "maximum": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


class Affine(NamedTuple):
    """x -> a * x + b, modulo 2**32."""

    a: u32
    b: u32


def after(first, second):
    """The composition of two affine functions: associative, not commutative."""
    return Affine(first.a * second.a, first.b * second.a + second.b)


def last_that_counts(first, second):
    """The last value that is not 0: associative, not commutative."""
    return second if second != 0 else first


def plus(first, second):
    return first + second


def lowest(first, second):
    """Shows lanes that are not there, which read as 0."""
    return min(first, second)


@functools.cache
def _kernel(op: Any, wave_size: int, shape: Any) -> Any:
    @amdjit.kernel(wave_size=wave_size, block=shape)
    def kernel(x, total, inclusive, exclusive, init):
        i = block.thread_rank()
        total[i] = block.reduce(op, x[i])
        inclusive[i] = block.inclusive_scan(op, x[i])
        exclusive[i] = block.exclusive_scan(op, x[i], init)

    return kernel


def _run(op: Any, x: Any, init: Any, shape: Any, wave_size: int, fixed: bool = False) -> Any:
    results = [np.zeros_like(x) for _ in range(3)]
    tuple_shape = shape if isinstance(shape, tuple) else (shape,)
    kernel = _kernel(op, wave_size, tuple_shape if fixed else None)
    kernel[1, shape](x, *results, init)
    return results


def _size(shape: Any) -> int:
    return math.prod(shape) if isinstance(shape, tuple) else shape


@pytest.mark.sample(12)
@pytest.mark.covering(2)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "op", ["add", lowest, plus, last_that_counts], ids=["add", "lowest", "plus", "last_that_counts"]
)
def test_integers_are_those_of_a_left_fold(op: Any, shape: Any, wave_size: int) -> None:
    n = _size(shape)
    x = np.random.default_rng(n).integers(-2, 3, n).astype(np.int32) + 9 * (op is lowest)
    fold = op if callable(op) else UFUNCS[op]
    expected = list(itertools.accumulate(x.tolist(), fold))
    total, inclusive, exclusive = _run(op, x, np.int32(99), shape, wave_size)
    np.testing.assert_array_equal(total, expected[-1])
    np.testing.assert_array_equal(inclusive, expected)
    shifted = list(itertools.accumulate([99, *x.tolist()[:-1]], fold))
    np.testing.assert_array_equal(exclusive, shifted)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: np.dtype(kind).name)
def test_every_type_and_name(kind: Any) -> None:
    _check_names(kind, list(UFUNCS), ((48, 32), ((16, 8), 64)))


@pytest.mark.sample(4)
@pytest.mark.parametrize("place", range(len(TYPES)), ids=lambda place: np.dtype(TYPES[place]).name)
def test_every_type(place: int) -> None:
    names = list(UFUNCS)
    _check_names(TYPES[place], [names[place % 6], names[-1 - place % 3]], ((48, 32 << place % 2),))


def _check_names(kind: Any, names: list[str], shapes: Any) -> None:
    """Small integers, which every type adds exactly, in shapes that fill waves and do not."""
    is_float = np.dtype(kind).kind not in "iu"
    for shape, wave_size in shapes:
        x = np.random.default_rng(3).integers(0, 2, _size(shape)).astype(kind)
        for op in names:
            if is_float and op in ("and", "or", "xor"):
                continue
            ufunc = UFUNCS[op]
            total, inclusive, exclusive = _run(op, x, x[0], shape, wave_size, fixed=True)
            wide = x.astype(np.float64) if is_float else x
            expected = ufunc.accumulate(wide)
            before = np.concatenate([x[:1], ufunc(wide[0], expected[:-1])])
            np.testing.assert_array_equal(total, np.asarray(expected[-1]).astype(kind))
            np.testing.assert_array_equal(inclusive, expected.astype(kind))
            np.testing.assert_array_equal(exclusive, before.astype(kind))


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_records_and_tuples_in_order(wave_size: int) -> None:
    @amdjit.kernel(wave_size=wave_size)
    def compose(a, b, total, scanned, swapped):
        i = block.thread_rank()
        both = block.reduce(after, Affine(a[i], b[i]))
        upto = block.inclusive_scan(after, Affine(a[i], b[i]))
        pair = block.exclusive_scan(lambda p, q: (q[0], p[1] + q[1]), (a[i], i), (7, 0))
        total[i, 0], total[i, 1] = both.a, both.b
        scanned[i, 0], scanned[i, 1] = upto.a, upto.b
        swapped[i, 0], swapped[i, 1] = pair[0], u32(pair[1])

    for shape in (40, 96, (6, 5, 7)):
        n = _size(shape)
        a, b = np.random.default_rng(n).integers(0, 2**32, (2, n)).astype(np.uint32)
        total, scanned, swapped = (np.zeros((n, 2), np.uint32) for _ in range(3))
        compose[1, shape](a, b, total, scanned, swapped)
        functions = [(int(p), int(q)) for p, q in zip(a, b, strict=True)]
        expected = list(itertools.accumulate(functions, _composed))
        np.testing.assert_array_equal(scanned, expected)
        np.testing.assert_array_equal(total, [expected[-1]] * n)
        pairs = zip([7, *a.tolist()[:-1]], np.cumsum([0, *range(n - 1)]).tolist(), strict=True)
        np.testing.assert_array_equal(swapped, list(pairs))


def _composed(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] * second[0] % 2**32, (first[1] * second[0] + second[1]) % 2**32


def test_complex_numbers_and_booleans() -> None:
    @amdjit.kernel
    def kernel(x, product, odd):
        i = block.thread_rank()
        product[0, i] = block.inclusive_scan(lambda p, q: p * q, x[i])
        product[1, i] = block.inclusive_scan("mul", x[i])
        product[2, i] = block.exclusive_scan("mul", x[i])
        product[3, i] = block.reduce("add", x[i])
        odd[i] = block.inclusive_scan("xor", x[i].real > 0)

    x = np.random.default_rng(1).choice([1, -1, 1j, -1j], 70).astype(np.complex64)
    product, odd = np.zeros((4, 70), np.complex64), np.zeros(70, np.bool_)
    kernel[1, 70](x, product, odd)
    products = np.cumprod(x)
    expected = [products, products, [1, *products[:-1]], np.full(70, x.sum())]
    np.testing.assert_array_equal(product, expected)
    np.testing.assert_array_equal(odd, np.logical_xor.accumulate(x.real > 0))


def test_floats_are_near_the_exact_sum_and_repeat_bit_for_bit() -> None:
    for shape in (77, (16, 16), 1000):
        x = np.random.default_rng(5).standard_normal(_size(shape)).astype(np.float32)
        for op in ("add", plus):
            first = _run(op, x, np.float32(0), shape, 32)
            again = _run(op, x, np.float32(0), shape, 32)
            for one, other in zip(first, again, strict=True):
                np.testing.assert_array_equal(one, other)
            for one, other in zip(
                first, _run(op, x, np.float32(0), shape, 32, fixed=True), strict=True
            ):
                np.testing.assert_array_equal(one, other)
            exact = np.cumsum(x.astype(np.float64))
            bound = 40 * 2.0**-24 * np.abs(x).sum()
            np.testing.assert_allclose(first[0], exact[-1], rtol=0, atol=bound)
            np.testing.assert_allclose(first[1], exact, rtol=0, atol=bound)


def test_nan_as_the_names_say() -> None:
    x = np.array([3, np.nan, 1, 2] * 12, np.float32)
    for op in ("min", "max", "minimum", "maximum"):
        total, inclusive, _ = _run(op, x, x[0], 48, 32)
        np.testing.assert_array_equal(total, UFUNCS[op].reduce(x))
        np.testing.assert_array_equal(inclusive, UFUNCS[op].accumulate(x))


@pytest.mark.sample(5)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("shape", [5, 64, 130, (9, 9), 1024], ids=str)
def test_votes_and_broadcasts(shape: Any, wave_size: int) -> None:
    @amdjit.kernel(wave_size=wave_size)
    def kernel(x, votes, sent, source):
        i = block.thread_rank()
        votes[i, 0] = block.count(x[i] > 0)
        votes[i, 1] = block.any(x[i] > 8)
        votes[i, 2] = block.all(x[i] > -9)
        votes[i, 3] = block.size()
        sent[i] = block.broadcast(x[i], source)
        pair = block.broadcast((x[i], i), 1)
        sent[i] += pair[0] * 100 + pair[1]

    n = _size(shape)
    for seed in range(2):
        x = np.random.default_rng(seed).integers(-9 + seed, 9 + seed, n).astype(np.int32)
        votes, sent = np.zeros((n, 4), np.int32), np.zeros(n, np.int32)
        kernel[1, shape](x, votes, sent, n // 2)
        expected = [(x > 0).sum(), (x > 8).any(), (x > -9).all(), n]
        np.testing.assert_array_equal(votes, [expected] * n)
        np.testing.assert_array_equal(sent, x[n // 2] + x[1] * 100 + 1)


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_calls_in_loops_follow_each_other_without_a_race(wave_size: int) -> None:
    @amdjit.kernel(wave_size=wave_size)
    def kernel(x, out, rounds):
        i = block.thread_rank()
        value = x[i]
        for step in range(rounds):
            total = block.reduce("add", value)
            before = block.exclusive_scan(plus, value, step)
            value = (value + block.broadcast(total, step) + before) % 1000
            if block.count(value > 500) > 40:
                value -= block.inclusive_scan("min", value)
        out[i] = value

    n, rounds = 100, 7
    x = np.random.default_rng(2).integers(0, 999, n).astype(np.int32)
    value = x.astype(np.int64)
    for step in range(rounds):
        before = step + np.concatenate([[0], np.cumsum(value)[:-1]])
        value = (value + value.sum() + before) % 1000
        if (value > 500).sum() > 40:
            value -= np.minimum.accumulate(value)
    out = np.zeros(n, np.int32)
    with amdjit.sanitize("memory", "race", "init", "sync"):
        kernel[1, n](x, out, rounds)
    np.testing.assert_array_equal(out, value)


def test_broadcasts_follow_each_other_without_a_race() -> None:
    @amdjit.kernel
    def kernel(x, out):
        total = 0
        for source in range(20):
            total = 3 * total + block.broadcast(x[block.thread_rank()], 5 * source)
        out[block.thread_rank()] = total

    x, out = np.arange(100, dtype=np.uint32) + 7, np.zeros(100, np.uint32)
    with amdjit.sanitize("race"):
        kernel[1, 100](x, out)
    expected = 0
    for source in range(20):
        expected = (3 * expected + 5 * source + 7) % 2**32
    np.testing.assert_array_equal(out, expected)


def test_random_sequences_of_calls() -> None:
    """Programs of random calls, which share LDS, in random blocks."""
    rng = random.Random(11)
    for _ in range(3):
        shape = rng.choice([(3,), (40,), (65,), (8, 16), (4, 5, 6)])
        steps = tuple(rng.randrange(5) for _ in range(4))
        n = math.prod(shape)
        x = np.random.default_rng(n).integers(-50, 50, n).astype(np.int64)
        out = np.zeros_like(x)
        wave_size = rng.choice([32, 64])
        program = _program(steps, wave_size)
        with amdjit.sanitize("race"):
            program[1, shape](x, out)
        np.testing.assert_array_equal(out, _in_numpy(steps, x))


def _program(steps: tuple[int, ...], wave_size: int) -> Any:
    @amdjit.kernel(wave_size=wave_size)
    def kernel(x, out):
        i = block.thread_rank()
        value = x[i]
        for step in steps:
            if step == 0:
                value -= block.reduce(plus, value)
            elif step == 1:
                value = block.inclusive_scan("add", value) % 97
            elif step == 2:
                value = block.exclusive_scan(last_that_counts, value, 5)
            elif step == 3:
                value += block.count(value > 0)
            else:
                value ^= block.broadcast(value, 2)
        out[i] = value

    return kernel


def _in_numpy(steps: tuple[int, ...], value: Any) -> Any:
    for step in steps:
        if step == 0:
            value = value - value.sum()
        elif step == 1:
            value = np.cumsum(value) % 97
        elif step == 2:
            shifted = [5, *value.tolist()[:-1]]
            value = np.array(list(itertools.accumulate(shifted, last_that_counts)))
        elif step == 3:
            value = value + (value > 0).sum()
        else:
            value = value ^ value[2]
    return value


def test_initial_values_come_first() -> None:
    @amdjit.kernel
    def kernel(x, out, init):
        i = block.thread_rank()
        out[i, 0] = block.reduce(last_that_counts, x[i], init)
        out[i, 1] = block.all_reduce("add", x[i], init)
        out[i, 2] = block.inclusive_scan(last_that_counts, x[i], init)
        out[i, 3] = block.exclusive_scan("add", x[i])

    x = np.zeros(70, np.int32)
    x[40] = 3
    out = np.zeros((70, 4), np.int32)
    kernel[1, 70](x, out, np.int32(8))
    late = np.arange(70) > 40
    expected = [np.full(70, 3), np.full(70, 11), np.where(np.arange(70) >= 40, 3, 8), 3 * late]
    np.testing.assert_array_equal(out, np.transpose(expected))


def test_one_wave_needs_neither_lds_nor_barriers() -> None:
    def sums(x: f32[:]):
        i = block.thread_rank()
        x[i] = block.reduce("add", x[i]) + block.inclusive_scan("max", x[i])

    compiled = amdjit.kernel(block=(32,))(sums).compile(target="gfx1201")
    assert compiled.resources.lds_bytes == 0
    assert "barrier" not in compiled.asm
    several = amdjit.kernel(block=(64,))(sums).compile(target="gfx1201")
    assert several.resources.lds_bytes == 20
    assert several.asm.count("s_barrier_wait") == 4


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1250"])
def test_other_processors_have_it_too(target: str) -> None:
    @amdjit.kernel
    def kernel(x: f32[:], n: i32[:]):
        i = block.thread_rank()
        x[i] = block.reduce(plus, x[i]) + block.exclusive_scan("max", x[i])
        n[i] = block.inclusive_scan("xor", n[i]) + block.count(n[i] > 0)

    assert kernel.compile(target=target).resources.lds_bytes > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: block.reduce("plus", x), "there is no operator 'plus'"),
        (lambda x: block.reduce("and", x), "'and' of f32"),
        (lambda x: block.reduce("add", x > 0), "'add' of boolean"),
        (lambda x: block.reduce("add", (x, x)), "'add' of tuple"),
        (lambda x: block.exclusive_scan(plus, x), "give `init`"),
        (lambda x: block.reduce(x, "add"), "the operator is a value of type f32(.|\n)*op, value"),
        (lambda x: block.inclusive_scan(x, plus), "the operator is a value of type f32"),
        (lambda x: block.exclusive_scan(x, "add"), "the operator is a value of type f32"),
        (lambda x: block.exclusive_scan("min", 1j * x), "'min' of complex64"),
    ],
)
def test_what_is_refused(call: Callable[[Any], Any], message: str) -> None:
    @amdjit.kernel
    def kernel(x):
        call(x[0])
        x[0] = 1

    with pytest.raises(amdjit.CompileError, match=message):
        kernel.compile(f32[:])
