"""What is refused: wmma operand width."""

import amdjit
from amdjit import f16, f32, vector
from amdjit.intrinsics import amdgcn


@amdjit.kernel
def matmul(a: f16[:], b: f16[:], d: f32[:]):
    lane = amdjit.lane_id()
    left = a.load(lane * 16, 16)
    right = b.load(lane * 8, 8)
    acc = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(left, right, vector(f32, 8)())
    d.store(lane * 8, acc)


def run():
    matmul.compile()
