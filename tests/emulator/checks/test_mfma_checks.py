"""Undefined values pass through MFMA and SMFMAC by row of A and by column of B: those elements of
the result are reported that the layouts say, and no others. EXEC does not count."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.emulator.checks.waits.code_object import find_missing_waits
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.models.mfma_instructions import (
    MfmaInstruction,
    broadcast_blocks,
    lanes_of_b,
    mfma_instruction,
)
from tests.emulator.building import compile_source, using
from tests.emulator.required_tools import needs_tools

Lanes = np.ndarray[Any, np.dtype[np.bool_]]


def one_element(builtin: Any, given: tuple[int, ...], controls: tuple[int, ...]) -> Any:
    """Return a kernel that stores one element of the result in some lanes."""
    n_a, n_b, n_c = given
    cbsz, abid, blgp = controls

    @amdjit.kernel
    def multiply(a, b, c, keep, out, element: amdjit.Const):
        i = amdjit.lane_id()
        if n_a == 1:
            x, y = a[i], b[i]
        else:
            x, y = a.load(n_a * i, n_a), b.load(n_b * i, n_b)
        if n_c == 1:
            d = builtin(x, y, c[i], cbsz, abid, blgp)
        else:
            d = builtin(x, y, c.load(n_c * i, n_c), cbsz, abid, blgp)[element]
        if keep[i]:
            out[i] = d

    return multiply


def one_sparse_element(builtin: Any, given: tuple[int, ...]) -> Any:
    n_a, n_b, n_c = given

    @amdjit.kernel
    def multiply(a, b, c, index, keep, out, element: amdjit.Const):
        i = amdjit.lane_id()
        x, y, z = a.load(n_a * i, n_a), b.load(n_b * i, n_b), c.load(n_c * i, n_c)
        d = builtin(x, y, z, index[i], 0, 0)[element]
        if keep[i]:
            out[i] = d

    return multiply


def undefined(
    instruction: MfmaInstruction, operand: str, lane: int, controls: tuple[int, ...]
) -> Lanes:
    """Return which elements of D are undefined, [64, elements], if a lane of an operand is."""
    lost = {}
    for each in ("a", "b", "c", *(["index"] if instruction.is_sparse else [])):
        layout = instruction.layout(each)
        lanes = np.zeros((64, layout.elements), bool)
        lanes[lane] = each == operand
        if each == "b":
            lanes = lanes[lanes_of_b(instruction, controls[2])]
        lost[each] = layout.gather(lanes).reshape(layout.blocks, layout.rows, layout.columns)
    left = lost["a"][broadcast_blocks(instruction, *controls[:2])]
    if instruction.is_sparse:
        left = left | lost["index"]
    whole = left.any(axis=2)[:, :, None] | lost["b"].any(axis=1)[:, None, :] | lost["c"]
    return instruction.layout("d").scatter(whole)


CASES = [
    ("gfx942", "mfma_f32_32x32x8f16", (4, 4, 16), (0, 0, 0)),
    ("gfx90a", "mfma_f32_16x16x16f16", (4, 4, 4), (0, 0, 3)),
    ("gfx908", "mfma_f32_4x4x4f16", (4, 4, 4), (2, 1, 0)),
    ("gfx90a", "mfma_f32_32x32x4f16", (4, 4, 32), (1, 1, 2)),
    ("gfx942", "mfma_f32_16x16x4f16", (4, 4, 16), (2, 3, 0)),
    ("gfx90a", "mfma_f64_16x16x4f64", (1, 1, 4), (0, 0, 0)),
    ("gfx942", "mfma_f64_4x4x4f64", (1, 1, 1), (0, 0, 0)),
    ("gfx942", "smfmac_f32_32x32x16_f16", (4, 8, 16), (0, 0, 0)),
]  # fmt: skip


def device_arrays(instruction: MfmaInstruction, given: Any, operand: str, lane: int) -> list[Any]:
    """Return operands of which one lane's part of one is undefined."""
    is_double = instruction.result == "f64"
    kinds = ["f8"] * 3 if is_double else ["f2", "f2", "f4", "i4"]
    arrays = []
    for name, size, kind in zip("abci", (*given, 1), kinds, strict=False):
        array = amdjit.empty(64 * size, np.dtype(kind))
        whole, first = np.ones(64 * size, kind), lane * size
        if name != operand[0]:
            array.copy_from_host(whole)
        elif first:
            array[:first].copy_from_host(whole[:first])
        if name == operand[0] and lane < 63:
            array[first + size :].copy_from_host(whole[first + size :])
        arrays.append(array)
    return arrays[: len(given) + instruction.is_sparse]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("target", "name", "given", "controls"), CASES)
