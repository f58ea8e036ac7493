"""Moves between lanes become part of the instructions that use them only where that is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, i64, u32, u64
from amdjit.backend.dpp_moves import fence_all_moves, fence_risky_moves
from amdjit.intrinsics import amdgcn, wave
from amdjit.target import find_target

SWAPPED = np.arange(32) ^ 1
PROCESSORS = ("gfx90a", "gfx942", "gfx1100", "gfx1150", "gfx1200", "gfx1201")


@amdjit.kernel
def permuted(x, y, out):
    i = amdjit.grid(1)
    moved = amdgcn.mov_dpp(x[i], 0xB1, 15, 15, True)
    out[i] = i32(amdgcn.perm(u32(moved), u32(0), u32(y[i])))


@amdjit.kernel
def shifted(x, y, out):
    i = amdjit.grid(1)
    out[i] = (amdgcn.mov_dpp(x[i], 0xB1, 15, 15, True) << 3) + y[i]


@amdjit.kernel
def added(x, y, out):
    i = amdjit.grid(1)
    moved = amdgcn.mov_dpp(x[i], 0xB1, 15, 15, True)
    out[i] = (moved + 7 + y[i]) ^ i32(amdgcn.ubfe(u32(moved), u32(3), u32(5)))


@amdjit.kernel
def summed(x, out):
    out[amdjit.grid(1)] = wave.reduce(x[amdjit.grid(1)], "add")


def bytes_of(x: Any, y: Any) -> Any:
    """V_PERM_B32 of a value and 0, by selectors below 12."""
    out = np.zeros(32, np.uint32)
    for lane in range(32):
        pool = int(x[lane]) << 32
        for place in range(4):
            byte = pool >> 8 * (int(y[lane]) >> 8 * place & 7) & 255
            out[lane] |= np.uint32(byte << 8 * place)
    return out.view(np.int32)


@pytest.mark.covering(1)
@pytest.mark.parametrize("processor", ["gfx1100", "gfx1103", "gfx1150", "gfx1201"])
@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (permuted, bytes_of),
        (shifted, lambda x, y: (x << 3) + y),
        (added, lambda x, y: (x + 7 + y) ^ (x >> 3 & 31)),
    ],
)
def test_moved_values_meet_constants(
    processor: str, kernel: Any, expected: Callable[[Any, Any], Any]
) -> None:
    random = np.random.default_rng(4)
    x = random.integers(0, 1 << 24, 32).astype(np.int32)
    y = random.integers(0, 8, (32, 4)).astype(np.uint8).view(np.int32).ravel()
    out = np.zeros(32, np.int32)
    with amdjit.use(f"emulator:{processor}"):
        kernel[1, 32](x, y, out)
    np.testing.assert_array_equal(out, expected(x[SWAPPED], y))


def test_what_a_processor_has_is_still_merged() -> None:
    arguments = i32[:], i32[:], i32[:]
    assert "v_perm_b32_e64_dpp" in permuted.compile(*arguments, target="gfx1150").asm
    assert "v_perm_b32_e64_dpp" not in permuted.compile(*arguments, target="gfx1100").asm
    for processor in ("gfx942", "gfx1100", "gfx1201"):
        merged = summed.compile(f32[:], f32[:], target=processor).asm
        assert "v_add_f32_dpp" in merged


def test_nothing_is_merged_where_the_result_cannot_be_decoded() -> None:
    for processor in ("gfx1030", "gfx1250"):
        code = summed.compile(f32[:], f32[:], target=processor).asm
        assert "v_mov_b32_dpp" in code
        assert "v_add_f32_dpp" not in code


def same_in_all_lanes(x, n, out):
    t = amdjit.threadIdx.x
    a, b = x[t], x[t + 64]
    seven, alike, given = (
        wave.quad_perm(i32(7), 3, 3, 3, 3),
        wave.row_shr(x[5], 1),
        wave.row_mirror(n),
    )
    out[0, t] = seven + a * 100 + b * 10000
    out[1, t] = (seven << 3) + a
    out[2, t] = (alike ^ a) + b
    out[3, t] = (alike & a) | b
    out[4, t] = min(min(seven, a), b)
    out[5, t] = max(max(alike, a), b)
    out[6, t] = (given + a) << 5
    out[7, t] = given * a + b
    out[8, t] = 3 if seven < a else 4
    out[9, t] = i32((i64(alike) + x[t]) >> i64(3))
    out[10, t] = b - given - a


def results_of_same(x: Any, n: int) -> list[Any]:
    a, b = x[:64].astype(np.int64), x[64:].astype(np.int64)
    alike = np.where(np.arange(64) % 16 == 0, 0, x[5]).astype(np.int64)
    return [
        7 + a * 100 + b * 10000,
        (7 << 3) + a,
        (alike ^ a) + b,
        (alike & a) | b,
        np.minimum(np.minimum(7, a), b),
        np.maximum(np.maximum(alike, a), b),
        (n + a) << 5,
        n * a + b,
        np.where(a > 7, 3, 4),
        (alike + a) >> 3,
        b - n - a,
    ]


@pytest.mark.sample(3)
@pytest.mark.covering(1)
@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_values_of_all_lanes_stay_in_their_operand(processor: str, level: int) -> None:
    x = np.random.default_rng(8).integers(-9999, 9999, 128).astype(np.int32)
    for wave_size in (32, 64) if processor.startswith("gfx1") else (64,):
        out = np.zeros((11, 64), np.int32)
        kernel = amdjit.kernel(opt_level=level, wave_size=wave_size, warnings=False)(
            same_in_all_lanes
        )
        with amdjit.use(f"emulator:{processor}"):
            kernel[1, 64](x, 7777, out)
        for row, wanted in zip(out, results_of_same(x, 7777), strict=True):
            np.testing.assert_array_equal(row, wanted.astype(np.int32))


@amdjit.kernel(warnings=False)
def multiplied(x, out, wide):
    t = amdjit.threadIdx.x
    old = amdgcn.update_dpp(i32(1), x[t], 0x111, 15, 15, False)
    out[t] = (old & 0xFFFFFF) * (x[t + 32] & 0xFFFFFF)
    wide[t] = i64(wave.row_mirror(x[t])) * i64(x[t + 32]) + i64(x[t])


@pytest.mark.parametrize("processor", PROCESSORS)
def test_products_take_the_bits_and_the_instructions_that_they_should(processor: str) -> None:
    x = np.random.default_rng(3).integers(-(1 << 31), 1 << 31, 64).astype(np.int32)
    out, wide = np.zeros(32, np.int32), np.zeros(32, np.int64)
    with amdjit.use(f"emulator:{processor}"):
        multiplied[1, 32](x, out, wide)
    first, second = x[:32].astype(np.int64), x[32:].astype(np.int64)
    # The first lane of a row has no source.
    old = np.where(np.arange(32) % 16 == 0, 1, np.roll(first, 1))
    product = (old & 0xFFFFFF) * (second & 0xFFFFFF)
    np.testing.assert_array_equal(out, product.astype(np.int32))
    np.testing.assert_array_equal(wide, first[np.arange(32) ^ 15] * second + first)


@amdjit.kernel(wave_size=64, warnings=False)
def scanned(x, y, out):
    t = amdjit.threadIdx.x
    total = wave.inclusive_scan(x[t], "add")
    out[0, t] = total + y[t]
    out[1, t] = wave.exclusive_scan(y[t], "max") ^ wave.inclusive_scan(u64(3), "add")


@pytest.mark.parametrize("processor", ["gfx1100", "gfx1150", "gfx1201"])
def test_scans_of_64_bits_in_waves_of_64_lanes(processor: str) -> None:
    x, y = np.random.default_rng(6).integers(0, 1 << 63, (2, 64)).astype(np.uint64)
    out = np.zeros((2, 64), np.uint64)
    with amdjit.use(f"emulator:{processor}"):
        scanned[1, 64](x, y, out)
    highest = np.concatenate([y[:1] * 0, np.maximum.accumulate(y)[:-1]])
    np.testing.assert_array_equal(out[0], np.cumsum(x) + y)
    np.testing.assert_array_equal(out[1], highest ^ np.arange(3, 195, 3).astype(np.uint64))


def function_of(*lines: str) -> str:
    return (
        "\ndefine void @f(ptr addrspace(1) %p, i32 %n) {\n"
        + "".join(f"  {line}\n" for line in lines)
        + "}\n"
    )


def move(type: str, moved: str, old: str = "poison", rest: str = "i32 15, i32 15, i1 true") -> str:
    return (
        f"%m = tail call {type} @llvm.amdgcn.update.dpp.any("
        f"{type} {old}, {type} {moved}, i32 255, {rest}), !dbg !7"
    )


IN_LANES = "%t = call i32 @llvm.amdgcn.workitem.id.x(), !range !3"
LOADED = "%v = load i32, ptr addrspace(1) %q, align 4"
PHI = "%v = phi i32 [ 7, %entry ], [ %w, %loop ]"


@pytest.mark.parametrize(
    ("lines", "is_merged"),
    [
        ([move("i32", "7")], False),
        ([move("i32", "%n")], False),
        ([move("float", "1.000000e+00")], False),
        ([move("<2 x half>", "splat (half 0xH3C00)")], False),
        ([LOADED.replace("%q", "%p"), move("i32", "%v")], False),
        ([IN_LANES, move("i32", "%t")], True),
        ([IN_LANES, "%v = add nsw i32 %n, %t", move("i32", "%v")], True),
        ([IN_LANES, "%q = getelementptr i32, ptr addrspace(1) %p, i32 %t", LOADED,
          "%b = bitcast i32 %v to float", move("float", "%b")], True),
        ([IN_LANES, "%v = call i32 @llvm.smin.i32(i32 %t, i32 %n)", move("i32", "%v")], True),
        ([IN_LANES, "%v = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %t)", move("i32", "%v")],
         False),
        ([IN_LANES, "%v = call i32 @other(i32 %t)", move("i32", "%v")], False),
        ([IN_LANES, "%v = insertelement <2 x i32> <i32 1, i32 poison>, i32 %t, i64 1",
          "%w = extractelement <2 x i32> %v, i64 0", move("i32", "%w")], False),
        (["%v = load i32, ptr addrspace(3) @lds, align 4", move("i32", "%v")], True),
        (["%v = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic", move("i32", "%v")], True),
        ([PHI, "%w = add i32 %v, %n", move("i32", "%v")], False),
        ([IN_LANES, PHI, "%w = add i32 %v, %t", move("i32", "%v")], True),
    ],
)  # fmt: skip
def test_what_lanes_have_in_common_is_kept_apart(lines: list[str], is_merged: bool) -> None:
    text = function_of(*lines)
    for processor in ("gfx1100", "gfx1150", "gfx1201"):
        target = find_target(processor)
        assert target is not None
        assert (fence_risky_moves(text, target) == text) == is_merged
    # gfx9 has no DPP in instructions of three operands.
    older = find_target("gfx942")
    assert older is not None
    assert fence_risky_moves(text, older) == text


@pytest.mark.parametrize(
    ("type", "old", "rest", "is_merged"),
    [
        ("i32", "0", "i32 15, i32 15, i1 false", True),
        ("i32", "1", "i32 15, i32 15, i1 false", False),
        ("i32", "1", "i32 -1, i32 15, i1 true", True),
        ("i32", "1", "i32 10, i32 15, i1 true", False),
        ("i32", "1", "i32 15, i32 3, i1 true", False),
        ("i32", "-1", "i32 10, i32 15, i1 false", True),
        ("i64", "-1", "i32 10, i32 15, i1 false", True),
        ("i64", "4294967295", "i32 15, i32 15, i1 false", False),
        ("i64", "1", "i32 15, i32 15, i1 false", False),
        ("<2 x i16>", "<i16 1, i16 0>", "i32 15, i32 15, i1 false", False),
        ("<2 x i16>", "zeroinitializer", "i32 15, i32 15, i1 false", True),
    ],
)
def test_old_values_that_change_nothing_are_known(
    type: str, old: str, rest: str, is_merged: bool
) -> None:
    text = function_of(f"%v = load {type}, ptr addrspace(3) @lds", move(type, "%v", old, rest))
    for processor in ("gfx908", "gfx942", "gfx1201"):
        target = find_target(processor)
        assert target is not None
        assert (fence_risky_moves(text, target) == text) == is_merged


def test_moves_are_kept_apart_once() -> None:
    moves = [move("i32", moved).replace("%m", f"%m{moved}") for moved in ("7", "8")]
    target = find_target("gfx1201")
    assert target is not None
    kept = fence_risky_moves(function_of(IN_LANES, moves[0], move("i32", "%t")), target)
    apart = fence_all_moves(kept)
    assert kept.count("@llvm.arithmetic.fence.f32(float %") == 1
    assert apart.count("@llvm.arithmetic.fence.f32(float %") == 2
    assert apart.count("declare float @llvm.arithmetic.fence.f32(float)") == 1
