"""Moves between lanes stay apart from instructions that RDNA 3 lacks, and only from those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, u32
from amdjit.backend.moved_lanes import impossible_move
from amdjit.intrinsics import amdgcn, wave

SWAPPED = np.arange(32) ^ 1


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
    for processor in ("gfx1100", "gfx1201"):
        merged = summed.compile(f32[:], f32[:], target=processor).asm
        assert "v_add_f32_dpp" in merged


@pytest.mark.parametrize(
    ("line", "is_possible"),
    [
        ("v_perm_b32_e64_dpp v1, v1, 0, v2 quad_perm:[1,0,3,2] row_mask:0xf", False),
        ("v_perm_b32_e64_dpp v1, v1, s3, v2 dpp8:[1,0,3,2,4,5,6,7]", False),
        ("v_perm_b32_e64_dpp v1, v1, v2, 0 quad_perm:[1,0,3,2] row_mask:0xf", True),
        ("v_med3_f32_e64_dpp v1, -v1, |v2|, s3 row_shl:1 row_mask:0xf", True),
        ("v_add_f32_e64_dpp v1, -v1, 1.0 clamp row_shr:1 row_mask:0xf", False),
        ("v_cvt_f32_i32_e64_dpp v1, v1 mul:2 row_shr:1", True),
        ("v_add_co_u32_e64_dpp v1, vcc_lo, v3, v4 row_shr:1", True),
        ("v_add_co_u32_e64_dpp v1, vcc_lo, v3, 4 row_shr:1", False),
        ("v_cmp_eq_u32_e64_dpp s0, v1, 5 row_shr:1", False),
        ("v_add_f16_e64_dpp v1.l, v2.l, v3.h row_shr:1", True),
    ],
)
def test_impossible_instructions_are_found_in_assembly(line: str, is_possible: bool) -> None:
    assembly = f"\ts_nop 0\n\t{line}\t; comment\n"
    assert (impossible_move(assembly) is None) == is_possible
