"""Triton's operations on whole blocks on the emulator, against NumPy: reductions, scans, sorting,
other shapes, and the layouts that blocks are converted between."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import amdjit.triton

pytest.importorskip("triton", reason="Triton is not installed")

import triton
import triton.language as tl

from tests.triton_driver.language import (
    INTEGERS,
    NUMBERS,
    dtype_of,
    empty,
    expect,
    kernel,
    values,
)

PROCESSORS = ("gfx1201", "gfx1100", "gfx942", "gfx950")
pytestmark = pytest.mark.foreign


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with amdjit.triton.use(f"emulator:{request.param}"):
        yield request.param


@triton.jit
def reduced(x, z, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    block = tl.load(x + rows[:, None] * N + columns[None, :])
    places = z + (columns if AXIS == 0 else rows)
    EACH


REDUCTIONS: dict[str, Any] = {
    "sum": np.sum, "max": np.max, "min": np.min, "argmax": np.argmax, "argmin": np.argmin,
    "xor_sum": np.bitwise_xor.reduce,
}  # fmt: skip


UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(2, 32), (4, 128), (1, 1024), (32, 16)])
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions(device: str, dtype: str, shape: tuple[int, int], axis: int) -> None:
    x = values(shape, dtype)
    names = [name for name in REDUCTIONS if name != "xor_sum" or dtype in INTEGERS]
    result = dtype if dtype_of(dtype).itemsize >= 4 else "int32" if dtype in INTEGERS else "float32"
    if dtype.startswith("uint") and result == "int32":
        result = "uint32"
    length = shape[1 - axis]
    z, places = empty((len(names), length), result), empty((len(names), length), "int32")
    lines = [
        f"tl.store(places + {row} * {length}, tl.{name}(block, AXIS))"
        for row, name in enumerate(names)
        if "arg" not in name
    ]
    kernel(reduced, EACH="\n    ".join(lines))[(1,)](x, z, *shape, axis)
    lines = [
        f"tl.store(places + {row} * {length}, tl.{name}(block, AXIS, tie_break_left=True))"
        for row, name in enumerate(names)
        if "arg" in name
    ]
    kernel(reduced, EACH="\n    ".join(lines))[(1,)](x, places, *shape, axis)
    for row, name in enumerate(names):
        wide = x.astype(dtype_of(result)) if name in ("sum", "xor_sum") else x
        if name == "sum":
            # A tree of additions, each rounded to the type of the elements.
            steps, sums = shape[axis].bit_length(), np.abs(x.astype(np.float64)).sum(axis)
            close = steps * UNITS.get(dtype, 0.0) * float(sums.max())
            expect(z[row], wide.sum(axis, dtype=wide.dtype), close)
        elif "arg" in name:
            np.testing.assert_array_equal(places[row], REDUCTIONS[name](x, axis))
        else:
            expect(z[row], REDUCTIONS[name](wide, axis=axis))


@triton.jit
def first(a, b):
    return a


@triton.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def best_so_far(a, i, b, j):
    takes = a > b
    return tl.where(takes, a, b), tl.where(takes, i, j)


@triton.jit
def welford(mean, square, weight, mean2, square2, weight2):
    difference, total = mean2 - mean, weight + weight2
    part = weight2 / total
    return (
        mean + difference * part,
        square + square2 + difference * difference * weight * part,
        total,
    )


@triton.jit
def scanned(x, y, z, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    columns = tl.arange(0, N)[None, :]
    a = tl.load(x + rows * N + columns)
    b = tl.load(y + rows * N + columns)
    number = tl.broadcast_to(rows if AXIS == 0 else columns, [M, N])
    tl.store(z + rows * N + columns, EACH)


def scan(name: str, x: Any, y: Any) -> Any:
    """Return the scan of rows."""
    if name == "cumsum":
        return np.cumsum(x, 1, dtype=x.dtype)
    if name == "cumprod":
        return np.cumprod(x, 1, dtype=x.dtype)
    if name == "first":
        return np.broadcast_to(x[:, :1], x.shape)
    total, result = np.zeros(len(x), x.dtype), []
    best = np.zeros(len(x), np.int32)
    for column in range(x.shape[1]):
        total = total * x[:, column] + y[:, column]
        best = np.where(x[np.arange(len(x)), best] > x[:, column], best, column)
        result.append(best if name == "best" else total)
    return np.stack(result, 1)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "first", "recurrence", "best"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "int64", "bfloat16"])
@pytest.mark.parametrize("shape", [(8, 32), (32, 16), (2, 256), (256, 2)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("num_warps", [4, 16])
def test_scans(
    device: str,
    name: str,
    dtype: str,
    shape: tuple[int, int],
    axis: int,
    reverse: bool,
    num_warps: int,
) -> None:
    x, y = values(shape, dtype, 1, 3), values(shape, dtype, 2, 3)
    if dtype == "bfloat16" and name in ("cumsum", "cumprod", "recurrence"):
        pytest.skip("sums of bfloat16 in another order have other bits")
    ends = f"{axis}, reverse={reverse}"
    text = {
        "cumsum": f"tl.cumsum(a, {ends})",
        "cumprod": f"tl.cumprod(a, {ends})",
        "first": f"tl.associative_scan(a, {axis}, first, reverse={reverse})",
        "recurrence": f"tl.associative_scan((a, b), {axis}, recurrence, reverse={reverse})[1]",
        "best": f"tl.associative_scan((a, number), {axis}, best_so_far, reverse={reverse})[1]",
    }[name]
    z = empty(shape, "int32" if name == "best" else dtype)
    kernel(scanned, EACH=text)[(1,)](x, y, z, *shape, axis, num_warps=num_warps)
    turned = [each.T if axis == 0 else each for each in (x, y)]
    turned = [each[:, ::-1] if reverse else each for each in turned]
    wanted = scan(name, *turned)
    if name == "best" and reverse:
        wanted = turned[0].shape[1] - 1 - wanted
    wanted = wanted[:, ::-1] if reverse else wanted
    expect(z, wanted.T if axis == 0 else wanted, 1e-3 if dtype == "float32" else 0)


@triton.jit
def moments(x, mean, variance, SIZE: tl.constexpr):
    a = tl.load(x + tl.arange(0, SIZE))
    m, square, weight = tl.reduce((a, tl.zeros_like(a), tl.full(a.shape, 1, a.dtype)), 0, welford)
    tl.store(mean, m)
    tl.store(variance, square / weight)


def test_a_reduction_of_several_values(device: str) -> None:
    x, mean, variance = values(512, "float32"), empty(1, "float32"), empty(1, "float32")
    moments[(1,)](x, mean, variance, SIZE=512)
    expect(mean, [x.mean()], 1e-5)
    expect(variance, [x.var()], 1e-5)


@triton.jit
def on_a_row(x, z, SIZE: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, SIZE)
    a = tl.load(x + i)
    EACH


@pytest.mark.parametrize(("size", "count"), [(2048, 2), (1024, 128), (256, 512), (32, 512), (8, 2)])
def test_histograms(device: str, size: int, count: int) -> None:
    x, z = values(size, "int32", 1, count) % count, empty(count, "int32")
    kernel(on_a_row, EACH="tl.store(z + tl.arange(0, COUNT), tl.histogram(a, COUNT))")[(1,)](
        x, z, size, count
    )
    expect(z, np.bincount(x, minlength=count))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float16", "float32", "bfloat16"])
@pytest.mark.parametrize("size", [8, 128, 512])
def test_sorting_and_flipping(device: str, dtype: str, size: int) -> None:
    x = values(size, dtype)
    for text, wanted in (
        ("tl.sort(a)", np.sort(x)),
        ("tl.sort(a, descending=True)", np.sort(x)[::-1]),
        ("tl.flip(a, 0)", x[::-1]),
    ):
        z = empty(size, dtype)
        kernel(on_a_row, EACH=f"tl.store(z + i, {text})")[(1,)](x, z, size, 1)
        expect(z, wanted)
    z = empty(8, dtype)
    kernel(on_a_row, EACH="tl.store(z + tl.arange(0, 8), tl.topk(a, 8))")[(1,)](x, z, size, 1)
    expect(z, np.sort(x)[::-1][:8])


@pytest.mark.parametrize("dtype", ["int8", "int32", "float64", "float16"])
def test_blocks_joined_and_split(device: str, dtype: str) -> None:
    x, z = values(256, dtype), empty(256, dtype)
    pairs = "left, right = tl.split(tl.reshape(a, (SIZE // 2, 2)))"
    halves = "left, right = tl.split(tl.reshape(a, (2, SIZE // 2)).trans())"
    places = "tl.arange(0, SIZE // 2)[:, None] * 2 + tl.arange(0, 2)[None, :]"
    square = "tl.broadcast_to(tl.max(tl.reshape(a, (16, 16)), 1)[:, None], (16, 16))"
    for lines, wanted in (
        ((pairs, "tl.store(z + i, tl.interleave(right, left))"), x.reshape(-1, 2)[:, ::-1]),
        ((halves, f"tl.store(z + {places}, tl.join(left, right))"), x.reshape(2, -1).T),
        ((f"tl.store(z + i, tl.ravel({square}))",), np.repeat(x.reshape(16, 16).max(1), 16)),
    ):
        kernel(on_a_row, EACH="\n    ".join(lines))[(1,)](x, z, 256, 1)
        np.testing.assert_array_equal(z, wanted.ravel())
    both = "tl.store(z + i, tl.cat(left, right, can_reorder=True))"
    kernel(on_a_row, EACH=f"{pairs}\n    {both}")[(1,)](x, z, 256, 1)
    np.testing.assert_array_equal(np.sort(z), np.sort(x))


@pytest.mark.parametrize("dtype", ["int8", "int32"])
@pytest.mark.parametrize("shape", [(2, 2, 8, 64), (4, 4, 4, 4)])
@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_permutations_of_axes(
    device: str, dtype: str, shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    size = math.prod(shape)
    x, z = values(size, dtype), empty(size, dtype)
    text = f"tl.store(z + i, tl.ravel(tl.permute(tl.reshape(a, {shape}), {order})))"
    kernel(on_a_row, EACH=text)[(1,)](x, z, size, 1, num_warps=8)
    np.testing.assert_array_equal(z, x.reshape(shape).transpose(order).ravel())


@pytest.mark.parametrize("shapes", [((64,), (8, 8)), ((512,), (2,) * 9), ((2048,), (16, 8, 16))])
def test_reshaping(device: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    before, after = shapes
    size = math.prod(before)
    x, z = values(size, "int32"), empty(size, "int32")
    text = f"tl.store(z + i, tl.reshape(tl.reshape(a, {after}) + 1, ({size},)))"
    kernel(on_a_row, EACH=text)[(1,)](x, z, size, 1)
    np.testing.assert_array_equal(z, x + 1)


@triton.jit
def gathered(
    x,
    places,
    z,
    M: tl.constexpr,
    N: tl.constexpr,
    P: tl.constexpr,
    Q: tl.constexpr,
    AXIS: tl.constexpr,
):
    block = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.arange(0, P)[:, None] * Q + tl.arange(0, Q)[None, :]
    tl.store(z + at, tl.gather(block, tl.load(places + at), AXIS))


@pytest.mark.parametrize(
    ("source", "wanted", "axis"),
    [((4, 4), (8, 4), 0), ((128, 64), (256, 64), 0), ((128, 64), (128, 128), 1)],
)
def test_gathering(
    device: str, source: tuple[int, int], wanted: tuple[int, int], axis: int
) -> None:
    x, z = values(source, "float32"), empty(wanted, "float32")
    places = np.random.default_rng(1).integers(0, source[axis], wanted, np.int32)
    gathered[(1,)](x, places, z, *source, *wanted, axis)
    np.testing.assert_array_equal(z, np.take_along_axis(x, places, axis))


# A kernel in Triton's intermediate language: a tile is loaded in one layout and stored in another.
_FACTS = (
    '"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = {wave} : i32'
)
CONVERSION = (
    """
