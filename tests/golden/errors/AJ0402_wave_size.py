"""What is refused: wave size."""

import amdjit
from amdjit import f16x8, f32, f32x8
from amdjit.intrinsics import amdgcn


@amdjit.kernel(wave_size=64)
def matmul(d: f32[:]):
    a = f16x8(1.0)
    acc = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(a, a, f32x8())
    d.store(0, acc)


def run():
    matmul.compile(target="gfx1201")
