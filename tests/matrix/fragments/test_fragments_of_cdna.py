"""Fragments on CDNA: the same source as for RDNA, in blocks of 16 by 16 and 32 by 32, each what one
MFMA or SMFMAC takes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import (
    CompileError,
    bf8,
    bf8_fnuz,
    bf16,
    f16,
    f32,
    f64,
    fp8,
    fp8_fnuz,
    i8,
    i32,
    u8,
)
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.cdna_blocks import INSTRUCTION_TYPES, cdna_side
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import stored_type
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.intrinsics.models.mfma_instructions import (
    CDNA,
    MfmaInstruction,
    mfma_instructions,
)

ROWS, COLUMNS = matrix.row_major, matrix.col_major
A, B, C, SPARSE = matrix.matrix_a, matrix.matrix_b, matrix.accumulator, matrix.sparse_a
XF32 = matrix.xf32
FLOATS = {"gfx942": (fp8_fnuz, bf8_fnuz), "gfx950": (fp8, bf8)}
exhaustive = pytest.mark.exhaustive


def rows_of_types(target: str) -> list[tuple[Any, Any, Any]]:
    """Return the types of A, B and the sums that rocWMMA's documentation lists for a processor."""
    found: list[tuple[Any, Any, Any]] = [
        (f16, f16, f32), (bf16, bf16, f32), (i8, i8, i32), (f32, f32, f32),
    ]  # fmt: skip
    if target != "gfx908":
        found.append((f64, f64, f64))
    if target == "gfx942":
        found.append((XF32, XF32, f32))
    found += [(a, b, f32) for a in FLOATS.get(target, ()) for b in FLOATS.get(target, ())]
    return found


def kinds_of(target: str, types: Any, side: int, k: int, left: Any = A) -> list[FragmentKind]:
    """Return the kinds of A, B and C of one block."""
    layouts = (ROWS, ROWS, None)
    return [
        FragmentKind(use, side, side, k, dtype, layout, 64, generation=Generation(target))
        for use, dtype, layout in zip((left, B, C), types, layouts, strict=True)
    ]


def instruction_of(target: str, a: FragmentKind, b: FragmentKind) -> MfmaInstruction:
    """Return the instruction for blocks of A and B."""
    names = INSTRUCTION_TYPES[a.dtype], INSTRUCTION_TYPES[b.dtype]
    k = b.blocks.instruction_depth * a.blocks.per_instruction
    (found,) = (
        each
        for each in mfma_instructions(target).values()
        if (each.m, each.k, each.is_sparse) == (a.blocks.side, k, a.is_sparse)
        and (each.a, each.b) == names
        and each.blocks == 1
    )
    return found


def places(kind: FragmentKind) -> tuple[Any, Any]:
    """Return (across, along) of each item of `x` in each lane, [lanes, items]."""
    blocks = kind.blocks
    lane, item = np.meshgrid(np.arange(64), np.arange(kind.size), indexing="ij")
    block, element = item // blocks.held, item % blocks.held
    odd, upper = blocks.steps
    first = lane // 16 % 2 * odd + lane // 32 * upper
    along = blocks.depth * (block % blocks.count_along) + first + element * blocks.stride
    return blocks.side * (block // blocks.count_along) + lane % blocks.side, along


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


@cache
def multiply(m: int, n: int, k: int, types: Any, layouts: Any, wide: bool = False) -> Any:
    """Return a kernel of one wave that computes D = A B + C."""
    a_type, b_type, sum_type = types

    @amdjit.kernel(block=64)
    def kernel(a, b, c, d, depth):
        left = matrix.fragment(A, m, n, k, a_type, layouts[0], wide_k=wide)
        right = matrix.fragment(B, m, n, k, b_type, layouts[1], wide_k=wide)
        total = matrix.fragment(C, m, n, k, sum_type)
        matrix.load_matrix_sync(total, c, layout=layouts[2])
        for step in range(0, depth, k):
            matrix.load_matrix_sync(left, a, (0, step) if layouts[0] is ROWS else (step, 0))
            matrix.load_matrix_sync(right, b, (step, 0) if layouts[1] is ROWS else (0, step))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total, layout=layouts[2])

    return kernel


def compiled(target: str, m: int, k: int, types: Any) -> Any:
    stored = [stored_type(each)[:, ::1] for each in types]
    kernel = multiply(m, m, k, types, (ROWS, COLUMNS, ROWS))
    return kernel.compile(*stored, stored[2], i32, target=target)


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


def lying(values: Any, layout: Any) -> Any:
    return np.ascontiguousarray(values if layout is ROWS else values.T)


def random_matrices(types: Any, *shapes: tuple[int, int]) -> list[Any]:
    """Return numbers of all sizes for floats, any integers else."""
    random = np.random.default_rng(len(types[0].value if types[0] is XF32 else types[0].name))
    found = []
    for kind, shape in zip(map(stored_type, types), shapes, strict=True):
        numbers = random.standard_normal(shape)
        found.append((numbers if kind.is_float else np.rint(40 * numbers)).astype(kind.dtype))
    return found