#source = {source}
#target = {target}
#slice_m = #ttg.slice<{{dim = 1, parent = #source}}>
#slice_n = #ttg.slice<{{dim = 0, parent = #source}}>
!column = tensor<{m}x1xi32, #source>
!row = tensor<1x{n}xi32, #source>
!places = tensor<{m}x{n}xi32, #source>
!pointers = tensor<{m}x{n}x!tt.ptr<f16>, #source>
!values = tensor<{m}x{n}xf16, #source>
!target_places = tensor<{m}x{n}xi32, #target>
!target_pointers = tensor<{m}x{n}x!tt.ptr<f16>, #target>
!target_values = tensor<{m}x{n}xf16, #target>
module attributes {{"""
    + _FACTS
    + """}} {{
  tt.func public @converted(%x: !tt.ptr<f16>, %z: !tt.ptr<f16>) {{
    %width = arith.constant dense<{n}> : !column
    %m = tt.make_range {{end = {m} : i32, start = 0 : i32}} : tensor<{m}xi32, #slice_m>
    %n = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, #slice_n>
    %rows = tt.expand_dims %m {{axis = 1 : i32}} : tensor<{m}xi32, #slice_m> -> !column
    %starts = arith.muli %rows, %width : !column
    %columns = tt.expand_dims %n {{axis = 0 : i32}} : tensor<{n}xi32, #slice_n> -> !row
    %a = tt.broadcast %columns : !row -> !places
    %b = tt.broadcast %starts : !column -> !places
    %at = arith.addi %a, %b : !places
    %from = tt.splat %x : !tt.ptr<f16> -> !pointers
    %pointers = tt.addptr %from, %at : !pointers, !places
    %values = tt.load %pointers : !pointers
    %there = ttg.convert_layout %at : !places -> !target_places
    %moved = ttg.convert_layout %values : !values -> !target_values
    %to = tt.splat %z : !tt.ptr<f16> -> !target_pointers
    %targets = tt.addptr %to, %there : !target_pointers, !target_places
    tt.store %targets, %moved : !target_pointers
    tt.return
  }}
}}
"""
)


def layouts(wave: int, processor: str) -> list[str]:
    blocked = (
        "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}}}>"
    )
    found = [
        blocked.format([1, 4], [8, wave // 8], [4, 1], [1, 0]),
        blocked.format([2, 2], [4, wave // 4], [2, 2], [0, 1]),
        blocked.format([1, 16], [8, wave // 8], [4, 1], [1, 0]),
        blocked.format([4, 1], [wave, 1], [1, 4], [0, 1]),
    ]
    if wave == 64:
        version = 4 if processor == "gfx950" else 3
        for transposed in ("true", "false"):
            shape = "warpsPerCTA = [2, 2], instrShape = [32, 32, 8]"
            found.append(
                f"#ttg.amd_mfma<{{version = {version}, {shape}, isTransposed = {transposed}}}>"
            )
    return found


@pytest.mark.parametrize("shape", [(64, 64), (128, 32)])
def test_conversions_between_layouts(device: str, shape: tuple[int, int], tmp_path: Any) -> None:
    wave = triton.runtime.driver.active.get_current_target().warp_size
    m, n = shape
    for number, (source, target) in enumerate(itertools.permutations(layouts(wave, device), 2)):
        file = tmp_path / f"{number}.ttgir"
        file.write_text(CONVERSION.format(source=source, target=target, m=m, n=n, wave=wave))
        x, z = values(shape, "float16"), empty(shape, "float16")
        triton.compile(str(file))[(1, 1, 1)](x, z)
        np.testing.assert_array_equal(z, x)
