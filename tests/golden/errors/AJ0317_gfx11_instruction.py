"""What is refused: an instruction that gfx11 does not have."""

import amdjit
from amdjit import f32, f32x8, i32x2
from amdjit.intrinsics import matrix


@amdjit.kernel(block=32)
def product(d: f32[:]):
    d.store(0, matrix.wmma_f32_16x16x16_fp8_bf8(i32x2(), i32x2(), f32x8()))


def run():
    product.compile(target="gfx1100")