def check_product(
    target: str, types: Any, m: int, n: int, k: int, layouts: Any, wide: bool
) -> None:
    """Compare bit for bit with the instruction's arithmetic in the fragments' order of k, and with
    NumPy."""
    a, b, c = random_matrices(types, (m, 128), (128, n), (m, n))
    given = [lying(each, layout) for each, layout in zip((a, b, c), layouts, strict=True)]
    d = np.zeros_like(given[2])
    with amdjit.use(f"emulator:{target}"):
        multiply(m, n, k, types, layouts, wide)[1, 64](*given, d, 128)
    found = lying(d, layouts[2])
    kinds = kinds_of(target, types, cdna_side(m, n, types[0]), k)
    name, order = instruction_of(target, *kinds[:2]).name, "wide_k" if wide else "fragment"
    expected = matrix.reference(name, a, b, c, target=target, order=order)
    bits = f"u{found.itemsize}"
    np.testing.assert_array_equal(found.view(bits), expected.view(bits))
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    close = 0 if types[2] is i32 else 0.05 if types[0] is XF32 else 1e-4
    np.testing.assert_allclose(found.astype(np.float64), exact, atol=close, rtol=0)


SLICE = (
    ("gfx908", (bf16, bf16, f32), 16, 32, False),
    ("gfx90a", (f64, f64, f64), 32, 32, True),
    ("gfx942", (XF32, XF32, f32), 32, 32, False),
    ("gfx942", (fp8_fnuz, bf8_fnuz, f32), 16, 48, True),
    ("gfx950", (i8, i8, i32), 64, 32, False),
)
EVERY = tuple(
    (target, types, m, n, wide)
    for target in CDNA
    for types in rows_of_types(target)
    for m, n in ((16, 16), (32, 32), (48, 16), (64, 32))
    for wide in (False, True)
)


@pytest.mark.parametrize(
    ("target", "types", "m", "n", "wide"),
    [*SLICE, *(pytest.param(*each, marks=exhaustive) for each in EVERY if each not in SLICE)],
)
def test_products_are_the_reference_of_their_instruction(
    target: str, types: Any, m: int, n: int, wide: bool
) -> None:
    layouts = (COLUMNS, ROWS, COLUMNS) if wide else (ROWS, COLUMNS, ROWS)
    check_product(target, types, m, n, 64, layouts, wide)


@pytest.mark.parametrize("dtype", [f16, pytest.param(bf16, marks=exhaustive)])
def test_sums_of_16_bits_are_rounded_once_a_step(dtype: Any) -> None:
    a, b, c = random_matrices((dtype,) * 3, (32, 128), (128, 32), (32, 32))
    d = np.zeros_like(c)
    with amdjit.use("emulator:gfx942"):
        multiply(32, 32, 32, (dtype,) * 3, (ROWS,) * 3)[1, 64](a, b, c, d, 128)
    name = {f16: "mfma_f32_32x32x8f16", bf16: "mfma_f32_32x32x8bf16_1k"}[dtype]
    for step in range(0, 128, 32):
        part = a[:, step : step + 32], b[step : step + 32]
        c = matrix.reference(name, *part, c.astype(np.float32), target="gfx942").astype(c.dtype)
    np.testing.assert_array_equal(d.view(np.uint16), c.view(np.uint16))


@cache
def multiply_sparse(m: int, k: int, dtype: Any, sums: Any) -> Any:
    @amdjit.kernel(block=64)
    def kernel(held, index, b, d):
        left = matrix.fragment(SPARSE, m, m, k, dtype, ROWS)
        right = matrix.fragment(B, m, m, k, dtype, COLUMNS)
        total = matrix.fragment(C, m, m, k, sums)
        matrix.fill_fragment(total, 0)
        for step in range(0, b.shape[1], k):
            matrix.load_matrix_sync(left, held, (0, step // 2))
            matrix.load_index_sync(left, index, (0, step // 8))
            matrix.load_matrix_sync(right, b, (0, step))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    return kernel


SPARSE_SLICE = (("gfx942", 16, 32, f16), ("gfx942", 32, 64, i8), ("gfx950", 64, 128, bf16))
EVERY_SPARSE = tuple(
    (target, m, k, dtype)
    for target in CDNA[2:]
    for m in (16, 32, 48)
    for k in (64, 128)
    for dtype in (f16, bf16, i8, *FLOATS[target])
)


@pytest.mark.parametrize(
    ("target", "m", "k", "dtype"),
    [*SPARSE_SLICE, *(pytest.param(*each, marks=exhaustive) for each in EVERY_SPARSE)],
)
def test_sparse_products_are_the_reference_of_their_instruction(
    target: str, m: int, k: int, dtype: Any
) -> None:
    sums = i32 if dtype is i8 else f32
    dense, b = random_matrices((dtype, dtype), (m, 256), (256, m))
    random = np.random.default_rng(5)
    kept = np.argsort(random.random((m, 64, 4)), axis=2)[..., :2]
    zeroed = np.zeros((m, 64, 4), dense.dtype)
    np.put_along_axis(
        zeroed, kept, np.take_along_axis(dense.reshape(m, 64, 4), kept, axis=2), axis=2
    )
    held, index = matrix.compress_2to4(zeroed.reshape(m, 256))
    d = np.zeros((m, m), sums.dtype)
    with amdjit.use(f"emulator:{target}"):
        multiply_sparse(m, k, dtype, sums)[1, 64](
            held, matrix.pack_index(index), lying(b, COLUMNS), d
        )
    kinds = kinds_of(target, (dtype, dtype, sums), cdna_side(m, m, dtype), k, SPARSE)
    name = instruction_of(target, *kinds[:2]).name
    zeros = np.zeros((m, m))
    expected = matrix.reference(name, held, b, zeros, index, target=target, order="fragment")
    np.testing.assert_array_equal(d.view(np.uint32), expected.view(np.uint32))
    exact = zeroed.reshape(m, 256).astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(d.astype(np.float64), exact, atol=1e-4, rtol=0)
