"""Machine code for types that the CPU lacks, f16, bf16, fp8 and bf8, and for strides, vectors of 3
and dynamic LDS."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit.tree import nodes as tree
from amdjit.types import (
    AddressSpace,
    Array,
    Layout,
    Scalar,
    Type,
    Vector,
    bf8,
    bf16,
    f16,
    f32,
    f64,
    fp8,
    i32,
    i64,
)
from tests.lowering.emulated import run_on_emulator
from tests.tree.trees import (
    HERE,
    array,
    assign,
    call,
    compare,
    function,
    if_,
    load,
    number,
    op,
    read,
    shared,
    store,
    thread,
    variable,
)

ITEMS = 256


def elementwise(source: Type, target: Type, value: Any, inputs: tuple[Any, ...], count: int) -> Any:
    """Return out[n] = value(a[n], ...) for n in range(count), computed on the emulator."""
    names = [variable(name, array(source)) for name in "abc"[: len(inputs)]]
    out, n = variable("out", array(target)), variable("n", i32)
    body = (store(read(out), (read(n),), value(*(load(read(of), read(n)) for of in names))),)
    loop = tree.ForRange(
        HERE, n, call(thread), tree.Extent(HERE, i32, read(out), 0), number(ITEMS), body
    )
    result = np.zeros(count, (target.element if isinstance(target, Vector) else target).dtype)  # type: ignore[attr-defined]
    extents = [np.int32(count)] * (len(names) + 1)
    run_on_emulator(function("k", (*names, out), loop), *inputs, result, *extents, items=ITEMS)
    return result


def equal(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


def converted(values: Any, source: Scalar, target: Scalar) -> Any:
    return elementwise(
        source, target, lambda x: tree.Convert(HERE, target, x), (values,), len(values)
    )


def all_of(scalar: Scalar) -> Any:
    """Every value of a type of 8 or 16 bits."""
    bits = np.arange(1 << scalar.bits, dtype=f"u{scalar.nbytes}")
    return bits.view(scalar.dtype)


@pytest.mark.parametrize("source", [fp8, bf8, bf16, f16], ids=str)
@pytest.mark.parametrize("target", [f32, f64], ids=str)
def test_every_small_float_widens_exactly(source: Scalar, target: Scalar) -> None:
    values = all_of(source)
    with np.errstate(invalid="ignore"):
        equal(converted(values, source, target), values.astype(np.float32))


def near_ties(scalar: Scalar) -> Any:
    """Values of a small float, values halfway between neighbours, and values just next to
    halfway."""
    values = np.sort(all_of(scalar).astype(np.float64))
    finite = values[np.isfinite(values)][:: 1 if scalar.bits == 8 else 37]
    halves = (finite[1:] + finite[:-1]) / 2
    beyond = [np.inf, -np.inf, np.nan, 3 * finite[-1], -3 * finite[-1], 1e-30]
    return np.concatenate(
        [finite, halves, halves * (1 + 2.0**-23), halves * (1 - 2.0**-23), beyond]
    )


@pytest.mark.parametrize("target", [fp8, bf8, bf16, f16], ids=str)
def test_f32_rounds_to_nearest_even(target: Scalar) -> None:
    with np.errstate(all="ignore"):
        values = near_ties(target).astype(np.float32)
        equal(converted(values, f32, target), values.astype(target.dtype))


@pytest.mark.parametrize("target", [fp8, bf8, bf16, f16], ids=str)
def test_f64_rounds_once(target: Scalar) -> None:
    """2**-40 next to a tie is lost in f32: rounding twice would round to even, rounding once does
    not."""
    with np.errstate(invalid="ignore"):
        neighbours = np.unique(all_of(target).astype(np.float64))
    neighbours = neighbours[np.isfinite(neighbours)]
    finite = neighbours[:: 1 if target.bits == 8 else 37]
    low = finite[:-1]
    high = neighbours[np.searchsorted(neighbours, low) + 1]
    halves = (low + high) / 2
    up, down = halves + (high - low) * 2.0**-36, halves - (high - low) * 2.0**-36
    equal(converted(up, f64, target), high)
    equal(converted(down, f64, target), low)


def test_integers_become_bf16_and_fp8_through_f32() -> None:
    values = np.array(
        [0, 1, 5, 17, 255, 256, 257, 259, -3, 1 << 20, (1 << 31) - 1, -(1 << 31)], np.int32
    )
    equal(converted(values, i32, bf16), values.astype(np.float32).astype(ml_dtypes.bfloat16))
    equal(converted(values, i32, fp8), values.astype(np.float32).astype(ml_dtypes.float8_e4m3fn))


@pytest.mark.covering(1)
@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "min", "max"])
@pytest.mark.parametrize("scalar", [f16, bf16], ids=str)
def test_arithmetic_of_halves_is_correctly_rounded(scalar: Scalar, operator: str) -> None:
    random = np.random.default_rng(5)
    edges = [0.0, -0.0, 1.0, -1.0, 0.1, -7.5, 1e-7, 6e4, np.inf, -np.inf, np.nan]
    with np.errstate(all="ignore"):
        pairs = np.array(list(itertools.product(edges, repeat=2))).astype(scalar.dtype)
        noise = (
            random.standard_normal((1000, 2)) * 10.0 ** random.integers(-3, 4, (1000, 2))
        ).astype(scalar.dtype)
        a, b = (np.concatenate([pairs[:, side], noise[:, side]]) for side in (0, 1))
        ufunc: Any = {
            "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide,
            "%": np.remainder, "min": np.minimum, "max": np.maximum,
        }[operator]  # fmt: skip
        # f32 has more than twice the digits of both, so rounding its result once more is rounding
        # once.
        expected = ufunc(a.astype(np.float32), b.astype(np.float32)).astype(scalar.dtype)
    equal(elementwise(scalar, scalar, lambda x, y: op(operator, x, y), (a, b), len(a)), expected)


def test_negative_strides_read_backwards() -> None:
    """Row -1 of a strided array lies before its first element, so the pointer arithmetic is
    signed."""
    a = variable("a", array(f32, 2, layout=Layout.STRIDED))
    out = variable("out", array(f32))
    row = op("+", call(thread), number(1), True)
    body = store(read(out), (call(thread),), load(read(a), row, number(7)))
    values, result = np.arange(8, dtype=np.float32), np.zeros(7, np.float32)
    # a[row, column] is at column - row, so a[row, 7] reads the elements before the last one.
    run_on_emulator(
        function("k", (a, out), body), values, result, *map(np.int32, (8, 8, -1, 1, 7)), items=7
    )
    assert result.tolist() == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]


def test_dynamic_lds_has_the_launch_s_size() -> None:
    dynamic = Array(i32, 1, Layout.CONTIGUOUS, AddressSpace.LDS)
    fixed, rest = variable("fixed", shared(i32, 3)), variable("rest", dynamic)
    out = variable("out", array(i32))
    body = [
        assign(fixed, tree.AllocateArray(HERE, fixed.type, "fixed")),
        assign(rest, tree.AllocateArray(HERE, dynamic, "rest", True)),
        store(read(fixed), (number(2),), number(5)),
        store(read(rest), (number(0),), number(7)),
        store(read(rest), (op("-", tree.Extent(HERE, i32, read(rest), 0), number(1)),), number(9)),
        store(read(out), (number(0),), load(read(fixed), number(2))),
        store(read(out), (number(1),), load(read(rest), number(0))),
        store(read(out), (number(2),), tree.Extent(HERE, i32, read(rest), 0)),
        store(read(out), (number(3),), load(read(rest), number(24))),
    ]
    result = np.zeros(4, np.int32)
    run_on_emulator(function("k", (out,), *body), result, np.int32(4), dynamic_lds=100)
    assert result.tolist() == [5, 7, 25, 9]


def test_vectors_of_three_are_packed_in_every_memory() -> None:
    vector = Vector(f32, 3)
    a, out = variable("a", array(vector)), variable("out", array(vector))
    spaces = (AddressSpace.LDS, AddressSpace.PRIVATE)
    types = [Array(vector, 1, Layout.CONTIGUOUS, space, (5,)) for space in spaces]
    tiles = [variable(space.name, type) for space, type in zip(spaces, types, strict=True)]
    n = variable("n", i32)
    body = [assign(tile, tree.AllocateArray(HERE, tile.type, tile.name)) for tile in tiles]
    copies = (
        (read(tiles[0]), read(a)),
        (read(tiles[1]), read(tiles[0])),
        (read(out), read(tiles[1])),
    )
    body += [
        tree.ForRange(
            HERE, n, number(0), number(5), number(1), (store(to, (read(n),), load(of, read(n))),)
        )
        for to, of in copies
    ]
    values, result = np.arange(15, dtype=np.float32), np.zeros(15, np.float32)
    run_on_emulator(function("k", (a, out), *body), values, result, np.int32(5), np.int32(5))
    assert result.tolist() == values.tolist()


def test_early_returns_in_divergent_control_flow() -> None:
    out, i = variable("out", array(i32)), variable("i", i32)
    lane = call(thread)
    body = [
        tree.ForRange(
            HERE,
            i,
            number(0),
            number(40),
            number(1),
            (
                if_(compare("==", read(i), lane), (tree.Return(HERE, None),)),
                store(read(out), (lane,), op("+", load(read(out), lane), number(1))),
            ),
            (store(read(out), (lane,), number(-1)),),
        )
    ]
    result = np.zeros(64, np.int32)
    run_on_emulator(function("k", (out,), *body), result, np.int32(64), items=64)
    assert result.tolist() == [lane if lane < 40 else -1 for lane in range(64)]


def test_offsets_of_large_arrays_are_64_bits() -> None:
    a = variable("a", array(f32, offset_bits=64))
    out = variable("out", array(i64, offset_bits=64))
    body = [
        store(read(out), (number(0),), tree.Convert(HERE, i64, load(read(a), number(3)))),
        store(read(out), (number(1, i64),), tree.Extent(HERE, i64, read(a), 0)),
    ]
    result = np.zeros(2, np.int64)
    values = np.arange(4, dtype=np.float32)
    run_on_emulator(function("k", (a, out), *body), values, result, np.int64(1 << 40), np.int64(2))
    assert result.tolist() == [3, 1 << 40]
