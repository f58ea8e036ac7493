"""Which element of a matrix each lane of a fragment holds, and that this is what the instructions
take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import static_range
from amdjit.intrinsics import matrix
from amdjit.types import f16, f32, i8
from tests.matrix.plan.plan_data import COL, ROW
from tests.matrix.plan.plan_kernels import A, B, C, sizes

pytestmark = pytest.mark.usefixtures("device")

NAMES = {A: "a", B: "b", C: "c"}


def along_of(use: Any, bits: int, lane: int, element: int, wave_size: int) -> int:
    """Return k of A and B, the row of an accumulator: a lane's elements are neighbours.

    Of 8 elements in wave32; in wave64 the four groups of 16 lanes stand in the order of the
    instruction, but for 16-bit A and B, whose k is the same one in both.
    """
    group = lane // 16
    if wave_size == 32:
        return 8 * group + element
    if use is not C and bits == 16:
        return 4 * group + element
    return 8 * (group % 2) + 4 * (group // 2) + element


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("dtype", [f16, i8, f32], ids=lambda dtype: dtype.name)
def test_each_lane_holds_its_elements_of_each_block(dtype: Any, wave_size: int) -> None:
    """The fragment has 2 by 3 blocks."""

    @amdjit.kernel(wave_size=wave_size, block=wave_size)
    def look(source, found, use: amdjit.Const, layout: amdjit.Const, extents: amdjit.Const):
        m, n, k = extents
        part = matrix.fragment(use, m, n, k, dtype, layout)
        matrix.load_matrix_sync(part, source)
        for i in static_range(part.num_elements):
            found[amdjit.lane_id(), i] = part.x[i]

    values = np.frombuffer(
        np.random.default_rng(5).bytes(32 * 48 * dtype.nbytes), dtype.dtype
    ).reshape(32, 48)
    for use, layout in ((A, ROW), (B, COL), (C, ROW)):
        found = np.zeros((wave_size, 2 * 3 * 256 // wave_size), dtype.dtype)
        lying = values if layout is ROW else values.T
        look[1, wave_size](np.ascontiguousarray(lying), found, use, layout, sizes(use, 32, 48))
        along_blocks, across_blocks = (3, 2) if use is A else (2, 3)
        held = 256 // wave_size
        expected = np.empty_like(found)
        for lane in range(wave_size):
            for number in range(found.shape[1]):
                block, element = divmod(number, held)
                across = 16 * (block // along_blocks) + lane % 16
                along = 16 * (block % along_blocks) + along_of(
                    use, dtype.bits, lane, element, wave_size
                )
                expected[lane, number] = (
                    values[across, along] if use is A else values[along, across]
                )
        assert along_blocks * across_blocks * held == found.shape[1]
        np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("product", matrix.INSTRUCTIONS.values(), ids=lambda product: product.name)
def test_a_fragments_order_of_k_is_the_instructions_but_for_one_permutation_of_both(
    product: Any, wave_size: int
) -> None:
    """Products may take k in any order that A and B share; 8 and 4-bit operands and accumulators
    need none."""
    if product.wave_size != wave_size or product.is_sparse or product.a in ("iu4",):
        return
    a, b, d = (product.layout(operand) for operand in "abd")
    bits = a.bits
    k_of: dict[int, int] = {}
    for lane in range(a.lanes):
        for element in range(a.elements):
            mine = along_of(A, bits, lane, element, wave_size)
            instructions = a.element(lane, element)[1]
            assert b.element(lane, element)[0] == instructions
            assert k_of.setdefault(mine, instructions) == instructions
    assert sorted(k_of) == sorted(k_of.values()) == list(range(product.k))
    assert bits == 16 or all(mine == theirs for mine, theirs in k_of.items())
    for lane in range(d.lanes):
        for element in range(d.elements):
            assert d.element(lane, element)[0] == along_of(C, 32, lane, element, wave_size)