def test_undefined_rows_and_columns_are_reported(
    target: str, name: str, given: tuple[int, ...], controls: tuple[int, ...]
) -> None:
    instruction, builtin = mfma_instruction(name, target), getattr(amdgcn, name)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if instruction.is_sparse:
        kernel = one_sparse_element(builtin, given)
    else:
        kernel = one_element(builtin, given, controls)
    for operand in ("a", "b", "c", *(["index"] if instruction.is_sparse else [])):
        lane, element = int(random.integers(64)), int(random.integers(given[2]))
        lost = undefined(instruction, operand, lane, controls)[:, element]
        one = random.choice(np.nonzero(lost)[0], min(1, lost.sum()))
        with amdjit.use(f"emulator:{target}"):
            arrays = device_arrays(instruction, given, operand, lane)
            for keep, count in ((~lost, 0), (np.isin(np.arange(64), one), len(one))):
                out = amdjit.zeros(64, np.float64 if instruction.result == "f64" else np.float32)
                with amdjit.sanitize("init", raises=False) as found:
                    kernel[1, 64](*arrays, keep.astype(np.int32), out, element)
                assert len(found.reports) == count, (operand, lane, element, keep)


@amdjit.kernel
def scaled(a, b, c, scale_a, scale_b, keep, out):
    i = amdjit.lane_id()
    x, y, z = a.load(8 * i, 8), b.load(8 * i, 8), c.load(4 * i, 4)
    d = amdgcn.mfma_scale_f32_16x16x128_f8f6f4(x, y, z, 0, 0, 0, scale_a[i], 0, scale_b[i])
    if keep[i]:
        out[i] = d[2]


@pytest.mark.sample(3)
@pytest.mark.parametrize("operand", ["a", "b", "c", "scale_a", "scale_b"])
def test_undefined_scales_count_as_what_they_scale(operand: str) -> None:
    instruction = mfma_instruction("mfma_scale_f32_16x16x128_f8f6f4", "gfx950")
    names, sizes, lane = ("a", "b", "c", "scale_a", "scale_b"), (8, 8, 4, 1, 1), 38
    lost = {}
    for each in names:
        layout = instruction.layout(each)
        lanes = np.zeros((64, layout.elements), bool)
        lanes[lane] = each == operand
        lost[each] = layout.gather(lanes)
    rows = lost["a"].any(axis=1) | lost["scale_a"].any(axis=1)
    columns = lost["b"].any(axis=0) | lost["scale_b"].any(axis=0)
    whole = instruction.layout("d").scatter(rows[:, None] | columns | lost["c"])[:, 2]
    with amdjit.use("emulator:gfx950"):
        arrays = []
        for each, size in zip(names, sizes, strict=True):
            array = amdjit.empty(64 * size, np.float32 if each == "c" else np.int32)
            ends = (lane * size, lane * size + size) if each == operand else (64 * size, 64 * size)
            array[: ends[0]].copy_from_host(np.ones(ends[0], array.dtype))
            if ends[1] < 64 * size:
                rest = np.ones(64 * size - ends[1], array.dtype)
                array[ends[1] :].copy_from_host(rest)
            arrays.append(array)
        for keep, is_found in ((~whole, False), (whole, True)):
            out = amdjit.zeros(64, np.float32)
            with amdjit.sanitize("init", raises=False) as found:
                scaled[1, 64](*arrays, keep.astype(np.int32), out)
            assert bool(found.reports) == is_found


_LOADED = """#include "common.h"
KERNEL early(GLOBAL u32 *x) {{
  u32 place = 16 * __builtin_amdgcn_workitem_id_x();
  __asm__ volatile("global_load_dwordx{count} {loaded}, %0, %1\\n"
                   "{wait}v_mfma_f32_16x16x16f16 {operands}\\n"
                   "s_waitcnt vmcnt(0)" : : "v"(place), "s"(x) : {clobbered});
}}
"""


@pytest.mark.sample(3)
@needs_tools
@pytest.mark.parametrize(
    ("loaded", "operands"),
    [
        ("a[4:5]", "a[8:11], a[4:5], v[20:21], a[8:11]"),
        ("a[4:5]", "v[28:31], v[20:21], a[4:5], 0"),
        ("v[20:21]", "a[8:11], v[20:21], v[22:23], a[8:11]"),
        ("a[8:11]", "a[8:11], v[20:21], v[22:23], 0"),
        ("v[28:31]", "v[24:27], v[20:21], v[22:23], v[28:31]"),
        ("v[4:5]", "a[8:11], a[4:5], v[20:21], a[8:11]"),
    ],
)
def test_loads_that_mfma_does_not_wait_for_are_found(loaded: str, operands: str) -> None:
    """A register and an accumulator of the same number differ."""
    names = [*(f"a{n}" for n in range(12)), *(f"v{n}" for n in (4, 5, *range(20, 32)))]
    given = {
        "loaded": loaded, "operands": operands, "count": 4 if "11" in loaded or "31" in loaded
        else 2, "clobbered": ", ".join(f'"{name}"' for name in names),
    }  # fmt: skip
    with using(cpu="gfx90a"):
        early = find_missing_waits(compile_source(_LOADED.format(wait="", **given), "-O1"))
        late = compile_source(_LOADED.format(wait="s_waitcnt vmcnt(0)\\n", **given), "-O1")
    assert len(early) == (loaded != "v[4:5]")
    assert find_missing_waits(late) == ()
