"""What the intrinsics compute, run on the emulator, against NumPy and the declarations' reference
models."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import (
    atomic,
    blockDim,
    blockIdx,
    f32,
    gridDim,
    i32,
    shared,
    syncthreads,
    threadIdx,
    u32,
    wavefront_size,
)
from amdjit.intrinsics import amdgcn, arithmetic, convert, wave
from amdjit.intrinsics import math as real
from amdjit.intrinsics.sync import lds_barrier, threadfence

RANDOM = np.random.default_rng(11)
LANES = np.arange(32)


@amdjit.kernel
def where_am_i(out):
    x, y, z = amdjit.grid(3)
    width, height, _ = amdjit.gridsize(3)
    row = x + width * (y + height * z)
    out[row, 0] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z
    out[row, 1] = blockIdx.x + 100 * blockIdx.y + 10000 * blockIdx.z
    out[row, 2] = blockDim.x + 100 * blockDim.y + 10000 * blockDim.z
    out[row, 3] = gridDim.x + 100 * gridDim.y + 10000 * gridDim.z
    out[row, 4] = amdjit.lane_id()
    out[row, 5] = amdjit.wave_id()
    out[row, 6] = wavefront_size
    out[row, 7] = 1


@pytest.mark.parametrize("options", [{}, {"block": (6, 4, 3)}])
def test_work_items_know_where_they_are(options: dict[str, Any]) -> None:
    grid, block = (3, 2, 2), (6, 4, 3)
    out = np.zeros((math.prod(grid) * math.prod(block), 8), np.int32)
    amdjit.kernel(**options)(where_am_i.function)[grid, block](out)
    number = np.arange(len(out))
    extents = [g * b for g, b in zip(grid, block, strict=True)]
    x, y, z = (
        number % extents[0],
        number // extents[0] % extents[1],
        number // (extents[0] * extents[1]),
    )
    thread = [position % size for position, size in zip((x, y, z), block, strict=True)]
    group = [position // size for position, size in zip((x, y, z), block, strict=True)]
    flat = thread[0] + block[0] * (thread[1] + block[1] * thread[2])
    weights = (1, 100, 10000)
    expected = [
        sum(w * t for w, t in zip(weights, thread, strict=True)),
        sum(w * g for w, g in zip(weights, group, strict=True)),
        sum(w * b for w, b in zip(weights, block, strict=True)),
        sum(w * g for w, g in zip(weights, grid, strict=True)),
        flat % 32,
        flat // 32,
        np.full(len(out), 32),
        np.ones(len(out)),
    ]
    for column, values in enumerate(expected):
        np.testing.assert_array_equal(out[:, column], values, err_msg=f"column {column}")


@amdjit.kernel
def exchange(values, lanes, by_lane, by_xor, up, down):
    lane = amdjit.lane_id()
    by_lane[lane] = wave.shuffle(values[lane], lanes[lane])
    by_xor[lane] = wave.shuffle_xor(values[lane], 5)
    up[lane] = wave.shuffle_up(values[lane], 3)
    down[lane] = wave.shuffle_down(values[lane], 3)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f2", "f4", "f8"])
def test_lanes_exchange_values_of_every_width(dtype: str) -> None:
    values = RANDOM.integers(-100, 100, 32).astype(dtype)
    lanes = RANDOM.integers(0, 64, 32).astype(np.int32)
    results = [np.zeros_like(values) for _ in range(4)]
    exchange[1, 32](values, lanes, *results)
    for result, source in zip(
        results,
        (
            lanes % 32,
            LANES ^ 5,
            np.where(LANES >= 3, LANES - 3, LANES),
            np.where(LANES < 29, LANES + 3, LANES),
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(result, wave.shuffle(values, source))


@amdjit.kernel
def vote(values, out):
    lane = amdjit.lane_id()
    big = values[lane] > 0
    out[lane, 0] = i32(wave.ballot(big))
    out[lane, 1] = 1 if wave.any(big) else 0
    out[lane, 2] = 1 if wave.all(big) else 0
    out[lane, 3] = wave.readlane(values[lane], 7)
    out[lane, 4] = wave.readfirstlane(values[lane])
    out[lane, 5] = wave.permute(values[lane], lane ^ 9)


@pytest.mark.parametrize("values", [RANDOM.integers(-3, 4, 32), np.ones(32), np.zeros(32)])
def test_votes_and_broadcasts(values: np.ndarray[Any, Any]) -> None:
    values = values.astype(np.int32)
    out = np.zeros((32, 6), np.int32)
    vote[1, 32](values, out)
    bits = sum(1 << lane for lane in range(32) if values[lane] > 0)
    assert (out[:, 0].view(np.uint32) == bits).all()
    assert (out[:, 1] == (values > 0).any()).all()
    assert (out[:, 2] == (values > 0).all()).all()
    assert (out[:, 3] == values[7]).all()
    assert (out[:, 4] == values[0]).all()
    np.testing.assert_array_equal(out[:, 5], values[LANES ^ 9])


@amdjit.kernel
def update(values, out):
    i = amdjit.grid(1)
    if i < values.shape[0]:
        value = values[i]
        atomic.add(out, 0, value)
        atomic.sub(out, 1, value)
        atomic.min(out, 2, value, order="acq_rel", scope="system")
        atomic.max(out, 3, value)
        atomic.add(out, 4, 1)


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_atomic_arithmetic_loses_no_update(dtype: str) -> None:
    values = RANDOM.integers(0, 100, 1000).astype(dtype)
    if dtype[0] != "u":
        values -= values.dtype.type(50)
    out = np.zeros(5, dtype)
    update[8, 128](values, out)
    expected = [values.sum(dtype=dtype), (np.zeros(1, dtype) - values.sum(dtype=dtype))[0], min(0, values.min()),
                max(0, values.max()), 1000]  # fmt: skip
    np.testing.assert_array_equal(out, np.array(expected, dtype))


@amdjit.kernel
def combine(values, out, old):
    i = amdjit.grid(1)
    atomic.and_(out, 0, values[i])
    atomic.or_(out, 1, values[i])
    atomic.xor(out, 2, values[i])
    old[i] = atomic.exch(out, 3, values[i])
    atomic.inc(out, 4, u32(9))
    atomic.dec(out, 5, u32(9))


def test_atomic_bits_exchange_and_counters() -> None:
    values = RANDOM.integers(0, 2**32, 64).astype(np.uint32)
    out = np.array([0xFFFFFFFF, 0, 0, 77, 0, 0], np.uint32)
    old = np.zeros(64, np.uint32)
    combine[2, 32](values, out, old)
    assert out[0] == np.bitwise_and.reduce(values)
    assert out[1] == np.bitwise_or.reduce(values)
    assert out[2] == np.bitwise_xor.reduce(values)
    assert sorted([*old, out[3]]) == sorted([*values, 77])
    assert out[4] == 64 % 10
    assert out[5] == -64 % 10


@amdjit.kernel
def histogram(values, out):
    counts = shared.array(16, i32)
    t = threadIdx.x
    if t < 16:
        counts[t] = 0
    syncthreads()
    for i in range(t, values.shape[0], blockDim.x):
        atomic.add(counts, values[i], 1, scope="workgroup")
    lds_barrier()
    if t < 16:
        out[t] = counts[t]
    threadfence()


def test_atomics_on_lds_count_a_histogram() -> None:
    values = RANDOM.integers(0, 16, 5000).astype(np.int32)
    out = np.zeros(16, np.int32)
    histogram[1, 96](values, out)
    np.testing.assert_array_equal(out, np.bincount(values, minlength=16))


@amdjit.kernel
def multiply_by_three(out):
    done = False
    while not done:
        seen = out[0]
        done = atomic.cas(out, 0, seen, seen * 3) == seen


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_compare_and_swap_makes_any_update_atomic(dtype: str) -> None:
    out = np.ones(1, dtype)
    multiply_by_three[2, 40](out)
    assert int(out[0]) == 3**80 % 2 ** (8 * out.itemsize)


@amdjit.kernel
def reals(x, out):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        v = x[i]
        out[i, 0] = math.sqrt(v)
        out[i, 1] = math.exp(v)
        out[i, 2] = math.exp2(v)
        out[i, 3] = math.log(v)
        out[i, 4] = math.log2(v)
        out[i, 5] = math.log10(v)
        out[i, 6] = real.rcp(v)
        out[i, 7] = real.rsq(v)


@pytest.mark.parametrize(("dtype", "ulps"), [(np.float32, 2), (np.float16, 2)])
def test_real_functions_are_within_two_units_in_the_last_place(dtype: type, ulps: int) -> None:
    x = RANDOM.uniform(0.1, 8, 500).astype(dtype)
    out = np.zeros((500, 8), dtype)
    reals[4, 128](x, out)
    wide = x.astype(np.float64)
    functions = (
        np.sqrt,
        np.exp,
        np.exp2,
        np.log,
        np.log2,
        np.log10,
        np.reciprocal,
        lambda v: 1 / np.sqrt(v),
    )
    for column, function in enumerate(functions):
        exact = function(wide)
        unit = np.spacing(np.maximum(np.abs(exact), 0.25).astype(dtype)).astype(np.float64)
        assert (np.abs(out[:, column] - exact) <= ulps * unit).all(), f"column {column}"


@amdjit.kernel
def roundings(x, out):
    i = amdjit.grid(1)
    v = x[i]
    out[i, 0] = real.floor(v)
    out[i, 1] = real.ceil(v)
    out[i, 2] = real.trunc(v)
    out[i, 3] = real.rint(v)
    out[i, 4] = math.fabs(v)
    out[i, 5] = math.copysign(3.0, v)
    out[i, 6] = f32(math.floor(v))
    out[i, 7] = f32(math.ceil(v))
    out[i, 8] = 1.0 if math.isnan(v) else 0.0
    out[i, 9] = math.ldexp(v, 3)


def test_roundings_and_signs_are_exact() -> None:
    x = np.concatenate(
        [[-2.5, -0.5, 0.5, 1.5, 2.5, -0.0, 7.0, 1e9], RANDOM.uniform(-100, 100, 24)]
    ).astype(np.float32)
    out = np.zeros((32, 10), np.float32)
    roundings[1, 32](x, out)
    functions = (np.floor, np.ceil, np.trunc, np.rint, np.fabs, lambda v: np.copysign(np.float32(3), v), np.floor,
                 np.ceil, np.isnan, lambda v: v * 8)  # fmt: skip
    for column, function in enumerate(functions):
        np.testing.assert_array_equal(out[:, column], function(x), err_msg=f"column {column}")


@amdjit.kernel
def integers(x, y, out):
    i = amdjit.grid(1)
    out[i, 0] = arithmetic.popcount(x[i])
    out[i, 1] = arithmetic.clz(x[i])
    out[i, 2] = arithmetic.ctz(x[i])
    out[i, 3] = arithmetic.bit_reverse(x[i])
    out[i, 4] = arithmetic.mulhi(x[i], y[i])
    out[i, 5] = arithmetic.funnel_shift_left(x[i], y[i], y[i] & 31)
    out[i, 6] = arithmetic.funnel_shift_right(x[i], y[i], y[i] & 31)
    out[i, 7] = arithmetic.add_saturating(x[i], y[i])
    out[i, 8] = arithmetic.subtract_saturating(x[i], y[i])


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_bit_operations(dtype: type) -> None:
    limits = np.iinfo(dtype)
    x, y = (
        RANDOM.integers(limits.min, limits.max, 32, endpoint=True).astype(dtype) for _ in range(2)
    )
    x[:2] = 0, limits.max
    out = np.zeros((32, 9), dtype)
    integers[1, 32](x, y, out)
    for row, a, b in zip(out, x, y, strict=True):
        bits, other = int(a) & 0xFFFFFFFF, int(b) & 0xFFFFFFFF
        text = f"{bits:032b}"
        count = other & 31
        expected = [
            text.count("1"),
            32 - bits.bit_length(),
            32 if bits == 0 else len(text) - len(text.rstrip("0")),
            int(text[::-1], 2),
            int(a) * int(b) >> 32,
            (bits << 32 | other) << count >> 32,
            (bits << 32 | other) >> count,
            min(max(int(a) + int(b), limits.min), limits.max),
            min(max(int(a) - int(b), limits.min), limits.max),
        ]
        assert [int(value) & 0xFFFFFFFF for value in row] == [
            value & 0xFFFFFFFF for value in expected
        ]


@amdjit.kernel
def conversions(x, y, out):
    i = amdjit.grid(1)
    out.store(2 * i, convert.cvt_pkrtz(x[i], y[i]))


def test_conversion_to_f16_pairs_rounds_as_its_model() -> None:
    x, y = (
        np.ldexp(RANDOM.uniform(-1, 1, 320), RANDOM.integers(-28, 20, 320)).astype(np.float32)
        for _ in range(2)
    )
    out = np.zeros(640, np.float16)
    conversions[10, 32](x, y, out)
    np.testing.assert_array_equal(out.reshape(-1, 2), convert.cvt_pkrtz(x, y))


FLOAT_WMMA = [
    ("wmma_f32_16x16x16_f16_w32_gfx12", np.float16, np.float32),
    ("wmma_f16_16x16x16_f16_w32_gfx12", np.float16, np.float16),
    ("wmma_f32_16x16x16_bf16_w32_gfx12", ml_dtypes.bfloat16, np.float32),
    ("wmma_bf16_16x16x16_bf16_w32_gfx12", ml_dtypes.bfloat16, ml_dtypes.bfloat16),
    ("wmma_f32_16x16x16_fp8_fp8_w32_gfx12", ml_dtypes.float8_e4m3fn, np.float32),
    (
        "wmma_f32_16x16x16_fp8_bf8_w32_gfx12",
        (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
        np.float32,
    ),
    (
        "wmma_f32_16x16x16_bf8_fp8_w32_gfx12",
        (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn),
        np.float32,
    ),
    ("wmma_f32_16x16x16_bf8_bf8_w32_gfx12", ml_dtypes.float8_e5m2, np.float32),
]


def load(c, place):
    low, high = c.load(place, 4), c.load(place + 4, 4)
    return amdjit.shuffle(low, high, (0, 1, 2, 3, 4, 5, 6, 7))


def store(d, place, result):
    d.store(place, amdjit.shuffle(result, result, (0, 1, 2, 3)))
    d.store(place + 4, amdjit.shuffle(result, result, (4, 5, 6, 7)))


@amdjit.kernel
def float_wmma(a, b, c, d, instruction: amdjit.Const):
    lane = 8 * threadIdx.x
    store(d, lane, instruction(a.load(lane, 8), b.load(lane, 8), load(c, lane)))


@pytest.mark.parametrize(("name", "inputs", "output"), FLOAT_WMMA)
def test_float_wmma_agrees_with_its_model(name: str, inputs: Any, output: type) -> None:
    left, right = inputs if isinstance(inputs, tuple) else (inputs, inputs)
    a, b = (RANDOM.integers(-2, 3, (32, 8)).astype(dtype) for dtype in (left, right))
    c = RANDOM.integers(-4, 5, (32, 8)).astype(output)
    d = np.zeros((32, 8), output)
    instruction = getattr(amdgcn, name)
    float_wmma[1, 32](a.reshape(-1), b.reshape(-1), c.reshape(-1), d.reshape(-1), instruction)
    if a.itemsize == 1:
        a, b = a.view(np.int32), b.view(np.int32)
    np.testing.assert_array_equal(d.astype(np.float32), instruction(a, b, c).astype(np.float32))


@amdjit.kernel
def integer_wmma(a, b, c, d, instruction: amdjit.Const, words: amdjit.Const, flags: amdjit.Const):
    lane = threadIdx.x
    a_fragment = a[lane] if words == 1 else a.load(2 * lane, 2)
    b_fragment = b[lane] if words == 1 else b.load(2 * lane, 2)
    result = instruction(flags[0], a_fragment, flags[1], b_fragment, load(c, 8 * lane), flags[2])
    store(d, 8 * lane, result)


@pytest.mark.parametrize(
    "flags", [(True, True, False), (False, True, False), (True, False, True), (False, False, True)]
)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wmma_i32_16x16x16_iu8_w32_gfx12", 2),
        ("wmma_i32_16x16x16_iu4_w32_gfx12", 1),
        ("wmma_i32_16x16x32_iu4_w32_gfx12", 2),
    ],
)
def test_integer_wmma_agrees_with_its_model(
    name: str, words: int, flags: tuple[bool, bool, bool]
) -> None:
    a, b = (RANDOM.integers(-(2**31), 2**31, (32, words)).astype(np.int32) for _ in range(2))
    c = RANDOM.integers(-(2**31), 2**31, (32, 8)).astype(np.int32)
    d = np.zeros((32, 8), np.int32)
    instruction = getattr(amdgcn, name)
    integer_wmma[1, 32](
        a.reshape(-1), b.reshape(-1), c.reshape(-1), d.reshape(-1), instruction, words, flags
    )
    operands = (a[:, 0], b[:, 0]) if words == 1 else (a, b)
    expected = instruction(flags[0], operands[0], flags[1], operands[1], c, flags[2])
    np.testing.assert_array_equal(d, expected)
