"""The fragment layer costs nothing: kernels over fragments become the code of the same kernels
written by hand."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import amdjit
from amdjit import f32x4, f32x8, shared
from amdjit.intrinsics import amdgcn, matrix, wave
from amdjit.types import bf8, bf16, f16, f32, fp8, i8, i32, u8
from tests.matrix.fragment_kernels import marked


def instructions(asm: str) -> list[str]:
    """Return a kernel's instructions, without labels, comments and directives."""
    lines = (line.split(";")[0].strip() for line in asm.split("s_endpgm")[0].splitlines())
    return [line for line in lines if line and not line.startswith(".") and not line.endswith(":")]


def check_same(by_fragments: Any, by_hand: Any, *signature: Any) -> list[str]:
    """Compare two kernels instruction by instruction, but for their names; return them."""
    found, expected = (
        instructions(kernel.compile(*signature).asm_full) for kernel in (by_fragments, by_hand)
    )
    assert found == [line.replace("by_hand", "by_fragments") for line in expected]
    return found


MATRICES = (f16[:, :], f16[:, :], f32[:, :])


@pytest.mark.parametrize("clip", [None, (16, 16), (40, 99)], ids=str)
def test_products_are_those_of_the_instructions_by_hand(clip: Any) -> None:
    """Edges that are known to lie beyond the fragment's cost nothing either."""

    @amdjit.kernel(block=32)
    def by_fragments(a, b, d):
        left = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32, matrix.col_major)
        matrix.fill_fragment(total, 0.0)
        for k in range(0, a.shape[1], 16):
            matrix.load_matrix_sync(left, a, (0, k), clip=clip)
            matrix.load_matrix_sync(right, b, (0, k), clip=clip)
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total, clip=clip)

    @amdjit.kernel(block=32)
    def by_hand(a, b, d):
        total = f32x8()
        for k in range(0, a.shape[1], 16):
            first, row = 8 * (wave.lane_id() // 16 % 2), wave.lane_id() % 16
            left = a.load((row, first), 8, 2, base=(0, k))
            right = b.load((row, first), 8, 2, base=(0, k))
            total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(left, right, total)
        first, row = 8 * (wave.lane_id() // 16 % 2), wave.lane_id() % 16
        d.store((row, first), total, 4, base=(0, 0))

    found = check_same(by_fragments, by_hand, *MATRICES)
    assert sum("v_wmma" in line for line in found) == 1
    assert sum("global_load_b128" in line for line in found) == 2


def test_products_in_wave64_are_those_of_the_instructions_by_hand() -> None:
    @amdjit.kernel(block=64, wave_size=64)
    def by_fragments(a, b, d):
        left = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32, matrix.col_major)
        matrix.fill_fragment(total, 0.0)
        for k in range(0, a.shape[1], 16):
            matrix.load_matrix_sync(left, a, (0, k))
            matrix.load_matrix_sync(right, b, (0, k))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    @amdjit.kernel(block=64, wave_size=64)
    def by_hand(a, b, d):
        total = f32x4()
        for k in range(0, a.shape[1], 16):
            lane = wave.lane_id()
            first, row = 4 * (lane // 16 % 2) + 8 * (lane // 32), lane % 16
            left = a.load((row, first), 4, 2, base=(0, k))
            right = b.load((row, first), 4, 2, base=(0, k))
            total = amdgcn.wmma_f32_16x16x16_f16_w64_gfx12(left, right, total)
        lane = wave.lane_id()
        first, row = 8 * (lane // 16 % 2) + 4 * (lane // 32), lane % 16
        d.store((row, first), total, 4, base=(0, 0))

    found = check_same(by_fragments, by_hand, *MATRICES)
    assert sum("v_wmma" in line for line in found) == 1


WMMA = (
    "f32_16x16x16_f16", "f16_16x16x16_f16", "bf16_16x16x16_bf16", "f32_16x16x16_fp8_bf8",
    "i32_16x16x16_iu8",
    "i32_16x16x16_iu4", "i32_16x16x32_iu4",
)  # fmt: skip
SWMMAC = (
    "f32_16x16x32_f16", "f16_16x16x32_f16", "bf16_16x16x32_bf16", "f32_16x16x32_bf8_fp8",
    "i32_16x16x32_iu8",
    "i32_16x16x32_iu4", "i32_16x16x64_iu4",
)  # fmt: skip
ELEMENTS = {
    "f16": f16,
    "bf16": bf16,
    "fp8": fp8,
    "bf8": bf8,
    "iu8": i8,
    "iu4": matrix.i4,
    "f32": f32,
    "i32": i32,
}


def held(items, type):
    """Return a lane's items of a fragment as the operand of an instruction."""
    if len(items) == 1:
        return amdjit.bitcast(items[0], type)
    return amdjit.bitcast(items.load(0, len(items)), type)


NAMES = [f"wmma_{name}" for name in WMMA] + [f"swmmac_{name}" for name in SWMMAC]
OFTEN = [(name, 32) for name in NAMES[::2]] + [(name, 64) for name in NAMES[1::4]]


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", marked(itertools.product(NAMES, (32, 64)), OFTEN), ids=str)
def test_mma_sync_is_the_instruction(case: tuple[str, int]) -> None:
    name, wave_size = case
    sparse, sums, kinds = (
        name.startswith("swmmac"),
        ELEMENTS[name.split("_")[1]],
        name.split("_")[3:],
    )
    a_type, b_type, k = (
        ELEMENTS[kinds[0]],
        ELEMENTS[kinds[-1]],
        int(name.split("_")[2].split("x")[2]),
    )
    builtin = getattr(amdgcn, f"{name}_w{wave_size}" + ("" if sparse else "_gfx12"))
    types = tuple(
        getattr(p.type, "constraints", (p.type,))[0]
        for p in builtin.parameters
        if p.immediate is None
    )
    use, integers = matrix.sparse_a if sparse else matrix.matrix_a, sums is i32

    def loaded(a, index, b, c):
        left = matrix.fragment(use, 16, 16, k, a_type, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 16, 16, k, b_type, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, 16, 16, k, sums, matrix.col_major)
        matrix.load_matrix_sync(left, a)
        if sparse:
            matrix.load_index_sync(left, index)
        matrix.load_matrix_sync(right, b)
        matrix.load_matrix_sync(total, c)
        return left, right, total

    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def by_fragments(a, index, b, c, d):
        left, right, total = loaded(a, index, b, c)
        matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def by_hand(a, index, b, c, d):
        left, right, total = loaded(a, index, b, c)
        x, y, z = held(left.x, types[0]), held(right.x, types[1]), held(total.x, types[2])
        if integers and sparse:
            result = builtin(True, x, True, y, z, i32(left.index[0]), False)
        elif integers:
            result = builtin(True, x, True, y, z, False)
        elif sparse:
            result = builtin(x, y, z, i32(left.index[0]))
        else:
            result = builtin(x, y, z)
        total.x.store(0, amdjit.bitcast(result, amdjit.vector(sums, len(total.x))))
        matrix.store_matrix_sync(d, total)

    stored = [u8 if isinstance(each, matrix.i4.__class__) else each for each in (a_type, b_type)]
    matrices = [each[:, :] for each in (stored[0], u8, stored[1], sums, sums)]
    found = check_same(by_fragments, by_hand, *matrices)
    assert sum(f"v_{name}" in line for line in found) == 1


def test_two_sparse_instructions_share_a_register_of_the_index() -> None:
    """One `v_perm_b32` puts the lane's bytes of two words side by side, and each instruction takes
    its half."""

    @amdjit.kernel(block=32)
    def product(a, index, b, d):
        left = matrix.fragment(matrix.sparse_a, 16, 16, 64, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 16, 16, 64, f16, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, 16, 16, 64, f32, matrix.col_major)
        matrix.fill_fragment(total, 0.0)
        matrix.load_matrix_sync(left, a)
        matrix.load_index_sync(left, index)
        matrix.load_matrix_sync(right, b)
        matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    code = instructions(product.compile(f16[:, :], u8[:, :], f16[:, :], f32[:, :]).asm_full)
    counts = [
        sum(word in line for line in code)
        for word in ("v_swmmac", "v_perm_b32", "index_key:1", "b128")
    ]
    assert counts == [2, 1, 1, 4 + 2]


def test_edges_of_lds_tiles_that_are_known_cost_nothing() -> None:
    def kernel(clip: Any) -> Any:
        @amdjit.kernel(block=32)
        def copy(a, d):
            tile = shared.array((64, 32), f16)
            part = matrix.fragment(matrix.matrix_a, 64, 16, 32, f16, matrix.row_major)
            matrix.load_matrix_sync(part, a)
            matrix.store_matrix_sync(tile, part, clip=clip)
            matrix.synchronize_workgroup()
            matrix.load_matrix_sync(part, tile, (0, 0), clip=clip)
            matrix.store_matrix_sync(d, part)

        return copy

    check_same(kernel(True), kernel(None), f16[:, :], f16[:, :])


def test_a_clipped_tile_that_lies_inside_takes_one_branch_more() -> None:
    @amdjit.kernel(block=32)
    def load(a, d):
        part = matrix.fragment(matrix.matrix_a, 64, 16, 32, f16, matrix.row_major)
        matrix.load_matrix_sync(part, a, (64 * amdjit.blockIdx.x, 0), clip=True)
        matrix.store_matrix_sync(d, part)

    code = instructions(load.compile(f16[:, :], f16[:, :]).asm_full)
    whole = max(index for index, line in enumerate(code) if line.startswith("global_load_b128"))
    assert sum(line.startswith("global_load_b128") for line in code[whole - 40 :]) >= 8
    assert not any(line.startswith(("v_cmp", "v_cndmask")) for line in code[whole - 7 :])
