"""What is refused: a matrix instruction's operand as the other wave size has it."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel(wave_size=64)
def product(d: f32[:]):
    a, b, c = amdjit.f16x8(), amdjit.f16x8(), amdjit.f32x4()
    c = matrix.wmma_f32_16x16x16_f16(a, b, c)


def run():
    product.compile(target="gfx1201")
