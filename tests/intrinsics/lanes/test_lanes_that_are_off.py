"""What lanes get from lanes that are off: every operation, of a constant, of a value that all lanes
have and of one of each lane, under masks of all kinds, at every level on every family."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32, u32
from amdjit.intrinsics import amdgcn, wave
from tests.lane_model import OPERATIONS, Operation, Values, operations_of

NUMBERS = np.arange(11, 75, dtype=np.int32)
UNIFORM = np.array([17, 11], np.int32)
KINDS = {"7": [7] * 64, "u[0]": [17] * 64, "x[t]": NUMBERS.tolist()}
MASKS = [
    0xFFFFFFFFFFFFFFFF, 0x3FF, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0xFFFFFFFF00000000 | 1,
    0x00000000FFFFFFFF, 0x8000000180000001, 0x1000, 0xFFFF00000F0F0001, 0x123456789ABCDEF1,
]  # fmt: skip
CASES = [
    (cpu, size, level)
    for cpu, sizes in {
        "gfx908": (64,), "gfx90a": (64,), "gfx942": (64,), "gfx950": (64,),
        "gfx1100": (32, 64), "gfx1150": (32, 64), "gfx1200": (32, 64), "gfx1201": (32, 64),
    }.items()
    for size in sizes
    for level in range(4)
]  # fmt: skip
# A constant and a value that all lanes have take the same ways through the compiler on every
# family: each is in every second case, and each kind has the plain condition in one.
ALWAYS = [
    ("gfx942", 64, 0, ("7", "x[t]"), ""), ("gfx942", 64, 3, ("u[0]", "x[t]"), "7"),
    ("gfx1100", 64, 0, ("u[0]", "x[t]"), ""), ("gfx1100", 64, 2, ("7", "x[t]"), "x[t]"),
    ("gfx1201", 32, 0, ("7", "x[t]"), ""), ("gfx1201", 32, 3, ("u[0]", "x[t]"), "u[0]"),
    ("gfx1201", 64, 3, ("7", "x[t]"), ""), ("gfx908", 64, 1, ("u[0]", "x[t]"), ""),
]  # fmt: skip


SOURCES = [7, 0, 0, 1, 2, 6, 5, 4]


@amdjit.kernel
def used_later(x, out):
    t = amdjit.lane_id()
    p = wave.permute8(x[t], 7, 0, 0, 1, 2, 6, 5, 4)
    q = amdgcn.mov_dpp8(u32(x[t]), 0x972207)
    r = 0
    for _ in range(t & 3):
        r = wave.permute8(x[t], 7, 0, 0, 1, 2, 6, 5, 4)
    s = u32(0)
    for _ in range(t & 3):
        s = amdgcn.mov_dpp8(u32(x[t]), 0x972207)
    if t % 3 == 1:
        out[0, t] = p * 3
        out[1, t] = i32(q) * 5
    out[2, t] = r * 3
    out[3, t] = i32(s) * 5


@pytest.mark.covering(1)
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize(("cpu", "size"), [("gfx1100", 32), ("gfx1150", 64), ("gfx1201", 32)])
def test_a_move_within_eight_lanes_is_not_made_where_its_result_is_used(
    cpu: str, size: int, level: int
) -> None:
    out = np.zeros((4, size), np.int32)
    with amdjit.use(f"emulator:{cpu}"):
        amdjit.kernel(opt_level=level, wave_size=size)(used_later.function)[1, size](NUMBERS, out)
    lanes = np.arange(size)
    source = lanes // 8 * 8 + np.array(SOURCES)[lanes % 8]
    later = np.where(lanes % 3 == 1, NUMBERS[source], 0)
    looped = np.where(((lanes & 3) > 0) & ((source & 3) >= (lanes & 3)), NUMBERS[source], 0)
    np.testing.assert_array_equal(out, [later * 3, later * 5, looped * 3, looped * 5])


def kernel_of(operations: list[Operation], value: str, condition: str) -> Any:
    """Return a kernel that runs operations where lanes meet the condition."""
    lines = ["def kernel(x, u, masks, out):", "    t = amdjit.lane_id()", "    v = i32(x[t])"]
    lines += ["    for m in range(masks.shape[0]):"]
    for number, one in enumerate(operations):
        # What a lane that is off holds before, it holds afterwards.
        lines += ["        r = i64(v)", f"        if {condition}:"]
        lines += [f"            r = i64({one.text.format(v=value)})"]
        lines += [f"        out[m, {number}, t] = r"]
    source = "\n".join(lines) + "\n"
    file = f"<lanes that are off {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {name: getattr(amdjit, name) for name in ("i32", "i64", "u32", "u64")}
    found: dict[str, Any] = {"amdjit": amdjit, "wave": wave, **names}
    exec(compile(source, file, "exec"), found)
    return found["kernel"]


def expected(operation: Operation, values: list[int], on: list[int], size: int) -> list[int]:
    active: Values = {lane: values[lane] for lane in on}
    return [
        operation.model(active, lane, size) if lane in active else int(NUMBERS[lane])
        for lane in range(size)
    ]


def check(
    cpu: str, size: int, level: int, value: str, masks: list[int], condition: str, block: Any = None
) -> None:
    operations = operations_of(cpu, size)
    options = {} if block is None else {"block": block}
    kernel = amdjit.kernel(opt_level=level, wave_size=size, warnings=False, **options)(
        kernel_of(operations, value.replace("7", "i32(7)"), condition)
    )
    out = np.zeros((len(masks), len(operations), size), np.int64)
    with amdjit.use(f"emulator:{cpu}"):
        kernel[1, size](NUMBERS, UNIFORM, np.array(masks, np.uint64), out)
    for row, mask in enumerate(masks):
        on = [lane for lane in range(size) if mask >> lane & 1]
        for number, operation in enumerate(operations):
            np.testing.assert_array_equal(
                out[row, number],
                expected(operation, KINDS[value], on, size),
                f"{operation.name} of {value} on {cpu}, wave{size}, O{level}, lanes {mask:#x}",
            )


def check_masks(cpu: str, size: int, level: int, value: str) -> None:
    check(cpu, size, level, value, MASKS, "(masks[m] >> u64(t)) & u64(1) != 0")


@pytest.mark.sample(3)
@pytest.mark.parametrize(("cpu", "size", "level", "values", "compared"), ALWAYS)
def test_operations_under_every_mask(
    cpu: str, size: int, level: int, values: tuple[str, ...], compared: str
) -> None:
    for value in values:
        check_masks(cpu, size, level, value)
    if compared:
        check(cpu, size, level, compared, [0x3FF], "t < 10")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("cpu", "size", "level"), CASES)
def test_every_operation_under_every_mask(cpu: str, size: int, level: int) -> None:
    for value in KINDS:
        check_masks(cpu, size, level, value)
        check(cpu, size, level, value, [0x3FF], "t < 10")


def test_the_model_knows_every_function() -> None:
    named = {
        name for name in wave.__all__ if any(f"wave.{name}(" in one.text for one in OPERATIONS)
    }
    assert set(wave.__all__) - named == {"lane_id", "wave_id", "wavefront_size", "reduce_add"}
