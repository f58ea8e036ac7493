"""Reductions and scans over the lanes of a wave, run on the emulator, against NumPy over the active
lanes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import i32
from amdjit.declarations import Emit, intrinsic
from amdjit.intrinsics import wave
from amdjit.intrinsics.lanes.active_lanes import lane_number
from amdjit.intrinsics.lanes.combinations import neutral

RANDOM = np.random.default_rng(13)
ARITHMETIC = ("add", "mul", "min", "max")
BITWISE = ("and", "or", "xor")
NUMPY = {
    "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "minimum": np.minimum,
    "maximum": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [
    np.dtype(name) for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
] + [BF16]
FORMS = 5


@amdjit.kernel
def combine(values, active, heads, out, operations: amdjit.Const):
    i = amdjit.grid(1)
    if active[i] != 0:
        value, head = values[i], heads[i] != 0
        for n in amdjit.static_range(len(operations)):
            out[5 * n, i] = wave.reduce(value, operations[n])
            out[5 * n + 1, i] = wave.inclusive_scan(value, operations[n])
            out[5 * n + 2, i] = wave.exclusive_scan(value, operations[n])
            out[5 * n + 3, i] = wave.segmented_inclusive_scan(value, head, operations[n])
            out[5 * n + 4, i] = wave.segmented_exclusive_scan(value, head, operations[n])


def expected(operation: str, values: Any, heads: Any) -> list[Any]:
    """Return the five forms over one wave's active lanes, lane by lane in plain Python; bf16 in
    f32."""
    ufunc = NUMPY[operation]
    identity = neutral(amdjit.types.from_dtype(values.dtype), operation)
    values = values.astype(np.float32) if values.dtype == BF16 else values
    start = np.array(identity).astype(values.dtype)[()]
    forms = [[], [], [], [], []]
    total = segment = start
    for value, head in zip(values, heads, strict=True):
        segment = start if head else segment
        forms[2].append(total)
        forms[4].append(segment)
        total, segment = ufunc(total, value), ufunc(segment, value)
        forms[1].append(total)
        forms[3].append(segment)
    forms[0] = [total] * len(values)
    return forms


def sample(dtype: Any, count: int, operation: str) -> Any:
    if is_float(dtype):
        # Exact in any order: small integers for sums, powers of two for products.
        exact = (
            RANDOM.integers(-9, 10, count)
            if operation != "mul"
            else RANDOM.choice([-1.0, 1.0, 2.0, 0.5], count)
        )
        return exact.astype(dtype)
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


def is_float(dtype: Any) -> bool:
    return dtype == BF16 or dtype.kind == "f"


@pytest.mark.sample(4)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_and_scans_are_over_the_active_lanes(dtype: Any, wave_size: int) -> None:
    count = 4 * wave_size
    operations = ARITHMETIC if is_float(dtype) else ARITHMETIC + BITWISE
    active = np.ones(count, np.int32)
    active[wave_size : 2 * wave_size] = RANDOM.random(wave_size) < 0.6
    active[2 * wave_size : 3 * wave_size] = np.arange(wave_size) >= wave_size - 5
    active[3 * wave_size :] = np.arange(wave_size) < 19
    kernel = amdjit.kernel(wave_size=wave_size)(combine.function)
    groups = [("mul",), tuple(o for o in operations if o != "mul")]
    for names in groups:
        values, heads = (
            sample(dtype, count, names[0]),
            (RANDOM.random(count) < 0.15).astype(np.int32),
        )
        out = np.zeros((FORMS * len(names), count), dtype)
        kernel[2, 2 * wave_size](values, active, heads, out, names)
        with np.errstate(over="ignore"):
            check(out, values, active, heads, names, wave_size)


def check(
    out: Any, values: Any, active: Any, heads: Any, names: tuple[str, ...], wave_size: int
) -> None:
    for start in range(0, len(values), wave_size):
        lanes = start + np.flatnonzero(active[start : start + wave_size])
        for number, operation in enumerate(names):
            wanted = expected(operation, values[lanes], heads[lanes])
            found = out[FORMS * number : FORMS * (number + 1)][:, lanes]
            wanted = np.array(wanted).astype(found.dtype)
            np.testing.assert_array_equal(found, wanted, err_msg=f"{operation}, wave at {start}")


@amdjit.kernel
def extremes(values, out):
    i = amdjit.grid(1)
    out[0, i] = wave.reduce(values[i], "min")
    out[1, i] = wave.inclusive_scan(values[i], "max")
    out[2, i] = wave.reduce(values[i], "minimum")
    out[3, i] = wave.inclusive_scan(values[i], "maximum")
    out[4, i] = wave.reduce_max(values[i])


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("dtype", "wave_size"), [("u1", 32), ("i8", 64), ("f2", 64), ("f4", 32), ("f8", 64), (BF16, 32)]
)
def test_extremes_with_and_without_nan(dtype: Any, wave_size: int) -> None:
    """A wave without NaN, one with some, one with nothing else."""
    values = RANDOM.integers(0, 100, (3, wave_size)).astype(dtype)
    if is_float(values.dtype):
        values[1, RANDOM.random(wave_size) < 0.3], values[2] = np.nan, np.nan
    out = np.zeros((5, 3 * wave_size), values.dtype)
    amdjit.kernel(wave_size=wave_size)(extremes.function)[1, 3 * wave_size](values.ravel(), out)
    wide = values.astype(np.float64)
    wanted = [
        np.broadcast_to(np.fmin.reduce(wide, axis=1)[:, None], values.shape),
        np.fmax.accumulate(wide, axis=1),
        np.broadcast_to(wide.min(axis=1)[:, None], values.shape),
        np.maximum.accumulate(wide, axis=1),
        np.broadcast_to(wide.max(axis=1)[:, None], values.shape),
    ]  # fmt: skip
    np.testing.assert_array_equal(out.reshape(5, 3, wave_size).astype(np.float64), np.array(wanted))


@amdjit.kernel
def short_names(values, active, out):
    i = amdjit.grid(1)
    if active[i] != 0:
        out[0, i] = wave.reduce_add(values[i])
        out[1, i] = wave.reduce_min(values[i])
        out[2, i] = wave.reduce_max(values[i])


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("dtype", ["i1", "u4", "f4", "bfloat16"])
def test_inactive_lanes_take_no_part_wherever_they_are(dtype: str, wave_size: int) -> None:
    """Once the exchange went through lanes that are inactive: lanes 0 and 3 alone got each only
    their own value."""
    kind = BF16 if dtype == "bfloat16" else np.dtype(dtype)
    values = RANDOM.integers(1, 50, 8 * wave_size).astype(kind)
    active = np.zeros((8, wave_size), np.int32)
    active[0, [0, 3]] = active[1, [wave_size - 1, 16, 5]] = active[2, 7] = active[3] = 1
    active[4:] = RANDOM.random((4, wave_size)) < 0.3
    out = np.zeros((3, len(values)), kind)
    amdjit.kernel(wave_size=wave_size)(short_names.function)[1, 8 * wave_size](
        values, active.ravel(), out
    )
    for number, here in enumerate(active.astype(bool)):
        place = number * wave_size + np.flatnonzero(here)
        own = values[place].astype(np.float64)
        total = (
            np.array(own.sum()).astype(np.int64).astype(kind)
            if kind != BF16
            else np.array(own.sum()).astype(kind)
        )
        wanted = [total, values[place].min(), values[place].max()]
        np.testing.assert_array_equal(
            out[:, place], np.repeat(np.array(wanted, kind)[:, None], len(place), axis=1)
        )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("processor", "dtype"),
    [("gfx908", "i4"), ("gfx90a", "f8"), ("gfx942", "f2"), ("gfx942", "u8"), ("gfx950", "i1")],
)
def test_cdna_has_them_by_its_own_patterns_of_dpp(processor: str, dtype: str) -> None:
    with amdjit.use(f"emulator:{processor}"):
        test_reductions_and_scans_are_over_the_active_lanes(np.dtype(dtype), 64)
        test_inactive_lanes_take_no_part_wherever_they_are(dtype, 64)


@amdjit.kernel
def combine_vectors(values, heads, out):
    i = amdjit.lane_id()
    value = values.load(4 * i, 4)
    out.store((0, 4 * i), wave.reduce(value, "max"))
    out.store((1, 4 * i), wave.inclusive_scan(value))
    out.store((2, 4 * i), wave.exclusive_scan(value, "min"))
    out.store((3, 4 * i), wave.segmented_inclusive_scan(value, heads[i] != 0))
    out.store((4, 4 * i), wave.reduce_add(value))


@pytest.mark.sample(2)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("dtype", ["i1", "f4"])
def test_vectors_are_combined_element_by_element(dtype: str, wave_size: int) -> None:
    values, heads = (
        RANDOM.integers(-3, 4, (wave_size, 4)).astype(dtype),
        np.zeros(wave_size, np.int32),
    )
    heads[[5, 17, 18]] = 1
    out = np.zeros((5, 4 * wave_size), dtype)
    amdjit.kernel(wave_size=wave_size)(combine_vectors.function)[1, wave_size](
        values.ravel(), heads, out
    )
    highest = neutral(amdjit.types.from_dtype(values.dtype), "min")
    sums, mins = np.cumsum(values, axis=0, dtype=dtype), np.minimum.accumulate(values, axis=0)
    segments = np.concatenate(
        [np.cumsum(part, axis=0, dtype=dtype) for part in np.split(values, [5, 17, 18])]
    )
    wanted = [
        np.broadcast_to(values.max(axis=0), values.shape), sums,
        np.concatenate([np.full((1, 4), highest, dtype), mins[:-1]]), segments,
        np.broadcast_to(sums[-1], values.shape),
    ]  # fmt: skip
    np.testing.assert_array_equal(out.reshape(5, wave_size, 4), np.array(wanted))


@amdjit.kernel
def truths(values, active, out):
    i = amdjit.lane_id()
    if active[i] != 0:
        out[0, i] = i32(wave.reduce(values[i] != 0, "and"))
        out[1, i] = i32(wave.inclusive_scan(values[i] != 0, "or"))
        out[2, i] = i32(wave.exclusive_scan(values[i] != 0, "xor"))
        out[3, i] = i32(wave.exclusive_scan(values[i] != 0, "and"))


@pytest.mark.parametrize("wave_size", [32, 64])
def test_booleans_have_the_operators_of_bits(wave_size: int) -> None:
    for chance in (0.1, 0.5, 1.0):
        values, active = (RANDOM.random((2, wave_size)) < np.array([[chance], [0.7]])).astype(
            np.int32
        )
        out = np.zeros((4, wave_size), np.int32)
        amdjit.kernel(wave_size=wave_size)(truths.function)[1, wave_size](values, active, out)
        lanes = np.flatnonzero(active)
        own = values[lanes]
        below = np.concatenate([[0], np.cumsum(own)[:-1]])
        wanted = [np.full(len(own), own.min()), np.maximum.accumulate(own), below % 2,
                  np.concatenate([[1], np.minimum.accumulate(own)[:-1]])]  # fmt: skip
        np.testing.assert_array_equal(out[:, lanes], np.array(wanted))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_models_of_whole_waves_are_the_forms_lane_by_lane(dtype: Any) -> None:
    for operation in (*ARITHMETIC, "minimum", "maximum", *(() if is_float(dtype) else BITWISE)):
        values, heads = sample(dtype, 32, operation), np.arange(32) % 11 == 4
        with np.errstate(over="ignore"):
            wanted = [np.array(form).astype(dtype) for form in expected(operation, values, heads)]
        found = [
            wave.reduce(values, operation), wave.inclusive_scan(values, operation),
            wave.exclusive_scan(values, operation),
            wave.segmented_inclusive_scan(values, heads, operation),
            wave.segmented_exclusive_scan(values, heads, operation),
        ]  # fmt: skip
        np.testing.assert_array_equal(np.array(found), np.array(wanted))


COMPILED = """
import numpy as np

