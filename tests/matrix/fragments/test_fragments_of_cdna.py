"""Fragments on CDNA: where their elements lie, which instructions their products take, and what is
refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amdjit import CompileError, bf8_fnuz, bf16, f16, f32, f64, fp8, fp8_fnuz, i8, i32, u8
from amdjit.intrinsics.matrix.operands.blocks import cdna_side
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import stored_type
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.intrinsics.models.mfma_instructions import CDNA
from tests.matrix.cdna_fragments import (
    COLUMNS,
    FLOATS,
    ROWS,
    SPARSE,
    XF32,
    A,
    B,
    instruction_of,
    kinds_of,
    multiply,
    places,
    rows_of_types,
)


@pytest.mark.parametrize("target", CDNA)
def test_lanes_hold_what_the_instruction_takes(target: str) -> None:
    """A fragment of one instruction, by the layouts of AMD's calculator."""
    for types in rows_of_types(target):
        for side in (16, 32):
            if side != cdna_side(side, side, types[0]):
                continue
            depths = {kinds_of(target, types, side, k)[1].blocks.depth for k in (1, 16, 32, 64)}
            for depth in depths:
                kinds = kinds_of(target, types, side, depth)
                instruction = instruction_of(target, kinds[0], kinds[1])
                for kind, operand in zip(kinds, "abc", strict=True):
                    across, along = places(kind)
                    rows, columns, _ = instruction.layout(operand).positions()
                    found = (across, along) if operand == "a" else (along, across)
                    name = f"{operand} of {instruction.name}"
                    np.testing.assert_array_equal(found, (rows, columns), name)


@pytest.mark.parametrize("target", CDNA[2:])
def test_lanes_hold_the_kept_elements_of_their_part_of_b(target: str) -> None:
    """The elements of A that a lane holds are kept of the k that it holds of B, four by four."""
    byte = FLOATS[target][0]
    for dtype, k in ((f16, 32), (f16, 64), (bf16, 32), (i8, 64), (i8, 128), (byte, 64)):
        for side in (16, 32):
            total = i32 if dtype is i8 else f32
            left, right, _ = kinds_of(target, (dtype, dtype, total), side, k, SPARSE)
            assert instruction_of(target, left, right).is_sparse
            kept, held = places(left)[1], places(right)[1]
            np.testing.assert_array_equal(kept // 2, np.sort(held[:, ::4] // 4).repeat(2, axis=1))


@pytest.mark.parametrize("target", CDNA)
def test_wide_k_is_one_order_of_k_in_a_and_b(target: str) -> None:
    for types in rows_of_types(target):
        for side in (16, 32):
            kinds = [
                FragmentKind(use, side, side, 64, dtype, ROWS, 64, None, True, Generation(target))
                for use, dtype in ((A, types[0]), (B, types[1]))
            ]
            (a_across, a_along), (b_across, b_along) = map(places, kinds)
            np.testing.assert_array_equal(a_along, b_along)
            np.testing.assert_array_equal(a_across, b_across)
            assert len(set(zip(a_across.ravel(), a_along.ravel(), strict=True))) == a_along.size
            assert kinds[0].blocks.access_bytes == 16


def compiled(target: str, m: int, k: int, types: Any) -> Any:
    stored = [stored_type(each)[:, ::1] for each in types]
    kernel = multiply(m, m, k, types, (ROWS, COLUMNS, ROWS))
    return kernel.compile(*stored, stored[2], i32, target=target)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("target", "m", "k", "types", "name", "count"),
    [
        ("gfx908", 16, 16, (bf16, bf16, f32), "v_mfma_f32_16x16x8bf16", 2),
        ("gfx90a", 32, 16, (i8, i8, i32), "v_mfma_i32_32x32x8i8", 2),
        ("gfx90a", 32, 8, (f64, f64, f64), "v_mfma_f64_16x16x4f64", 8),
        ("gfx942", 16, 4, (f32, f32, f32), "v_mfma_f32_16x16x4_f32", 1),
        ("gfx942", 32, 8, (XF32, XF32, f32), "v_mfma_f32_32x32x4_xf32", 2),
        ("gfx942", 64, 16, (f16, f16, f16), "v_mfma_f32_32x32x8_f16", 8),
        ("gfx942", 16, 32, (fp8_fnuz, bf8_fnuz, f32), "v_mfma_f32_16x16x32_fp8_bf8", 1),
        ("gfx950", 16, 16, (f16, f16, f32), "v_mfma_f32_16x16x16_f16", 1),
        ("gfx950", 32, 32, (bf16, bf16, f32), "v_mfma_f32_32x32x16_bf16", 2),
        ("gfx950", 16, 64, (i8, i8, i32), "v_mfma_i32_16x16x64_i8", 1),
    ],
)
def test_products_take_the_instruction_of_their_blocks(
    target: str, m: int, k: int, types: Any, name: str, count: int
) -> None:
    words = [line.split() for line in compiled(target, m, k, types).asm.splitlines()]
    assert [line[0] for line in words if line and "mfma" in line[0]] == count * [name]


@pytest.mark.parametrize(
    ("target", "types", "messages"),
    [
        ("gfx908", (f64, f64, f64), ("gfx90a or gfx942 or gfx950", "f32 x f32 in f32")),
        ("gfx90a", (fp8_fnuz, fp8_fnuz, f32), ("compile for gfx942; on gfx90a", "f16 x f16")),
        ("gfx942", (fp8, fp8, f32), ("compile for gfx950", "fp8_fnuz x fp8_fnuz in f32")),
        ("gfx950", (XF32, XF32, f32), ("compile for gfx942", "f32 x f32 in f32")),
        ("gfx942", (u8, u8, i32), ("i8 x i8 in i32",)),
        ("gfx942", (f16, f16, bf16), ("f16 x f16 in f32 or f16",)),
    ],
)
def test_what_a_processor_lacks_is_refused_with_what_there_is(
    target: str, types: Any, messages: tuple[str, ...]
) -> None:
    with pytest.raises(CompileError) as caught:
        compiled(target, 16, 32, types)
    for message in messages:
        assert message in str(caught.value)


def test_rdna_names_the_processors_that_have_a_product() -> None:
    kernel = multiply(16, 16, 16, (f32, f32, f32), (ROWS, COLUMNS, ROWS))
    arrays = [f32[:, ::1]] * 4

    with pytest.raises(CompileError, match="compile for gfx908 or gfx90a or gfx942 or gfx950"):
        kernel.compile(*arrays, i32, target="gfx1201")
