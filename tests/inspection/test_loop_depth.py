"""The loops around an instruction are those around its block."""

from __future__ import annotations

import amdjit
from amdjit import f32


@amdjit.kernel
def nested(x):
    total = f32(0)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            total += x[i * j]
        x[i] = total


def test_instructions_are_as_deep_as_the_loop_of_their_block() -> None:
    inspection = nested.compile(f32[:], target="gfx1201", unroll=1).inspect()
    depths = {loop.number: loop.depth for loop in inspection.loops}
    loop_of = {block.number: block.loop for block in inspection.blocks}
    assert {item.loop_depth for item in inspection.instructions} == {0, 1, 2}
    for item in inspection.instructions:
        loop = loop_of[item.block]
        assert item.loop_depth == (0 if loop is None else depths[loop])