import amdjit
from amdjit.intrinsics import wave

@amdjit.kernel
def kernel(x, out, operation: amdjit.Const):
    i = amdjit.lane_id()
    total = wave.reduce(x[i], operation)
    out[i] = wave.segmented_inclusive_scan(wave.exclusive_scan(total, operation), i == 3, operation)

for name in ("u1", "f2", "bfloat16", "f8"):
    is_brain = name == "bfloat16"
    element = amdjit.bf16 if is_brain else amdjit.types.from_dtype(np.dtype(name))
    for size in sizes:
        for operation in ("add", "min", "maximum"):
            kernel.compile(element[:], element[:], operation, target=target, wave_size=size)
print("compiled")
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", ["gfx1030", "gfx1100", "gfx1250"])
def test_other_processors_have_them_too(target: str, tmp_path: Any) -> None:
    """Compile in a process of its own: LLVM once ended it for f16 on gfx1100."""
    sizes = (32,) if target == "gfx1250" else (32, 64)
    (tmp_path / "compiled.py").write_text(f"target, sizes = {target!r}, {sizes}\n{COMPILED}")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    arguments = [sys.executable, str(tmp_path / "compiled.py")]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "compiled\n", done.stderr


def _plus_number(context: Any, value: Any) -> Any:
    zero = context.constant(i32, 0)
    own = context.call("llvm.amdgcn.set.inactive.i32", zero.type, [value, zero])
    total = context.builder.add(own, lane_number(context))
    return context.call("llvm.amdgcn.strict.wwm.i32", zero.type, [total])


@intrinsic(Emit(_plus_number))
def plus_number(value: i32) -> i32:
    """Add the lane's number, in whole-wave mode."""
    return value


@amdjit.kernel
def scan_or_reduce(x, out):
    i, t = amdjit.threadIdx.x, amdjit.lane_id()
    if t % 3 == 0:
        r = wave.segmented_inclusive_scan(x[i], x[i] % 5 == 0)
    else:
        r = wave.reduce(x[i], "xor")
    out[i] = r


@amdjit.kernel
def add_or_reduce(x, out):
    i, t = amdjit.threadIdx.x, amdjit.lane_id()
    if t % 3 == 0:
        out[i] = plus_number(x[i])
    else:
        out[i] = wave.reduce(x[i], "xor")


PROCESSORS = [
        ("gfx908", 64), ("gfx90a", 64), ("gfx942", 64), ("gfx1100", 32), ("gfx1100", 64),
        ("gfx1150", 32), ("gfx1200", 64), ("gfx1201", 32), ("gfx1201", 64),
]  # fmt: skip
# Without optimisation, and at a level with it, which are alike here: each on some processor.
LEVELS = [(0, 3), (0, 1), (0, 2)] * 3


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("processor", "wave_size", "levels"),
    [
        *((*place, levels) for place, levels in zip(PROCESSORS, LEVELS, strict=True)),
        *(pytest.param(*place, range(4), marks=pytest.mark.exhaustive) for place in PROCESSORS),
    ],
)
def test_one_side_of_a_branch_does_not_overwrite_what_the_other_reads(
    processor: str, wave_size: int, levels: Sequence[int]
) -> None:
    x = np.arange(11, 11 + wave_size, dtype=np.int32)
    first = np.arange(wave_size) % 3 == 0
    sums = [x[first][start : n + 1].sum() for n, start in enumerate(_starts(x[first] % 5 == 0))]
    for kernel, values in ((scan_or_reduce, sums), (add_or_reduce, (2 * x - 11)[first])):
        wanted = np.full(wave_size, np.bitwise_xor.reduce(x[~first]))
        wanted[first] = values
        for level in levels:
            out = np.zeros(wave_size, np.int32)
            with amdjit.use(f"emulator:{processor}"):
                own = amdjit.kernel(opt_level=level, wave_size=wave_size, warnings=False)
                own(kernel.function)[1, wave_size](x, out)
            np.testing.assert_array_equal(out, wanted, f"{kernel.function.__name__} O{level}")


def _starts(heads: Any) -> list[int]:
    """Return where each lane's segment starts."""
    return [max([0, *np.flatnonzero(heads[: n + 1])]) for n in range(len(heads))]


def test_the_lane_number_of_a_scan_is_computed_in_its_branch() -> None:
    with amdjit.use("emulator:gfx1201"):
        text = scan_or_reduce.compile(i32[:], i32[:]).asm
    before, _, _ = text.partition("s_and_saveexec")
    assert "v_mbcnt" in before
    assert "s_or_saveexec" not in before
